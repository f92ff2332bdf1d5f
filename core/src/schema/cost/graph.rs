//! A schema as a graph: every subschema once, and which part of an instance each of its keywords hands to another.
//!
//! The graph asks too much rather than too little: a keyword that the schema's draft would ignore is followed all the same.

mod dispatch;
mod references;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use super::model::{CHECK_BUDGET, uniqueness};
use crate::json::{Document, text_size};
use crate::schema::SchemaProblem;
use crate::types::codes::Code;

/// One subschema, as far as it decides how much work a check is.
#[derive(Default)]
pub(crate) struct Node {
    /// Subschemas for the same instance.
    pub(crate) refs: Vec<u32>,
    pub(crate) all: Vec<u32>,
    pub(crate) unions: Vec<Union>,
    pub(crate) not: Vec<u32>,
    /// The size of the subschema under `not`; the validator copies it into each violation.
    pub(crate) not_size: u64,
    pub(crate) condition: Option<u32>,
    pub(crate) outcomes: Vec<u32>,
    pub(crate) dependent: Vec<u32>,
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
    pub(crate) lengths: bool,
    pub(crate) unique: bool,
    pub(crate) metaschema: bool,
}

/// An `anyOf` or `oneOf`.
#[derive(Default)]
pub(crate) struct Union {
    pub(crate) branches: Vec<u32>,
    /// Where each branch requires one property to be a string of its own, the validator looks at one branch only.
    pub(crate) dispatch: Option<(String, BTreeMap<String, u32>)>,
}

impl Node {
    /// Subschemas that see the same instance as this one.
    pub(crate) fn same_instance(&self) -> Vec<u32> {
        let unions = self.unions.iter().flat_map(|union| &union.branches);
        let lists = [&self.refs, &self.all, &self.not, &self.outcomes, &self.dependent];
        lists.into_iter().flatten().chain(unions).chain(&self.condition).copied().collect()
    }

    /// All subschemas that a check may go to from here.
    pub(crate) fn reachable(&self) -> Vec<u32> {
        let mut reachable = self.same_instance();
        reachable.extend(self.properties.values());
        reachable.extend(self.pattern_properties.iter().map(|(_, node)| node));
        reachable.extend(&self.prefix);
        let single = [self.additional, self.names, self.unevaluated_properties];
        reachable.extend(single.into_iter().flatten());
        reachable.extend([self.items, self.contains, self.unevaluated_items].into_iter().flatten());
        reachable
    }

    pub(crate) fn is_unevaluated(&self) -> bool {
        self.unevaluated_properties.is_some() || self.unevaluated_items.is_some()
    }
}

/// What was read from a schema's document.
#[derive(Default)]
pub(crate) struct Reading<'v> {
    pub(crate) nodes: Vec<Node>,
    /// Each pattern once, in the order of the document; nodes name them by position.
    pub(crate) patterns: Vec<&'v str>,
    pub(crate) problems: Vec<SchemaProblem>,
    /// Subschemas that a reference leads to.
    pub(crate) targets: BTreeSet<u32>,
    /// Levels of subschemas below each node, and how many there are, itself included; and how long its location is.
    pub(crate) shapes: Vec<Shape>,
    /// There are more subschemas than [`MAX_NODES`]; the rest was not read.
    pub(crate) overflow: bool,
    /// Bytes of the locations that the validator keeps, one for each keyword.
    pub(crate) location_bytes: u64,
    /// Even the metaschema's check of this document would be too much work.
    pub(crate) hostile_enum: bool,
    places: Vec<Place<'v>>,
    pattern_places: Vec<(u32, u32, bool)>,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Shape {
    pub(crate) height: u64,
    pub(crate) size: u64,
    /// Bytes of the node's own location.
    location: u64,
}

/// More problems than this are not listed.
pub(crate) const MAX_PROBLEMS: usize = 50;

