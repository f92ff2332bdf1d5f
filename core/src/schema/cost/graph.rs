//! A schema as a graph: every subschema once, and which part of an instance each of its keywords hands to another.
//!
//! The graph asks too much rather than too little: a keyword that the schema's draft would ignore is followed all the same.

mod dispatch;
mod references;

use std::collections::{BTreeMap, VecDeque};

use jsonschema::Draft;
use serde_json::Value;

use super::model::{CHECK_BUDGET, uniqueness};
use crate::json::{Document, text_size};
use crate::schema::SchemaProblem;
use crate::text::quoted;
use crate::types::codes::Code;

/// One subschema, as far as it decides how much work a check is.
#[derive(Default)]
pub(crate) struct Node {
    /// Subschemas for the same instance; those of an `if` and of unions follow.
    applied: Vec<(Role, u32)>,
    condition: Option<u32>,
    pub(crate) unions: Vec<Union>,
    /// The size of the subschema under `not`; the validator copies it into each violation.
    pub(crate) not_size: u64,
    /// Subschemas for members of an object.
    pub(crate) properties: BTreeMap<String, u32>,
    pub(crate) pattern_properties: Vec<(u32, u32)>,
    pub(crate) additional: Option<u32>,
    pub(crate) names: Option<u32>,
    pub(crate) unevaluated_properties: Option<u32>,
    /// Subschemas for elements of an array.
    pub(crate) prefix: Vec<u32>,
    pub(crate) items: Option<u32>,
    pub(crate) contains: Option<u32>,
    pub(crate) unevaluated_items: Option<u32>,
    /// Checks without subschemas.
    pub(crate) required: u64,
    pub(crate) enum_items: u64,
    pub(crate) equality: u64,
    pub(crate) pattern: Option<u32>,
    /// How many times a text is gone through.
    pub(crate) passes: u64,
    pub(crate) unique: bool,
    pub(crate) metaschema: bool,
}

/// How a subschema for the same instance is applied; in this order they are looked at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Reference,
    All,
    Not,
    Outcome,
    Dependent,
    Branch,
    Condition,
}

/// An `anyOf` or `oneOf`.
pub(crate) struct Union {
    pub(crate) branches: Vec<u32>,
    /// Where each branch requires one property to be a string of its own, the validator looks at one branch only.
    pub(crate) dispatch: Option<(String, BTreeMap<String, u32>)>,
}

impl Node {
    pub(crate) fn same_instance(&self) -> impl Iterator<Item = (Role, u32)> {
        let branches = self.unions.iter().flat_map(|union| &union.branches).map(|branch| (Role::Branch, *branch));
        let condition = self.condition.map(|condition| (Role::Condition, condition));
        self.applied.iter().copied().chain(branches).chain(condition)
    }

    pub(crate) fn references(&self) -> impl Iterator<Item = u32> {
        self.applied.iter().filter(|(role, _)| *role == Role::Reference).map(|(_, target)| *target)
    }

    /// All subschemas that a check may go to from here.
    pub(crate) fn reachable(&self) -> impl Iterator<Item = u32> {
        let listed =
            self.properties.values().chain(self.pattern_properties.iter().map(|(_, node)| node)).chain(&self.prefix);
        let of_members = [self.additional, self.names, self.unevaluated_properties];
        let of_elements = [self.items, self.contains, self.unevaluated_items];
        let same = self.same_instance().map(|(_, node)| node);
        same.chain(listed.copied()).chain(of_members.into_iter().chain(of_elements).flatten())
    }

    pub(crate) fn is_unevaluated(&self) -> bool {
        self.unevaluated_properties.is_some() || self.unevaluated_items.is_some()
    }

    fn apply(&mut self, role: Role, subschemas: impl IntoIterator<Item = u32>) {
        self.applied.extend(subschemas.into_iter().map(|subschema| (role, subschema)));
    }
}

