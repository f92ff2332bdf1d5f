//! How much work a check is, counted before it is done.
//!
//! The count is of a validator that never stops early and remembers nothing, so the real one does less. One unit is in
//! the order of ten nanoseconds. The walk below itself stops at the budget: it never costs more than the check it guards.

use std::collections::BTreeMap;

use super::graph::{Node, Union};
use crate::json::{self, BYTES_PER_UNIT, Document, Instance, Look};

/// The graph of an admitted schema, with what is known about it before any instance comes.
pub(super) struct Plan {
    pub(super) nodes: Vec<Node>,
    /// Units per byte of text, for each pattern.
    pub(super) pattern_weights: Vec<u64>,
    /// Bytes of each pattern.
    pub(super) pattern_bytes: Vec<u64>,
    /// Units per unit of instance size, for a schema that never leads back to itself.
    ///
    /// Such a schema unfolds into a finite tree, and each place of that tree meets each part of an instance at most once.
    /// So `weight * size` bounds the walk, and an ordinary check needs no walk at all: one pass over the instance to
    /// measure it, and one multiplication.
    pub(super) weight: Option<u64>,
}

/// What may be spent on saying valid or invalid.
pub(super) const CHECK_BUDGET: u64 = 16_000_000;
/// What may be spent on listing violations; each can cost an allocation or ten, and all are made before the first is read.
pub(super) const LIST_BUDGET: u64 = 400_000;
/// Subschemas within subschemas during a check; each takes the validator up to a kilobyte of stack.
pub(super) const MAX_NESTING: u64 = 512;

impl Plan {
    /// Whether the validator can be asked for a verdict.
    pub(super) fn allows_check(&self, instance: &Document<'_>) -> bool {
        self.weight.is_some_and(|weight| weight.saturating_mul(instance.size()) <= CHECK_BUDGET)
            || self.counted(instance.root()).is_some()
    }