/// More subschemas than this are refused: each costs the validator some microseconds and a kilobyte.
pub(crate) const MAX_NODES: usize = 20_000;

/// The known drafts of JSON Schema.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Draft {
    Draft4,
    Draft6,
    Draft7,
    Draft201909,
    Draft202012,
}

/// Which draft a document follows, as far as the graph cares.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) uri: &'static str,
    pub(crate) draft: Draft,
}

/// The drafts in the spelling under which the validator holds their metaschemas.
pub(crate) const DIALECTS: [Dialect; 5] = [
    Dialect { uri: "https://json-schema.org/draft/2020-12/schema", draft: Draft::Draft202012 },
    Dialect { uri: "https://json-schema.org/draft/2019-09/schema", draft: Draft::Draft201909 },
    Dialect { uri: "http://json-schema.org/draft-07/schema", draft: Draft::Draft7 },
    Dialect { uri: "http://json-schema.org/draft-06/schema", draft: Draft::Draft6 },
    Dialect { uri: "http://json-schema.org/draft-04/schema", draft: Draft::Draft4 },
];

/// The known dialect that a `$schema` names; `http` and `https` both do.
pub(crate) fn dialect(uri: &str) -> Option<Dialect> {
    let bare = |uri: &str| uri.trim_start_matches("https:").trim_start_matches("http:").to_owned();
    let named = bare(uri.strip_suffix('#').unwrap_or(uri));
    DIALECTS.into_iter().find(|dialect| bare(dialect.uri) == named)
}

enum Place<'v> {
    Root,
    Under {
        parent: u32,
        keyword: &'v str,
        step: Step<'v>,
    },
    /// A reference pointed to a part of the document that no keyword makes a schema.
    Pointed(String),
}

#[derive(Clone, Copy)]
enum Step<'v> {
    None,
    Key(&'v str),
    Index(usize),
}

struct Reader<'v> {
    root: &'v Value,
    dialect: Dialect,
    reading: Reading<'v>,
    values: Vec<&'v Value>,
    /// Addresses only find a node again; nothing is ever read in their order.
    by_address: BTreeMap<usize, u32>,
    by_pattern: BTreeMap<&'v str, u32>,
    anchors: BTreeMap<&'v str, u32>,
    references: VecDeque<(u32, &'v str, &'v str)>,
    uses_metaschema: bool,
    rebinds: Option<u32>,
}

/// Reads the graph of a document that is at most `Limits::MAX_JSON_DEPTH` deep.
pub(crate) fn read(root: &Value, dialect: Dialect) -> Reading<'_> {
    let mut reader = Reader {
        root,
        dialect,
        reading: Reading::default(),
        values: Vec::new(),
        by_address: BTreeMap::new(),
        by_pattern: BTreeMap::new(),
        anchors: BTreeMap::new(),
        references: VecDeque::new(),
        uses_metaschema: false,
        rebinds: None,
    };
    reader.add(root, Place::Root);
    reader.resolve_references();
    reader.refuse_rebound_metaschema();
    reader.find_dispatches();
    reader.reading
}

