//! How much work a check is, counted before it is done.
//!
//! The count is of a validator that never stops early and remembers nothing, so the real one does less. One unit is in
//! the order of ten nanoseconds. The walk below itself stops at the budget: it never costs more than the check it guards.

use std::collections::BTreeMap;

use super::graph::{Node, Union};
use crate::json::{BYTES_PER_UNIT, Document, JsonView, Node as Instance, text_size};

/// The graph of an admitted schema, with what is known about it before any instance comes.
pub(crate) struct CostModel {
    pub(crate) nodes: Vec<Node>,
    /// Units per byte of text, for each pattern.
    pub(crate) pattern_weights: Vec<u64>,
    /// Bytes of each pattern.
    pub(crate) pattern_bytes: Vec<u64>,
    /// Units per unit of instance size, for a schema that never leads back to itself.
    ///
    /// Such a schema unfolds into a finite tree, and each place of that tree meets each part of an instance at most once.
    /// So `weight * size` bounds the walk, and an ordinary check needs no walk at all: one pass over the instance to
    /// measure it, and one multiplication.
    pub(crate) weight: Option<u64>,
}

/// What may be spent on saying valid or invalid.
pub(crate) const CHECK_BUDGET: u64 = 16_000_000;
/// What may be spent on listing violations; each can cost an allocation or ten, and all are made before the first is read.
pub(crate) const LIST_BUDGET: u64 = 400_000;
/// Subschemas within subschemas during a check; each takes the validator up to a kilobyte of stack.
pub(crate) const MAX_NESTING: u64 = 512;

impl CostModel {
    /// Whether the validator can be asked for a verdict.
    pub(crate) fn allows_check(&self, instance: &Document<'_>) -> bool {
        self.weight.is_some_and(|weight| weight.saturating_mul(instance.root().size()) <= CHECK_BUDGET)
            || self.counted(instance.root()).is_some()
    }

    /// What the walk counts for a verdict; none if that is more than may be spent.
    pub(crate) fn counted(&self, instance: Instance<'_>) -> Option<u64> {
        let mut walk = Walk { left: CHECK_BUDGET, ..Walk::new(self) };
        walk.verdict(0, Part::Value(instance))?;
        Some(CHECK_BUDGET - walk.left)
    }

    /// Whether the validator can be asked for all violations.
    pub(crate) fn allows_list(&self, instance: Instance<'_>) -> bool {
        let mut walk = Walk { left: LIST_BUDGET, ..Walk::new(self) };
        walk.list(0, Part::Value(instance)).is_some()
    }

    /// The weight of one visit to a node, without its subschemas, per unit of instance size.
    pub(crate) fn own_weight(&self, node: &Node) -> u64 {
        let patterns = node.pattern_properties.iter().map(|(pattern, _)| self.pattern_weight(*pattern));
        let pattern = node.pattern.map_or(0, |pattern| self.pattern_weight(pattern));
        let meta = if node.metaschema { METASCHEMA } else { 0 };
        let checks = node.required.saturating_mul(LOOKUP).saturating_add(node.enum_items).saturating_add(node.equality);
        let fixed = checks.saturating_add(VISIT + 2 * MEMBER + u64::from(node.lengths) + meta);
        let text = patterns.fold(pattern, u64::saturating_add).saturating_mul(BYTES_PER_UNIT);
        fixed.saturating_add(text).saturating_add(u64::try_from(node.properties.len()).unwrap_or(u64::MAX))
    }

    fn pattern_weight(&self, pattern: u32) -> u64 {
        self.pattern_weights.get(pattern as usize).copied().unwrap_or_default()
    }
}

/// What a subschema is checked against: a part of the instance, or a member's name.
#[derive(Clone, Copy)]
enum Part<'i> {
    Value(Instance<'i>),
    Name(&'i str),
}

struct Walk<'p> {
    model: &'p CostModel,
    left: u64,
    nesting: u64,
    /// Bytes of the path to the current part.
    path: u64,
    /// Unions around the current part whose branches are being listed.
    unions: u64,
}

/// `None` once the budget or the nesting is used up.
type Spent = Option<()>;
/// How a part is counted.
type Visit<'p> = fn(&mut Walk<'p>, u32, Part<'_>) -> Spent;

