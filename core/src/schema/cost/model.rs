//! How much work a check is, counted before it is done.
//!
//! The count is of a validator that never stops early and remembers nothing, so the real one does less. One unit is in
//! the order of ten nanoseconds. The walk below itself stops at the budget: it never costs more than the check it guards.

use std::collections::BTreeMap;

use serde_json::Number;

use super::graph::{Node, Role, Union, count};
use super::pattern::regex_cost;
use crate::json::{BYTES_PER_UNIT, Document, JsonView, Node as Instance, text_size};

/// The graph of an admitted schema, with what is known about it before any instance comes.
pub(crate) struct CostModel {
    nodes: Vec<Node>,
    patterns: Vec<PatternCost>,
    /// Units per unit of instance size, for a schema that never leads back to itself.
    ///
    /// Such a schema unfolds into a finite tree, and each place of that tree meets each part of an instance at most once.
    /// So `weight * size` bounds the walk, and an ordinary check needs no walk at all: one pass over the instance to
    /// measure it, and one multiplication.
    pub(crate) weight: Option<u64>,
}

struct PatternCost {
    /// Units per byte of text.
    weight: u64,
    bytes: u64,
}

/// What may be spent on saying valid or invalid.
pub(crate) const CHECK_BUDGET: u64 = 16_000_000;
/// What may be spent on listing violations; each can cost an allocation or ten, and all are made before the first is read.
pub(crate) const LIST_BUDGET: u64 = 400_000;
/// Subschemas within subschemas during a check; each takes the validator up to a kilobyte of stack.
pub(crate) const MAX_NESTING: u64 = 512;

impl CostModel {
    /// The model of a schema; its nodes may have an order in which every subschema comes before what leads to it.
    pub(crate) fn new(nodes: Vec<Node>, patterns: &[&str], order: Option<&[u32]>) -> CostModel {
        let cost = |text: &&str| PatternCost { weight: regex_cost(text), bytes: count(text.len()) };
        let model = CostModel { nodes, patterns: patterns.iter().map(cost).collect(), weight: None };
        CostModel { weight: order.and_then(|order| model.unfolded_weight(order)), ..model }
    }

    /// Whether the validator can be asked for a verdict.
    pub(crate) fn allows_check(&self, instance: &Document<'_>) -> bool {
        self.weight.is_some_and(|weight| weight.saturating_mul(instance.root().size()) <= CHECK_BUDGET)
            || self.counted(instance.root()).is_some()
    }

    /// What the walk counts for a verdict; none if that is more than may be spent.
    pub(crate) fn counted(&self, instance: Instance<'_>) -> Option<u64> {
        self.spent(Pass::Verdict, instance, CHECK_BUDGET)
    }

    /// Whether the validator can be asked for all violations.
    pub(crate) fn allows_list(&self, instance: Instance<'_>) -> bool {
        self.spent(Pass::List, instance, LIST_BUDGET).is_some()
    }

    fn spent(&self, pass: Pass, instance: Instance<'_>, budget: u64) -> Option<u64> {
        let mut walk = Walk { model: self, left: budget, nesting: 0, path: 0, unions: 0 };
        walk.visit(pass, 0, Part::Value(instance))?;
        Some(budget - walk.left)
    }

    /// The unfolded weight of a schema without cycles, given its nodes with every subschema before what leads to it.
    fn unfolded_weight(&self, order: &[u32]) -> Option<u64> {
        // What does not grow with the size alone is for the walk to decide, and so is what is deeper than the nesting limit.
        if self.nodes.iter().any(|node| node.unique || node.metaschema) {
            return None;
        }
        let mut known = BTreeMap::new();
        for id in order {
            let unfolded = self.unfolded(self.nodes.get(*id as usize)?, &known);
            known.insert(*id, unfolded);
        }
        known.get(&0).filter(|root| root.nesting <= MAX_NESTING).map(|root| root.verdict)
    }

    fn unfolded(&self, node: &Node, known: &BTreeMap<u32, Unfolded>) -> Unfolded {
        let get = |id: u32| known.get(&id).copied().unwrap_or_default();
        let own = self.own_weight(node);
        let same = node.same_instance().flat_map(|(_, id)| [get(id).verdict, get(id).marks]);
        let inner = [node.contains, node.unevaluated_items, node.unevaluated_properties].into_iter().flatten();
        let marks = same.chain(inner.map(|id| get(id).verdict)).fold(own, u64::saturating_add);
        // A name is judged once more than it is listed.
        let mut verdict = node.reachable().chain(node.names).map(|id| get(id).verdict).fold(own, u64::saturating_add);
        if node.is_unevaluated() {
            verdict = verdict.saturating_add(marks);
        }
        let nesting = 2 + node.reachable().map(|id| get(id).nesting).max().unwrap_or(0);
        Unfolded { verdict, marks, nesting }
    }