#[derive(Default)]
pub(crate) struct Reading<'v> {
    pub(crate) nodes: Vec<Node>,
    /// Each pattern once, in the order of the document; nodes name them by position.
    pub(crate) patterns: Vec<&'v str>,
    pub(crate) problems: Vec<SchemaProblem>,
    /// There are more subschemas than [`MAX_NODES`]; the rest was not read.
    pub(crate) overflow: bool,
    /// Bytes of the locations that the validator keeps, one for each keyword.
    pub(crate) location_bytes: u64,
    /// Even the metaschema's check of this document would be too much work.
    pub(crate) hostile_enum: bool,
    pub(crate) places: Vec<Place>,
    /// Each use of a pattern: in which node, and where below it.
    pattern_places: Vec<(u32, u32, String)>,
}

pub(crate) struct Place {
    parent: u32,
    /// The part of a JSON pointer that leads here from the parent.
    step: String,
    /// Bytes of the location, as the validator keeps it.
    location: u64,
    /// Levels of subschemas from here on, and how many there are.
    pub(crate) height: u64,
    pub(crate) size: u64,
}

pub(crate) const MAX_PROBLEMS: usize = 50;

/// More subschemas than this are refused: each costs the validator some microseconds and a kilobyte.
pub(crate) const MAX_NODES: usize = 20_000;

/// The known drafts, in the spelling under which the validator holds their metaschemas.
pub(crate) const DRAFTS: [(&str, Draft); 5] = [
    ("https://json-schema.org/draft/2020-12/schema", Draft::Draft202012),
    ("https://json-schema.org/draft/2019-09/schema", Draft::Draft201909),
    ("http://json-schema.org/draft-07/schema", Draft::Draft7),
    ("http://json-schema.org/draft-06/schema", Draft::Draft6),
    ("http://json-schema.org/draft-04/schema", Draft::Draft4),
];

/// The known draft that a `$schema` names, with `http` or `https`; or what is wrong with it.
pub(crate) fn draft(uri: &str) -> Result<Draft, String> {
    let bare = |uri: &str| uri.trim_start_matches("https:").trim_start_matches("http:").to_owned();
    let named = bare(uri.strip_suffix('#').unwrap_or(uri));
    let known = DRAFTS.into_iter().find(|(uri, _)| bare(uri) == named);
    known.map(|(_, draft)| draft).ok_or_else(|| format!("the dialect {} is not one of the known drafts", quoted(uri)))
}

#[derive(Default)]
struct Reader<'v> {
    draft: Draft,
    reading: Reading<'v>,
    /// Of each node; the first is the document.
    values: Vec<&'v Value>,
    /// Addresses only find a node again; nothing is ever read in their order.
    by_address: BTreeMap<usize, u32>,
    by_pattern: BTreeMap<&'v str, u32>,
    anchors: BTreeMap<&'v str, u32>,
    references: VecDeque<(u32, &'v str, &'v str)>,
    rebinds: Option<u32>,
}

/// Reads the graph of a document that is at most `Limits::MAX_JSON_DEPTH` deep.
pub(crate) fn read(root: &Value, draft: Draft) -> Reading<'_> {
    let mut reader = Reader { draft, ..Reader::default() };
    reader.add(root, Place { parent: 0, step: String::new(), location: 0, height: 1, size: 1 });
    reader.resolve_references();
    reader.find_dispatches();
    for node in &mut reader.reading.nodes {
        node.applied.sort_by_key(|(role, _)| *role);
    }
    reader.reading
}

impl Reading<'_> {
    /// Where a node stands in the document, as a JSON pointer; recursion is bounded by the depth of the document.
    pub(crate) fn path(&self, node: u32) -> String {
        match self.places.get(node as usize) {
            Some(place) if node > 0 => self.path(place.parent) + &place.step,
            _ => String::new(),
        }
    }

    /// Where a pattern stands, each time it is used.
    pub(crate) fn pattern_paths(&self, pattern: u32) -> Vec<String> {
        let uses = self.pattern_places.iter().filter(|(used, ..)| *used == pattern);
        uses.take(MAX_PROBLEMS).map(|(_, node, step)| self.path(*node) + step).collect()
    }

    pub(crate) fn problem(&mut self, code: Code, node: u32, keyword: &str, message: &str) {
        if self.problems.len() < MAX_PROBLEMS {
            let step = if keyword.is_empty() { String::new() } else { step(keyword) };
            self.problems.push(SchemaProblem::new(code, &(self.path(node) + &step), message));
        }
    }
}