impl Reading<'_> {
    /// Where a node stands in the document, as a JSON pointer.
    pub(crate) fn path(&self, node: u32) -> String {
        let mut steps = Vec::new();
        let mut current = node;
        loop {
            match self.places.get(current as usize) {
                Some(Place::Under { parent, keyword, step }) => {
                    match step {
                        Step::None => {}
                        Step::Key(key) => steps.push(escape(key)),
                        Step::Index(index) => steps.push(index.to_string()),
                    }
                    steps.push(escape(keyword));
                    current = *parent;
                }
                Some(Place::Pointed(pointer)) => {
                    steps.push(pointer.trim_start_matches('/').to_owned());
                    break;
                }
                Some(Place::Root) | None => break,
            }
        }
        steps.iter().rev().fold(String::new(), |path, step| path + "/" + step)
    }

    /// Where a pattern stands, each time it is used.
    pub(crate) fn pattern_paths(&self, pattern: u32) -> Vec<String> {
        let uses = self.pattern_places.iter().filter(|(used, ..)| *used == pattern);
        let text = self.patterns.get(pattern as usize).copied().unwrap_or_default();
        uses.take(MAX_PROBLEMS)
            .map(|(_, node, is_key)| {
                let path = self.path(*node);
                if *is_key { format!("{path}/patternProperties/{}", escape(text)) } else { path + "/pattern" }
            })
            .collect()
    }

    pub(crate) fn problem(&mut self, code: Code, node: u32, keyword: &str, message: &str) {
        if self.problems.len() >= MAX_PROBLEMS {
            return;
        }
        let mut path = self.path(node);
        if !keyword.is_empty() {
            path = path + "/" + &escape(keyword);
        }
        self.problems.push(SchemaProblem::new(code, &path, message));
    }
}

impl<'v> Reader<'v> {
    /// Adds a subschema and everything below it; recursion is bounded by the depth of the document.
    fn add(&mut self, value: &'v Value, place: Place<'v>) -> u32 {
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
        self.reading.nodes.push(Node::default());
        let location = self.location_length(&place);
        let keywords = 1 + count(value.as_object().map_or(0, serde_json::Map::len));
        let identifier = count(self.own_uri().map_or(0, str::len));
        let bytes = keywords.saturating_mul(location.saturating_add(identifier));
        self.reading.location_bytes = self.reading.location_bytes.saturating_add(bytes);
        self.reading.places.push(place);
        self.reading.shapes.push(Shape { height: 1, size: 1, location });
        if let Value::Object(map) = value {
            let mut node = Node::default();
            for (keyword, value) in map {
                self.keyword(id, &mut node, keyword, value);
            }
            if let Some(slot) = self.reading.nodes.get_mut(id as usize) {
                *slot = node;
            }
        }
        id
    }

    fn location_length(&self, place: &Place<'_>) -> u64 {
        match place {
            Place::Root => 0,
            Place::Pointed(pointer) => count(pointer.len()),
            Place::Under { parent, keyword, step } => {
                let parent = self.reading.shapes.get(*parent as usize).copied().unwrap_or_default();
                let step = if let Step::Key(key) = step { key.len() } else { 8 };
                parent.location.saturating_add(count(keyword.len() + step + 2))
            }
        }
    }

    fn keyword(&mut self, id: u32, node: &mut Node, keyword: &'v str, value: &'v Value) {
        match keyword {
            "$ref" | "$dynamicRef" | "$recursiveRef" => self.reference(id, keyword, value),
            "$schema" => self.nested_dialect(id, value),
            "$id" | "id" => self.identifier(id, keyword, value),
            "$anchor" | "$dynamicAnchor" => self.anchor(id, keyword, value),
            "$recursiveAnchor" if value == true => self.rebinds = Some(id),
            "allOf" => node.all = self.list(id, keyword, value),
            "anyOf" | "oneOf" => {
                let branches = self.list(id, keyword, value);
                node.unions.push(Union { branches, dispatch: None });
            }
            "not" => {
                node.not.extend(self.one(id, keyword, value));
                node.not_size = size(value);
            }
            "if" => node.condition = self.one(id, keyword, value),
            "then" | "else" => node.outcomes.extend(self.one(id, keyword, value)),
            "dependentSchemas" | "dependencies" => {
                let dependent = self.map(id, keyword, value);
                node.dependent.extend(dependent.into_iter().map(|(_, node)| node));
                node.required += size(value);
            }
            "properties" => {
                let properties = self.map(id, keyword, value);
                node.properties = properties.into_iter().map(|(name, node)| (name.to_owned(), node)).collect();
            }
            "patternProperties" => {
                for (pattern, subschema) in self.map(id, keyword, value) {
                    let pattern = self.pattern(id, pattern, true);
                    node.pattern_properties.push((pattern, subschema));
                }
            }
            "additionalProperties" => node.additional = self.one(id, keyword, value),
            "propertyNames" => node.names = self.one(id, keyword, value),
            "unevaluatedProperties" => node.unevaluated_properties = self.one(id, keyword, value),
            "prefixItems" => node.prefix.extend(self.list(id, keyword, value)),
            "items" if value.is_array() => node.prefix.extend(self.list(id, keyword, value)),
            "items" | "additionalItems" => node.items = node.items.or(self.one(id, keyword, value)),
            "contains" => node.contains = self.one(id, keyword, value),
            "unevaluatedItems" => node.unevaluated_items = self.one(id, keyword, value),
            // Not part of a check unless something refers to them.
            "$defs" | "definitions" => drop(self.map(id, keyword, value)),
            "contentSchema" => drop(self.one(id, keyword, value)),
            _ => self.assertion(id, node, keyword, value),
        }
    }

