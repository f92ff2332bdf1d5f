//! What is seen of a schema before it is compiled, up to the last unit of each limit.

use jsonschema::Draft;

use super::*;
use crate::schema::cost::graph;

/// What there is against a schema, without compiling it.
fn problems_of(schema: &Value, draft: Draft) -> Vec<String> {
    let mut reading = graph::read(schema, draft);
    cost::limits::check(&mut reading);
    reading.problems.iter().map(|problem| format!("{} {}", problem.path, problem.message)).collect()
}

#[track_caller]
fn limit(at: &Value, beyond: &Value, message: &str) {
    assert_eq!(problems_of(at, Draft::Draft202012), [""; 0]);
    assert_eq!(problems_of(beyond, Draft::Draft202012), [format!(" {message}")]);
}

/// Definitions `d0`, `d1` and so on, each leading to the next.
fn chained(heights: &[usize]) -> Value {
    let last = heights.len() - 1;
    let definition = |(level, height): (usize, &usize)| {
        let next = if level == last { json!({}) } else { json!({"$ref": format!("#/$defs/d{}", level + 1)}) };
        (format!("d{level}"), nested(height - 1, |inner| json!({ "items": inner }), next))
    };
    heights.iter().enumerate().map(definition).collect::<serde_json::Map<_, _>>().into()
}

#[test]
fn alternatives_are_written_out_up_to_a_number() {
    let alternatives = |number: usize| json!({"anyOf": vec![true; number]});
    let message = "written out, this is more than 10000 alternatives for one instance";
    limit(&alternatives(9_999), &alternatives(10_000), message);
}

#[test]
fn preparing_takes_work_up_to_a_number() {
    let message = "the references and alternatives take too much work to prepare";
    // A violation holds a copy of what is under `not`; 16 bytes are a unit of size, and 20 units one of work.
    let copied = |work: usize| json!({"not": {"const": "x".repeat(16 * (20 * work - 3))}});
    limit(&copied(100_000), &copied(100_001), message);
    // Three alternatives and more are unfolded to find out which is meant; two are not. So is what surrounds `unevaluated…`.
    let shared = json!({"allOf": vec![true; 3_000]});
    let unfolded = |keyword: &str, value: Value| {
        let properties: serde_json::Map<_, _> =
            (0..40).map(|number| (number.to_string(), json!({"$ref": "#/$defs/a", keyword: value}))).collect();
        json!({"properties": properties, "$defs": {"a": shared}})
    };
    limit(&unfolded("anyOf", json!([true, false])), &unfolded("anyOf", json!([true, false, true])), message);
    limit(&unfolded("additionalProperties", json!(false)), &unfolded("unevaluatedProperties", json!(false)), message);
}

#[test]
fn references_lead_into_each_other_up_to_a_depth() {
    let message = "the references lead too deep into each other";
    let compiled = |last: usize| {
        let mut heights = [25; 9];
        heights[8] = last;
        json!({"items": {"$ref": "#/$defs/d0"}, "$defs": chained(&heights)})
    };
    limit(&compiled(24), &compiled(25), message);
    // Those around `unevaluated…` are followed without end: three levels of the document, and two for each definition.
    let followed = |last: usize| {
        let mut heights = [2; 399];
        heights[398] = last;
        json!({"items": {"$ref": "#/$defs/d0"}, "unevaluatedItems": false, "$defs": chained(&heights)})
    };
    limit(&followed(1), &followed(2), message);
}

#[test]
fn locations_are_long_up_to_a_number() {
    let message = "the names on the way to the subschemas are too long";
    let named = |length: usize| json!({"properties": {"k".repeat(length - "/properties/".len()): true}});
    limit(&named(32 << 20), &named((32 << 20) + 1), message);
    let listed = json!({"allOf": [{"items": {}}], "$defs": {"abc": {}}, "$id": "http://a"});
    // For each subschema its location and the identifier, once and again for each keyword; a position counts as 8 bytes.
    let bytes = 4 * 8 + 2 * (15 + 8) + (15 + 15 + 8) + (10 + 8);
    assert_eq!(graph::read(&listed, Draft::Draft202012).location_bytes, bytes);
}