    /// What the walk counts for a verdict; none if that is more than may be spent.
    pub(super) fn counted<'i>(&self, instance: impl Instance<'i>) -> Option<u64> {
        let mut walk = Walk { left: CHECK_BUDGET, ..Walk::new(self) };
        walk.verdict(0, Part::Value(instance))?;
        Some(CHECK_BUDGET - walk.left)
    }

    /// Whether the validator can be asked for all violations.
    pub(super) fn allows_list<'i>(&self, instance: impl Instance<'i>) -> bool {
        let mut walk = Walk { left: LIST_BUDGET, ..Walk::new(self) };
        walk.list(0, Part::Value(instance)).is_some()
    }

    /// The weight of one visit to a node, without its subschemas, per unit of instance size.
    pub(super) fn own_weight(&self, node: &Node) -> u64 {
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
enum Part<'i, I> {
    Value(I),
    Name(&'i str),
}

struct Walk<'p> {
    plan: &'p Plan,
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
type Visit<'p, 'i, I> = fn(&mut Walk<'p>, u32, Part<'i, I>) -> Spent;

impl<'p> Walk<'p> {
    fn new(plan: &'p Plan) -> Walk<'p> {
        Walk { plan, left: 0, nesting: 0, path: 0, unions: 0 }
    }

    /// Counts a verdict on one part.
    fn verdict<'i, I: Instance<'i>>(&mut self, id: u32, part: Part<'i, I>) -> Spent {
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
    fn list<'i, I: Instance<'i>>(&mut self, id: u32, part: Part<'i, I>) -> Spent {
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
    fn violation<'i, I: Instance<'i>>(&mut self, node: &Node, part: Part<'i, I>) -> Spent {
        self.own(node, part)?;
        self.spend(self.path / BYTES_PER_UNIT + self.nesting / 4)?;
        self.spend(node.not_size)?;
        if let Some(pattern) = node.pattern {
            self.spend(self.plan.pattern_bytes.get(pattern as usize).copied().unwrap_or_default() / BYTES_PER_UNIT)?;
        }
        match part {
            Part::Value(value) if self.unions > 0 => self.spend(json::size(value)),
            Part::Value(_) | Part::Name(_) => Some(()),
        }
    }

    /// Counts finding out what the keywords around an `unevaluated…` have seen: a second walk, with verdicts on the way.
    fn marks<'i, I: Instance<'i>>(&mut self, id: u32, part: Part<'i, I>) -> Spent {
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

    fn verdicts<'i, I: Instance<'i>>(&mut self, node: Option<u32>, value: I) -> Spent {
        node.map_or(Some(()), |node| self.verdict(node, Part::Value(value)))
    }

    fn union<'i, I: Instance<'i>>(&mut self, union: &Union, part: Part<'i, I>) -> Spent {
        if let (Some((key, branches)), Part::Value(value)) = (&union.dispatch, part)
            && let Look::Object(_) = value.look()
        {
            let chosen = match value.member(key).map(I::look) {
                Some(Look::String(text)) => branches.get(text),
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
    fn contents<'i, I: Instance<'i>>(&mut self, node: &Node, part: Part<'i, I>, visit: Visit<'p, 'i, I>) -> Spent {
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

    fn member<'i, I: Instance<'i>>(&mut self, node: &Node, name: &'i str, member: I, visit: Visit<'p, 'i, I>) -> Spent {
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
            self.verdict(*subschema, Part::<I>::Name(name))?;
            visit(self, *subschema, Part::Name(name))?;
        }
        self.verdicts(node.unevaluated_properties, member)
    }

    fn enter<'i, I: Instance<'i>>(&mut self, id: u32, part: Part<'i, I>) -> Option<&'p Node> {
        self.nesting += 1;
        let node = self.plan.nodes.get(id as usize).filter(|_| self.nesting <= MAX_NESTING)?;
        self.own(node, part)?;
        Some(node)
    }

    /// Counts the keywords of a node that have no subschemas.
    fn own<'i, I: Instance<'i>>(&mut self, node: &Node, part: Part<'i, I>) -> Spent {
        self.spend(VISIT)?;
        let look = match part {
            Part::Value(value) => value.look(),
            Part::Name(text) => Look::String(text),
        };
        match look {
            Look::String(text) => self.text(node, text)?,
            Look::Object(_) => {
                let names = u64::try_from(node.properties.len()).unwrap_or(u64::MAX);
                let required = node.required.saturating_mul(LOOKUP);
                self.spend(required.saturating_add(node.equality).saturating_add(names))?;
            }
            Look::Array(_) => {
                self.spend(node.equality)?;
                if node.unique
                    && let Part::Value(value) = part
                {
                    self.spend(uniqueness(value))?;
                }
            }
            Look::Null | Look::Bool(_) | Look::Number => self.spend(node.enum_items)?,
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
        self.plan.pattern_weight(pattern).saturating_mul(length(text) + 1)
    }

    /// A metaschema looks at each part of a value a bounded number of times, some levels of its own for each of depth.
    fn metaschema<'i>(&mut self, value: impl Instance<'i>) -> Spent {
        self.spend(json::size(value).saturating_mul(METASCHEMA))?;
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
pub(super) fn uniqueness<'i>(array: impl Instance<'i>) -> u64 {
    let total = array.elements().map(json::size).fold(0, u64::saturating_add);
    let length = match array.look() {
        Look::Array(length) => u64::try_from(length).unwrap_or(u64::MAX),
        _ => 0,
    };
    if length <= 15 {
        return total.saturating_mul(length);
    }
    let weak: Vec<u64> = array.elements().filter(|item| hashes_weakly(*item)).map(json::size).collect();
    let number = u64::try_from(weak.len()).unwrap_or(u64::MAX);
    let weak_size = weak.into_iter().fold(0, u64::saturating_add);
    let pairs = number.saturating_mul(number) / 2 + number.saturating_mul(weak_size) / 16;
    total.saturating_mul(4).saturating_add(pairs)
}

fn hashes_weakly<'i>(value: impl Instance<'i>) -> bool {
    match value.look() {
        Look::Array(_) | Look::Object(_) => true,
        Look::Number => value.number().is_some_and(|number| {
            number.as_i64().is_some_and(|number| number.unsigned_abs() > EXACT)
                || number.as_u64().is_some_and(|number| number > EXACT)
        }),
        Look::Null | Look::Bool(_) | Look::String(_) => false,
    }
}

fn depth<'i>(value: impl Instance<'i>) -> u64 {
    let inner = || {
        let members = value.members().map(|(_, member)| depth(member));
        1 + value.elements().map(depth).chain(members).max().unwrap_or(0)
    };
    if let Look::Array(_) | Look::Object(_) = value.look() { inner() } else { 0 }
}

fn bytes(text: &str) -> u64 {
    json::text_size(text.len())
}

/// Texts are shorter than memory, so this leaves room to add.
fn length(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX / 2)
}

/// The unfolded weights of a schema without cycles, given its nodes with every subschema before what leads to it.
pub(super) fn unfolded_weight(plan: &Plan, order: &[u32]) -> Option<u64> {
    let mut known: BTreeMap<u32, Unfolded> = BTreeMap::new();
    for id in order {
        let node = plan.nodes.get(*id as usize)?;
        let unfolded = Unfolded::of(plan, node, &known);
        known.insert(*id, unfolded);
    }
    let root = known.get(&0)?;
    // Deeper than the nesting limit is for the walk to decide, and so is what does not grow with the size alone.
    let is_plain =
        order.iter().all(|id| plan.nodes.get(*id as usize).is_some_and(|node| !node.unique && !node.metaschema));
    (is_plain && root.nesting <= MAX_NESTING).then_some(root.verdict)
}

#[derive(Clone, Copy, Default)]
struct Unfolded {
    verdict: u64,
    marks: u64,
    nesting: u64,
}

impl Unfolded {
    fn of(plan: &Plan, node: &Node, known: &BTreeMap<u32, Unfolded>) -> Unfolded {
        let get = |id: &u32| known.get(id).copied().unwrap_or_default();
        let verdicts = |ids: &[u32]| ids.iter().map(|id| get(id).verdict).fold(0, u64::saturating_add);
        let marks = |ids: &[u32]| ids.iter().map(|id| get(id).marks).fold(0, u64::saturating_add);
        let own = plan.own_weight(node);
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
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::schema::builtin;

    fn plan(schema: &Value) -> Plan {
        builtin::compile(&schema.to_string(), schema).unwrap_or_else(|problems| panic!("{problems:?} in {schema}")).plan
    }

    fn counts(schema: &Value, instance: &Value) -> (Option<u64>, Option<u64>, Option<u64>) {
        let plan = plan(schema);
        let mut walk = Walk { left: LIST_BUDGET, ..Walk::new(&plan) };
        let listed = walk.list(0, Part::Value(instance)).map(|()| LIST_BUDGET - walk.left);
        assert_eq!(plan.allows_list(instance), listed.is_some());
        (plan.counted(instance), listed, plan.weight)
    }

    /// Where a check is too much work, every runtime says so of the same instances: what is counted is part of the answer.
    #[test]
    fn each_keyword_counts_what_it_costs() {
        let word = "a word of 33 bytes is two of size";
        let nested = json!({"additionalProperties": {"additionalProperties": {"not": {"const": word}}}});
        let named = json!({"patternProperties": {"^x": true, "y": {}}, "propertyNames": {"maxLength": 5}});
        let tuple = json!({"prefixItems": [{}, {"items": {}}], "items": {"type": "null"}, "contains": {}});
        let tuple_of_draft_7 =
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"enum": [1, 2]}]});
        let conditions = json!({"if": {"minLength": 1}, "then": {"maxLength": 2}, "else": {"type": "null"}});
        let union = json!({"anyOf": [{"type": "string"}, {"type": "null"}], "properties": {"b": {}}});
        // Each costs nesting and marks, and leaves nothing of them to the last.
        let unevaluated = json!({"unevaluatedProperties": {"type": "null"}});
        let members = json!({"a": unevaluated, "b": unevaluated, "c": unevaluated, "d": unevaluated, "z": {}});
        let table = [
            (json!(true), json!(null), 4, 8, Some(8)),
            (json!({"minLength": 1}), json!(word), 6, 12, Some(9)),
            (json!({"pattern": "^a"}), json!(word), 72, 144, Some(40)),
            (json!({"pattern": "(a|b)(c|d)(e|f)(g|h)"}), json!(word), 1092, 2185, Some(520)),
            (json!({"enum": [1, word, null]}), json!(word), 10, 20, Some(17)),
            (json!({"enum": [1, word, null]}), json!(1), 7, 14, Some(17)),
            (json!({"const": [word]}), json!([word]), 8, 16, Some(13)),
            (json!({"const": {"a": 1}}), json!({"a": 1}), 9, 16, Some(12)),
            (json!({"const": 5}), json!(5), 5, 10, Some(10)),
            (json!({"required": ["a", "b"]}), json!({}), 13, 26, Some(17)),
            (json!({"dependentRequired": {"a": ["b"]}}), json!({}), 16, 32, Some(20)),
            (json!({"dependentSchemas": {"a": {"required": ["b"]}}, "required": ["c"]}), json!({}), 38, 76, Some(46)),
            (json!({"properties": {"a": true, word: {"type": "null"}}}), json!({word: 1, "b": 2}), 16, 28, Some(26)),
            (named, json!({word: 1}), 164, 188, Some(106)),
            (nested, json!({word: {word: 1}, "b": {"c": 1}}), 42, 78, Some(36)),
            (union, json!({"b": [1, 2, 3]}), 23, 64, Some(33)),
            (conditions, json!(word), 20, 34, Some(34)),
            (tuple, json!([1, [2], 3]), 32, 53, Some(48)),
            (tuple_of_draft_7, json!([2, 3]), 10, 20, Some(21)),
            (json!({"uniqueItems": true}), json!([1, word]), 12, 24, None),
            (json!({"items": {"pattern": word}}), json!([1, "x"]), 226, 456, Some(1728)),
            (
                json!({"properties": members}),
                json!({"a": {}, "b": {}, "c": {"d": 1}, "d": {}, "z": 1}),
                65,
                94,
                Some(149),
            ),
        ];
        for (schema, instance, verdict, list, weight) in table {
            assert_eq!(counts(&schema, &instance), (Some(verdict), Some(list), weight), "{schema} on {instance}");
        }
    }

    #[test]
    fn of_a_union_with_a_key_one_branch_counts() {
        let branch = |value: &str| json!({"required": ["k"], "properties": {"k": {"const": value}, "x": {"pattern": "[ab]*a[ab]{9}"}}});
        let union = json!({"oneOf": [branch("a"), branch("b"), branch("c")]});
        let table = [(json!({"k": "b", "x": "x"}), 121), (json!({"k": 1, "x": "x"}), 8), (json!("x"), 16)];
        for (instance, verdict) in table {
            assert_eq!(counts(&union, &instance).0, Some(verdict), "{instance}");
        }
    }

    #[test]
    fn elements_that_hash_weakly_are_compared_with_each_other() {
        let exact = i64::try_from(EXACT).unwrap();
        let table = [
            (json!(vec![0; 15]), 15 * 15),
            (json!(vec![0; 16]), 4 * 16),
            (json!(vec!["a word"; 16]), 4 * 16),
            (json!(vec![json!([]); 20]), 4 * 20 + 200 + 25),
            (json!(vec![json!({}); 16]), 4 * 16 + 128 + 16),
            (json!(vec![exact; 16]), 4 * 16),
            (json!(vec![-exact; 16]), 4 * 16),
            (json!(vec![exact + 1; 16]), 4 * 16 + 128 + 16),
            (json!(vec![-exact - 1; 16]), 4 * 16 + 128 + 16),
            (json!(vec![u64::MAX; 16]), 4 * 16 + 128 + 16),
        ];
        for (array, units) in table {
            assert_eq!(uniqueness(&array), units, "{array}");
        }
    }

    #[test]
    fn a_metaschema_goes_some_levels_deep_for_each_of_the_instance() {
        let schema = json!({"items": {"$ref": "https://json-schema.org/draft/2020-12/schema"}});
        let deep = |levels: u64| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        let most = (MAX_NESTING - 2) / METASCHEMA_NESTING;
        let size = most + 1;
        assert_eq!(counts(&schema, &json!([deep(most)])).0, Some(2 * VISIT + size * METASCHEMA));
        assert_eq!(counts(&schema, &json!([deep(most + 1)])).0, None);
        assert_eq!(counts(&schema, &json!([{"a": deep(most)}])).0, None);
    }

    #[test]
    fn a_schema_that_nests_too_deep_is_walked() {
        let chain = |length: usize| {
            let next = |level: usize| json!({"items": {"$ref": format!("#/$defs/d{level}")}});
            let definitions = (0..length).map(|level| (format!("d{level}"), next(level + 1)));
            let definitions: serde_json::Map<_, _> = definitions.chain([(format!("d{length}"), json!(true))]).collect();
            json!({"$ref": "#/$defs/d0", "$defs": definitions})
        };
        // Two for each subschema: the first, two for each definition, and the last.
        let most = usize::try_from(MAX_NESTING / 4 - 1).unwrap();
        assert!(plan(&chain(most)).weight.is_some() && plan(&chain(most + 1)).weight.is_none());
    }
}