    fn assertion(&mut self, id: u32, node: &mut Node, keyword: &'v str, value: &'v Value) {
        match (keyword, value) {
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
            ("pattern", Value::String(text)) => node.pattern = Some(self.pattern(id, text, false)),
            ("minLength" | "maxLength", _) => node.lengths = true,
            ("uniqueItems", Value::Bool(true)) => node.unique = true,
            _ => {}
        }
    }

    /// The metaschemas of the oldest drafts want the values of an `enum` to be different, and compare them.
    fn refuse_hostile_enum(&mut self, id: u32, values: &Value) {
        if !matches!(self.dialect.draft, Draft::Draft4 | Draft::Draft6) {
            return;
        }
        let text = values.to_string();
        if !Document::read_scanned(&text).is_ok_and(|values| uniqueness(values.root()) <= CHECK_BUDGET) {
            self.reading.hostile_enum = true;
            let message = "there are too many values to compare each with each";
            self.reading.problem(Code::SchemaTooComplex, id, "enum", message);
        }
    }

    fn pattern(&mut self, id: u32, text: &'v str, is_key: bool) -> u32 {
        let next = index(self.reading.patterns.len());
        let pattern = *self.by_pattern.entry(text).or_insert(next);
        if pattern == next {
            self.reading.patterns.push(text);
        }
        self.reading.pattern_places.push((pattern, id, is_key));
        pattern
    }

    fn one(&mut self, parent: u32, keyword: &'v str, value: &'v Value) -> Option<u32> {
        self.child(parent, keyword, Step::None, value)
    }

    fn list(&mut self, parent: u32, keyword: &'v str, value: &'v Value) -> Vec<u32> {
        let items = value.as_array().into_iter().flatten().enumerate();
        items.filter_map(|(position, item)| self.child(parent, keyword, Step::Index(position), item)).collect()
    }

    fn map(&mut self, parent: u32, keyword: &'v str, value: &'v Value) -> Vec<(&'v str, u32)> {
        let mut nodes = Vec::new();
        for (key, item) in value.as_object().into_iter().flatten() {
            if let Some(node) = self.child(parent, keyword, Step::Key(key), item) {
                nodes.push((key.as_str(), node));
            }
        }
        nodes
    }

    fn child(&mut self, parent: u32, keyword: &'v str, step: Step<'v>, value: &'v Value) -> Option<u32> {
        if !matches!(value, Value::Object(_) | Value::Bool(_)) {
            return None;
        }
        let child = self.add(value, Place::Under { parent, keyword, step });
        let below = self.reading.shapes.get(child as usize).copied().unwrap_or_default();
        if let Some(shape) = self.reading.shapes.get_mut(parent as usize) {
            shape.height = shape.height.max(below.height + 1);
            shape.size = shape.size.saturating_add(below.size);
        }
        Some(child)
    }
}

fn escape(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1")
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
fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