impl<'p> Walk<'p> {
    fn new(model: &'p CostModel) -> Walk<'p> {
        Walk { model, left: 0, nesting: 0, path: 0, unions: 0 }
    }

    /// Counts a verdict on one part.
    fn verdict(&mut self, id: u32, part: Part<'_>) -> Spent {
        let node = self.enter(id, part)?;
        for same in node.refs.iter().chain(&node.all).chain(&node.not).chain(&node.outcomes).chain(&node.dependent) {
            self.verdict(*same, part)?;
        }
        if let Some(condition) = node.condition {
            self.verdict(condition, part)?;
        }
        for union in &node.unions {
            self.union(union, part)?;
        }
        self.contents(node, part, Walk::verdict)?;
        if node.is_unevaluated() {
            self.marks(id, part)?;
        }
        self.nesting -= 1;
        Some(())
    }

    /// Counts the listing of all violations on one part: a union is first judged and then listed, branch by branch.
    fn list(&mut self, id: u32, part: Part<'_>) -> Spent {
        let node = self.enter(id, part)?;
        self.violation(node, part)?;
        for same in node.refs.iter().chain(&node.all).chain(&node.outcomes).chain(&node.dependent) {
            self.list(*same, part)?;
        }
        for judged in node.not.iter().chain(&node.condition) {
            self.verdict(*judged, part)?;
        }
        for union in &node.unions {
            self.union(union, part)?;
            self.unions += 1;
            for branch in &union.branches {
                self.list(*branch, part)?;
            }
            self.unions -= 1;
        }
        self.contents(node, part, Walk::list)?;
        if node.is_unevaluated() {
            self.marks(id, part)?;
        }
        self.nesting -= 1;
        Some(())
    }

    /// Counts what the validator copies into a violation: the path, parts of the schema, and within a union the value.
    fn violation(&mut self, node: &Node, part: Part<'_>) -> Spent {
        self.own(node, part)?;
        self.spend(self.path / BYTES_PER_UNIT + self.nesting / 4)?;
        self.spend(node.not_size)?;
        if let Some(pattern) = node.pattern {
            self.spend(self.model.pattern_bytes.get(pattern as usize).copied().unwrap_or_default() / BYTES_PER_UNIT)?;
        }
        match part {
            Part::Value(value) if self.unions > 0 => self.spend(value.size()),
            Part::Value(_) | Part::Name(_) => Some(()),
        }
    }

    /// Counts finding out what the keywords around an `unevaluated…` have seen: a second walk, with verdicts on the way.
    fn marks(&mut self, id: u32, part: Part<'_>) -> Spent {
        let node = self.enter(id, part)?;
        for same in node.refs.iter().chain(&node.dependent).chain(&node.outcomes) {
            self.marks(*same, part)?;
        }
        let branches = node.unions.iter().flat_map(|union| &union.branches);
        for judged in node.all.iter().chain(branches).chain(&node.condition) {
            self.verdict(*judged, part)?;
            self.marks(*judged, part)?;
        }
        if let Part::Value(value) = part {
            for (_, member) in value.members() {
                self.verdicts(node.unevaluated_properties, member)?;
            }
            for item in value.elements() {
                self.verdicts(node.contains, item)?;
                self.verdicts(node.unevaluated_items, item)?;
            }
        }
        self.nesting -= 1;
        Some(())
    }

    fn verdicts(&mut self, node: Option<u32>, value: Instance<'_>) -> Spent {
        node.map_or(Some(()), |node| self.verdict(node, Part::Value(value)))
    }

    fn union(&mut self, union: &Union, part: Part<'_>) -> Spent {
        if let (Some((key, branches)), Part::Value(value)) = (&union.dispatch, part)
            && let JsonView::Object(_) = value.view()
        {
            let chosen = match value.member(key).map(Instance::view) {
                Some(JsonView::String(text)) => branches.get(text),
                _ => None,
            };
            return chosen.map_or(Some(()), |branch| self.verdict(*branch, part));
        }
        for branch in &union.branches {
            self.verdict(*branch, part)?;
        }
        Some(())
    }

    /// Counts what a node asks of the members or elements, each by `visit`.
    fn contents(&mut self, node: &Node, part: Part<'_>, visit: Visit<'p>) -> Spent {
        let Part::Value(value) = part else { return Some(()) };
        for (name, member) in value.members() {
            let step = length(name);
            self.path += step;
            self.member(node, name, member, visit)?;
            self.path -= step;
        }
        self.path += INDEX_BYTES;
        for (position, item) in value.elements().enumerate() {
            if let Some(subschema) = node.prefix.get(position).or(node.items.as_ref()) {
                visit(self, *subschema, Part::Value(item))?;
            }
            self.verdicts(node.contains, item)?;
            self.verdicts(node.unevaluated_items, item)?;
        }
        self.path -= INDEX_BYTES;
        Some(())
    }

    fn member(&mut self, node: &Node, name: &str, member: Instance<'_>, visit: Visit<'p>) -> Spent {
        self.spend(MEMBER + bytes(name))?;
        // Whether a pattern matches is not known here, so each is taken to match.
        for (pattern, subschema) in &node.pattern_properties {
            self.spend(self.text_work(*pattern, name))?;
            visit(self, *subschema, Part::Value(member))?;
        }
        if let Some(subschema) = node.properties.get(name).or(node.additional.as_ref()) {
            visit(self, *subschema, Part::Value(member))?;
        }
        if let Some(subschema) = &node.names {
            self.verdict(*subschema, Part::Name(name))?;
            visit(self, *subschema, Part::Name(name))?;
        }
        self.verdicts(node.unevaluated_properties, member)
    }

    fn enter(&mut self, id: u32, part: Part<'_>) -> Option<&'p Node> {
        self.nesting += 1;
        let node = self.model.nodes.get(id as usize).filter(|_| self.nesting <= MAX_NESTING)?;
        self.own(node, part)?;
        Some(node)
    }

    /// Counts the keywords of a node that have no subschemas.
    fn own(&mut self, node: &Node, part: Part<'_>) -> Spent {
        self.spend(VISIT)?;
        let look = match part {
            Part::Value(value) => value.view(),
            Part::Name(text) => JsonView::String(text),
        };
        match look {
            JsonView::String(text) => self.text(node, text)?,
            JsonView::Object(_) => {
                let names = u64::try_from(node.properties.len()).unwrap_or(u64::MAX);
                let required = node.required.saturating_mul(LOOKUP);
                self.spend(required.saturating_add(node.equality).saturating_add(names))?;
            }
            JsonView::Array(_) => {
                self.spend(node.equality)?;
                if node.unique
                    && let Part::Value(value) = part
                {
                    self.spend(uniqueness(value))?;
                }
            }
            JsonView::Null | JsonView::Bool(_) | JsonView::Number => self.spend(node.enum_items)?,
        }
        if node.metaschema
            && let Part::Value(value) = part
        {
            self.metaschema(value)?;
        }
        Some(())
    }

    fn text(&mut self, node: &Node, text: &str) -> Spent {
        // Comparing with every value of an `enum` touches no more than all of their bytes.
        self.spend(node.equality)?;
        if node.lengths {
            self.spend(bytes(text))?;
        }
        node.pattern.map_or(Some(()), |pattern| self.spend(self.text_work(pattern, text)))
    }

    fn text_work(&self, pattern: u32, text: &str) -> u64 {
        self.model.pattern_weight(pattern).saturating_mul(length(text) + 1)
    }

    /// A metaschema looks at each part of a value a bounded number of times, some levels of its own for each of depth.
    fn metaschema(&mut self, value: Instance<'_>) -> Spent {
        self.spend(value.size().saturating_mul(METASCHEMA))?;
        (self.nesting + depth(value) * METASCHEMA_NESTING <= MAX_NESTING).then_some(())
    }

    fn spend(&mut self, units: u64) -> Spent {
        self.left = self.left.checked_sub(units)?;
        Some(())
    }
}

/// The work of `uniqueItems`.
///
/// Up to 15 elements are compared pairwise; more are hashed. The hash is weak where an author chooses the elements: arrays
/// that differ only in their brackets collide, so do integers beyond 2^53, and the members of an object are joined by
/// exclusive or. So everything but plain scalars is taken to collide.
pub(crate) fn uniqueness(array: Instance<'_>) -> u64 {
    let total = array.elements().map(Instance::size).fold(0, u64::saturating_add);
    let length = match array.view() {
        JsonView::Array(length) => u64::try_from(length).unwrap_or(u64::MAX),
        _ => 0,
    };
    if length <= 15 {
        return total.saturating_mul(length);
    }
    let weak: Vec<u64> = array.elements().filter(|item| hashes_weakly(*item)).map(Instance::size).collect();
    let number = u64::try_from(weak.len()).unwrap_or(u64::MAX);
    let weak_size = weak.into_iter().fold(0, u64::saturating_add);
    let pairs = number.saturating_mul(number) / 2 + number.saturating_mul(weak_size) / 16;
    total.saturating_mul(4).saturating_add(pairs)
}

fn hashes_weakly(value: Instance<'_>) -> bool {
    match value.view() {
        JsonView::Array(_) | JsonView::Object(_) => true,
        JsonView::Number => value.number().is_some_and(|number| {
            number.as_i64().is_some_and(|number| number.unsigned_abs() > EXACT)
                || number.as_u64().is_some_and(|number| number > EXACT)
        }),
        JsonView::Null | JsonView::Bool(_) | JsonView::String(_) => false,
    }
}

fn depth(value: Instance<'_>) -> u64 {
    let inner = || {
        let members = value.members().map(|(_, member)| depth(member));
        1 + value.elements().map(depth).chain(members).max().unwrap_or(0)
    };
    if let JsonView::Array(_) | JsonView::Object(_) = value.view() { inner() } else { 0 }
}

fn bytes(text: &str) -> u64 {
    text_size(text.len())
}

/// Texts are shorter than memory, so this leaves room to add.
fn length(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX / 2)
}

/// The unfolded weights of a schema without cycles, given its nodes with every subschema before what leads to it.
pub(crate) fn unfolded_weight(model: &CostModel, order: &[u32]) -> Option<u64> {
    let mut known: BTreeMap<u32, Unfolded> = BTreeMap::new();
    for id in order {
        let node = model.nodes.get(*id as usize)?;
        let unfolded = Unfolded::of(model, node, &known);
        known.insert(*id, unfolded);
    }
    let root = known.get(&0)?;
    // Deeper than the nesting limit is for the walk to decide, and so is what does not grow with the size alone.
    let is_plain =
        order.iter().all(|id| model.nodes.get(*id as usize).is_some_and(|node| !node.unique && !node.metaschema));
    (is_plain && root.nesting <= MAX_NESTING).then_some(root.verdict)
}

#[derive(Clone, Copy, Default)]
struct Unfolded {
    verdict: u64,
    marks: u64,
    nesting: u64,
}

impl Unfolded {
    fn of(model: &CostModel, node: &Node, known: &BTreeMap<u32, Unfolded>) -> Unfolded {
        let get = |id: &u32| known.get(id).copied().unwrap_or_default();
        let verdicts = |ids: &[u32]| ids.iter().map(|id| get(id).verdict).fold(0, u64::saturating_add);
        let marks = |ids: &[u32]| ids.iter().map(|id| get(id).marks).fold(0, u64::saturating_add);
        let own = model.own_weight(node);
        let reachable = node.reachable();
        let same = node.same_instance();
        let inner: Vec<u32> =
            [node.contains, node.unevaluated_items, node.unevaluated_properties].into_iter().flatten().collect();
        let marks = [own, verdicts(&same), marks(&same), verdicts(&inner)].into_iter().fold(0, u64::saturating_add);
        let names = node.names.map_or(0, |names| get(&names).verdict);
        let mut verdict = own.saturating_add(verdicts(&reachable)).saturating_add(names);
        if node.is_unevaluated() {
            verdict = verdict.saturating_add(marks);
        }
        let nesting = 2 + reachable.iter().map(|id| get(id).nesting).max().unwrap_or(0);
        Unfolded { verdict, marks, nesting }
    }
}

/// Entering a subschema.
const VISIT: u64 = 4;
/// Looking a member's name up.
const MEMBER: u64 = 2;
/// Looking a required name up in the instance.
const LOOKUP: u64 = 3;
const INDEX_BYTES: u64 = 8;
const METASCHEMA: u64 = 64;
const METASCHEMA_NESTING: u64 = 6;
/// The largest integer up to which every integer is a number of its own to a 64-bit float.
const EXACT: u64 = 1 << 53;

#[cfg(test)]
mod tests;