impl<'v> Reader<'v> {
    /// Adds a subschema and everything below it; recursion is bounded by the depth of the document.
    fn add(&mut self, value: &'v Value, place: Place) -> u32 {
        let address = std::ptr::from_ref(value).addr();
        if let Some(known) = self.by_address.get(&address) {
            return *known;
        }
        if self.reading.nodes.len() >= MAX_NODES {
            self.reading.overflow = true;
            return 0;
        }
        let id = index(self.reading.nodes.len());
        self.by_address.insert(address, id);
        self.values.push(value);
        // What is below comes behind it.
        self.reading.nodes.push(Node::default());
        let keywords = 1 + count(value.as_object().map_or(0, serde_json::Map::len));
        let identifier = count(self.own_uri().map_or(0, str::len));
        let bytes = keywords.saturating_mul(place.location.saturating_add(identifier));
        self.reading.location_bytes = self.reading.location_bytes.saturating_add(bytes);
        self.reading.places.push(place);
        let mut node = Node::default();
        for (keyword, value) in value.as_object().into_iter().flatten() {
            self.keyword(id, &mut node, keyword, value);
        }
        if let Some(slot) = self.reading.nodes.get_mut(id as usize) {
            *slot = node;
        }
        id
    }

    fn keyword(&mut self, id: u32, node: &mut Node, keyword: &'v str, value: &'v Value) {
        match (keyword, value) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(uri)) => {
                self.references.push_back((id, keyword, uri));
            }
            ("$schema", Value::String(uri)) => self.nested_draft(id, uri),
            ("$id" | "id", Value::String(uri)) if keyword == self.draft.id_keyword() => {
                self.identifier(id, keyword, uri);
            }
            ("$anchor" | "$dynamicAnchor", _) => self.anchor(id, keyword, value),
            ("$recursiveAnchor", Value::Bool(true)) => self.rebinds = Some(id),
            ("allOf", _) => node.apply(Role::All, self.list(id, keyword, value)),
            ("anyOf" | "oneOf", _) => {
                node.unions.push(Union { branches: self.list(id, keyword, value), dispatch: None });
            }
            ("not", _) => {
                node.apply(Role::Not, self.one(id, keyword, value));
                node.not_size = size(value);
            }
            ("if", _) => node.condition = self.one(id, keyword, value),
            ("then" | "else", _) => node.apply(Role::Outcome, self.one(id, keyword, value)),
            ("dependentSchemas" | "dependencies", _) => {
                node.apply(Role::Dependent, self.map(id, keyword, value).into_iter().map(|(_, node)| node));
                node.required += size(value);
            }
            ("properties", _) => {
                let properties = self.map(id, keyword, value);
                node.properties = properties.into_iter().map(|(name, node)| (name.to_owned(), node)).collect();
            }
            ("patternProperties", _) => {
                for (text, subschema) in self.map(id, keyword, value) {
                    let pattern = self.pattern(id, text, step(keyword) + &step(text));
                    node.pattern_properties.push((pattern, subschema));
                }
            }
            ("additionalProperties", _) => node.additional = self.one(id, keyword, value),
            ("propertyNames", _) => node.names = self.one(id, keyword, value),
            ("unevaluatedProperties", _) => node.unevaluated_properties = self.one(id, keyword, value),
            ("prefixItems", _) | ("items", Value::Array(_)) => node.prefix.extend(self.list(id, keyword, value)),
            ("items" | "additionalItems", _) => node.items = node.items.or(self.one(id, keyword, value)),
            ("contains", _) => node.contains = self.one(id, keyword, value),
            ("unevaluatedItems", _) => node.unevaluated_items = self.one(id, keyword, value),
            // Not part of a check unless something refers to them.
            ("$defs" | "definitions", _) => drop(self.map(id, keyword, value)),
            ("contentSchema", _) => drop(self.one(id, keyword, value)),
            ("required" | "dependentRequired", _) => node.required += size(value),
            ("enum", Value::Array(items)) => {
                node.enum_items += count(items.len());
                node.equality += size(value);
                self.refuse_hostile_enum(id, value);
            }
            ("const", _) => {
                node.enum_items += 1;
                node.equality += size(value);
            }
            ("pattern", Value::String(text)) => node.pattern = Some(self.pattern(id, text, step(keyword))),
            ("minLength" | "maxLength", _) => node.passes += 1,
            ("format", _) => node.passes += FORMAT_PASSES,
            ("uniqueItems", Value::Bool(true)) => node.unique = true,
            _ => {}
        }
    }

    /// The metaschemas of the oldest drafts want the values of an `enum` to be different, and compare them.
    fn refuse_hostile_enum(&mut self, id: u32, values: &Value) {
        if !matches!(self.draft, Draft::Draft4 | Draft::Draft6) {
            return;
        }
        let text = values.to_string();
        if !Document::read_scanned(&text).is_ok_and(|values| uniqueness(values.root()) <= CHECK_BUDGET) {
            self.reading.hostile_enum = true;
            let message = "there are too many values to compare each with each";
            self.reading.problem(Code::SchemaTooComplex, id, "enum", message);
        }
    }

    fn pattern(&mut self, id: u32, text: &'v str, step: String) -> u32 {
        let next = index(self.reading.patterns.len());
        let pattern = *self.by_pattern.entry(text).or_insert(next);
        if pattern == next {
            self.reading.patterns.push(text);
        }
        self.reading.pattern_places.push((pattern, id, step));
        pattern
    }

    fn one(&mut self, parent: u32, keyword: &str, value: &'v Value) -> Option<u32> {
        self.child(parent, step(keyword), keyword.len() + POSITION_BYTES, value)
    }

    fn list(&mut self, parent: u32, keyword: &str, value: &'v Value) -> Vec<u32> {
        let items = value.as_array().into_iter().flatten().enumerate();
        let bytes = keyword.len() + POSITION_BYTES;
        let place = |position| format!("{}/{position}", step(keyword));
        items.filter_map(|(position, item)| self.child(parent, place(position), bytes, item)).collect()
    }

    fn map(&mut self, parent: u32, keyword: &str, value: &'v Value) -> Vec<(&'v str, u32)> {
        let members = value.as_object().into_iter().flatten();
        let place = |key| step(keyword) + &step(key);
        let child = |(key, item): (&'v String, _)| {
            Some((key.as_str(), self.child(parent, place(key), keyword.len() + key.len(), item)?))
        };
        members.filter_map(child).collect()
    }

    fn child(&mut self, parent: u32, step: String, bytes: usize, value: &'v Value) -> Option<u32> {
        if !matches!(value, Value::Object(_) | Value::Bool(_)) {
            return None;
        }
        let above = self.reading.places.get(parent as usize).map_or(0, |place| place.location);
        let location = above.saturating_add(count(bytes + 2));
        let child = self.add(value, Place { parent, step, location, height: 1, size: 1 });
        let below = self.reading.places.get(child as usize).map(|place| (place.height, place.size));
        if let (Some((height, size)), Some(place)) = (below, self.reading.places.get_mut(parent as usize)) {
            place.height = place.height.max(height + 1);
            place.size = place.size.saturating_add(size);
        }
        Some(child)
    }
}

/// A key as a part of a JSON pointer.
fn step(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// The number of parts of a value, with long texts counted by their length: what its tape says, too.
fn size(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => 1 + text_size(text.len()),
        Value::Array(items) => items.iter().map(size).fold(1, u64::saturating_add),
        Value::Object(members) => {
            let sizes = members.iter().map(|(name, member)| size(member).saturating_add(1 + text_size(name.len())));
            sizes.fold(1, u64::saturating_add)
        }
    }
}

/// Counts are `u64` on every platform, so that every platform decides alike.
pub(crate) fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// What the position of an element, or nothing below a keyword, counts in a location.
const POSITION_BYTES: usize = 8;
/// The slowest checks of formats take some hundred nanoseconds for what counts as one unit of text.
const FORMAT_PASSES: u64 = 8;