    /// The weight of one visit to a node, without its subschemas, per unit of instance size.
    fn own_weight(&self, node: &Node) -> u64 {
        let patterns = node.pattern_properties.iter().map(|(pattern, _)| pattern).chain(&node.pattern);
        let text = patterns.map(|pattern| self.pattern_weight(*pattern)).fold(0, u64::saturating_add);
        let meta = if node.metaschema { METASCHEMA } else { 0 };
        let checks = node.required.saturating_mul(LOOKUP).saturating_add(node.enum_items).saturating_add(node.equality);
        let fixed = checks.saturating_add(VISIT + 2 * MEMBER + node.passes + meta);
        fixed.saturating_add(text.saturating_mul(BYTES_PER_UNIT)).saturating_add(count(node.properties.len()))
    }

    fn pattern_weight(&self, pattern: u32) -> u64 {
        self.patterns.get(pattern as usize).map_or(0, |pattern| pattern.weight)
    }
}

/// What one visit to a node and all below it weighs, and how deep it goes.
#[derive(Clone, Copy, Default)]
struct Unfolded {
    verdict: u64,
    marks: u64,
    nesting: u64,
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

/// What the validator is asked about a part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// Whether it fits.
    Verdict,
    /// All violations.
    List,
    /// What the keywords around an `unevaluated…` have seen: a second walk, with verdicts on the way.
    Marks,
}

impl Pass {
    /// What is asked of a subschema for the same instance. Branches are judged too, those that are looked at.
    fn of_same_instance(self, role: Role) -> &'static [Pass] {
        match (self, role) {
            (Pass::Verdict, Role::Branch) | (Pass::Marks, Role::Not) => &[],
            (Pass::Verdict, _) | (Pass::List, Role::Not | Role::Condition) => &[Pass::Verdict],
            (Pass::List, _) => &[Pass::List],
            (Pass::Marks, Role::Reference | Role::Dependent | Role::Outcome) => &[Pass::Marks],
            (Pass::Marks, Role::All | Role::Branch | Role::Condition) => &[Pass::Verdict, Pass::Marks],
        }
    }
}

impl Union {
    /// The branches that the validator looks at for a verdict.
    fn looked_at(&self, part: Part<'_>) -> &[u32] {
        let (Some((key, branches)), Part::Value(value)) = (&self.dispatch, part) else { return &self.branches };
        match (value.view(), value.member(key).map(Instance::view)) {
            (JsonView::Object(_), Some(JsonView::String(text))) => branches.get(text).map_or(&[], std::slice::from_ref),
            (JsonView::Object(_), _) => &[],
            _ => &self.branches,
        }
    }
}