#[test]
fn the_oldest_drafts_compare_values_up_to_a_number() {
    let values = |more: usize| {
        let mut values = vec![json!("x".repeat(16 * 159_999)); 10];
        values[0] = json!("x".repeat(16 * (159_999 + more)));
        json!({ "enum": values })
    };
    let message = "/enum there are too many values to compare each with each";
    assert_eq!(problems_of(&json!({"enum": [1, 2]}), Draft::Draft4), [""; 0]);
    assert_eq!(problems_of(&values(0), Draft::Draft4), [""; 0]);
    assert_eq!(problems_of(&values(1), Draft::Draft4), [message]);
    assert_eq!(problems_of(&values(1), Draft::Draft7), [""; 0]);
}

/// Which branch each value of a key leads to, if the validator looks at one branch only.
fn key_of(branches: &[Value], definitions: &Value, draft: Draft) -> Option<String> {
    let schema = json!({"oneOf": branches, "$defs": definitions});
    let mut nodes = graph::read(&schema, draft).nodes;
    let (key, chosen) = nodes.swap_remove(0).unions.swap_remove(0).dispatch?;
    assert_eq!(chosen.len(), branches.len());
    Some(key)
}

#[test]
fn a_key_chooses_among_three_branches_and_more() {
    let branch =
        |kind: Value| json!({"required": ["id", "kind"], "properties": {"id": {"type": "string"}, "kind": kind}});
    let branches = |kinds: [Value; 3]| kinds.map(branch);
    let constants = branches([json!({"const": "a"}), json!({"const": "b"}), json!({"const": "c"})]);
    let none = json!({});
    let found = |branches: &[Value], definitions: &Value| key_of(branches, definitions, Draft::Draft202012);
    assert_eq!(found(&constants, &none).as_deref(), Some("kind"));
    assert_eq!(found(&constants[..2], &none), None);
    assert_eq!(key_of(&constants, &none, Draft::Draft4), None);
    let same = branches([json!({"const": "a"}), json!({"const": "b"}), json!({"const": "b"})]);
    assert_eq!(found(&same, &none), None);
    let single = branches([json!({"enum": ["a"]}), json!({"enum": ["b"]}), json!({"const": "c"})]);
    assert_eq!(found(&single, &none).as_deref(), Some("kind"));
    let several = branches([json!({"enum": ["a", "d"]}), json!({"const": "b"}), json!({"const": "c"})]);
    assert_eq!(found(&several, &none), None);
}

#[test]
fn keys_are_looked_for_behind_references() {
    let constant = |value: &str| json!({"required": ["kind"], "properties": {"kind": {"const": value}}});
    let others = [constant("a"), constant("b")];
    let with = |branch: Value, definitions: &Value, draft: Draft| {
        let [first, second] = others.clone();
        key_of(&[first, second, branch], definitions, draft).is_some()
    };
    let newest = Draft::Draft202012;
    let definitions = json!({"c": constant("c"), "to-c": {"$ref": "#/$defs/c"}, "kind": {"const": "c"}, "any": {}});
    assert!(with(json!({"$ref": "#/$defs/c"}), &definitions, newest));
    assert!(!with(json!({"$ref": "#/$defs/c", "title": "more"}), &definitions, newest));
    assert!(!with(json!({"$ref": "#/$defs/to-c"}), &definitions, newest));
    let mut all = constant("c");
    all["allOf"] = json!([true]);
    assert!(!with(all, &definitions, newest));
    let kind = |kind: Value| json!({"required": ["kind"], "properties": {"kind": kind}});
    assert!(with(kind(json!({"$ref": "#/$defs/kind"})), &definitions, newest));
    // Up to draft 7 nothing beside a reference counts.
    let beside = kind(json!({"$ref": "#/$defs/any", "const": "c"}));
    assert!(with(beside.clone(), &definitions, newest) && !with(beside, &definitions, Draft::Draft7));
    let far = |references: usize| {
        let next = |level: usize| json!({"$ref": format!("#/$defs/{level}")});
        let mut definitions: serde_json::Map<_, _> =
            (1..references).map(|level| (level.to_string(), next(level + 1))).collect();
        definitions.insert(references.to_string(), json!({"const": "c"}));
        with(kind(next(1)), &definitions.into(), newest)
    };
    assert!(far(16) && !far(17));
}