impl Walk<'_> {
    fn visit(&mut self, pass: Pass, id: u32, part: Part<'_>) -> Spent {
        self.nesting += 1;
        let node = self.model.nodes.get(id as usize).filter(|_| self.nesting <= MAX_NESTING)?;
        self.own(node, part)?;
        if pass == Pass::List {
            self.violation(node, part)?;
        }
        for (role, same) in node.same_instance() {
            let unions = u64::from(role == Role::Branch);
            self.unions += unions;
            for pass in pass.of_same_instance(role) {
                self.visit(*pass, same, part)?;
            }
            self.unions -= unions;
        }
        if pass != Pass::Marks {
            let mut judged = node.unions.iter().flat_map(|union| union.looked_at(part));
            judged.try_for_each(|branch| self.visit(Pass::Verdict, *branch, part))?;
        }
        if let Part::Value(value) = part {
            self.contents(pass, node, value)?;
        }
        if pass != Pass::Marks && node.is_unevaluated() {
            self.visit(Pass::Marks, id, part)?;
        }
        self.nesting -= 1;
        Some(())
    }

    /// Counts what the validator copies into a violation: the path, parts of the schema, and within a union the value.
    fn violation(&mut self, node: &Node, part: Part<'_>) -> Spent {
        self.own(node, part)?;
        self.spend(self.path / BYTES_PER_UNIT + self.nesting / 4)?;
        self.spend(node.not_size)?;
        if let Some(pattern) = node.pattern.and_then(|pattern| self.model.patterns.get(pattern as usize)) {
            self.spend(pattern.bytes / BYTES_PER_UNIT)?;
        }
        match part {
            Part::Value(value) if self.unions > 0 => self.spend(value.size()),
            Part::Value(_) | Part::Name(_) => Some(()),
        }
    }

    /// Counts what a node asks of the members or elements.
    fn contents(&mut self, pass: Pass, node: &Node, value: Instance<'_>) -> Spent {
        for (name, member) in value.members() {
            if pass != Pass::Marks {
                self.path += count(name.len());
                self.member(pass, node, name, member)?;
                self.path -= count(name.len());
            }
            self.verdicts([node.unevaluated_properties, None], member)?;
        }
        for (position, item) in value.elements().enumerate() {
            if pass != Pass::Marks
                && let Some(subschema) = node.prefix.get(position).or(node.items.as_ref())
            {
                self.path += INDEX_BYTES;
                self.visit(pass, *subschema, Part::Value(item))?;
                self.path -= INDEX_BYTES;
            }
            self.verdicts([node.contains, node.unevaluated_items], item)?;
        }
        Some(())
    }

    fn member(&mut self, pass: Pass, node: &Node, name: &str, member: Instance<'_>) -> Spent {
        self.spend(MEMBER + text_size(name.len()))?;
        // Whether a pattern matches is not known here, so each is taken to match.
        for (pattern, subschema) in &node.pattern_properties {
            self.spend(self.text_work(*pattern, name))?;
            self.visit(pass, *subschema, Part::Value(member))?;
        }
        if let Some(subschema) = node.properties.get(name).or(node.additional.as_ref()) {
            self.visit(pass, *subschema, Part::Value(member))?;
        }
        if let Some(subschema) = node.names {
            self.visit(Pass::Verdict, subschema, Part::Name(name))?;
            self.visit(pass, subschema, Part::Name(name))?;
        }
        Some(())
    }

    fn verdicts(&mut self, nodes: [Option<u32>; 2], value: Instance<'_>) -> Spent {
        nodes.into_iter().flatten().try_for_each(|node| self.visit(Pass::Verdict, node, Part::Value(value)))
    }

    /// Counts the keywords of a node that have no subschemas.
    fn own(&mut self, node: &Node, part: Part<'_>) -> Spent {
        self.spend(VISIT)?;
        let view = match part {
            Part::Value(value) => value.view(),
            Part::Name(text) => JsonView::String(text),
        };
        self.spend(match view {
            JsonView::String(text) => {
                let passes = node.passes.saturating_mul(text_size(text.len()));
                let pattern = node.pattern.map_or(0, |pattern| self.text_work(pattern, text));
                // Comparing with every value of an `enum` touches no more than all of their bytes.
                node.equality.saturating_add(passes).saturating_add(pattern)
            }
            JsonView::Object(_) => {
                let required = node.required.saturating_mul(LOOKUP);
                required.saturating_add(node.equality).saturating_add(count(node.properties.len()))
            }
            JsonView::Array(_) => node.equality,
            JsonView::Null | JsonView::Bool(_) | JsonView::Number => node.enum_items,
        })?;
        let Part::Value(value) = part else { return Some(()) };
        if node.unique {
            self.spend(uniqueness(value))?;
        }
        if node.metaschema {
            // It looks at each part of a value a bounded number of times, some levels of its own for each of depth.
            self.spend(value.size().saturating_mul(METASCHEMA))?;
            (self.nesting + depth(value) * METASCHEMA_NESTING <= MAX_NESTING).then_some(())?;
        }
        Some(())
    }

    fn text_work(&self, pattern: u32, text: &str) -> u64 {
        self.model.pattern_weight(pattern).saturating_mul(count(text.len()) + 1)
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
    let length = count(array.elements().count());
    if length <= 15 {
        return total.saturating_mul(length);
    }
    let weak: Vec<u64> = array.elements().filter(|item| hashes_weakly(*item)).map(Instance::size).collect();
    let number = count(weak.len());
    let weak_size = weak.into_iter().fold(0, u64::saturating_add);
    let pairs = number.saturating_mul(number) / 2 + number.saturating_mul(weak_size) / 16;
    total.saturating_mul(4).saturating_add(pairs)
}

fn hashes_weakly(value: Instance<'_>) -> bool {
    match value.view() {
        JsonView::Array(_) | JsonView::Object(_) => true,
        JsonView::Number => {
            let integer = |number: Number| number.as_i64().map(i64::unsigned_abs).or(number.as_u64());
            value.number().and_then(integer).is_some_and(|number| number > EXACT)
        }
        JsonView::Null | JsonView::Bool(_) | JsonView::String(_) => false,
    }
}

fn depth(value: Instance<'_>) -> u64 {
    let inner = value.members().map(|(_, member)| member).chain(value.elements());
    let deepest = inner.map(depth).max().unwrap_or(0);
    if let JsonView::Array(_) | JsonView::Object(_) = value.view() { 1 + deepest } else { 0 }
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
