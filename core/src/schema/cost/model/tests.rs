//! What each part of a schema counts, to the last unit.

use serde_json::{Value, json};

use super::*;
use crate::schema::Formats;
use crate::schema::validator::SchemaValidator;

fn plan(schema: &Value) -> CostModel {
    let compiled = SchemaValidator::compile(&schema.to_string(), schema, Formats::Assert);
    compiled.unwrap_or_else(|problems| panic!("{problems:?} in {schema}")).expect("a validator").model
}

fn counts(schema: &Value, instance: &Value) -> (Option<u64>, Option<u64>, Option<u64>) {
    let (plan, text) = (plan(schema), instance.to_string());
    let document = Document::read_scanned(&text).expect("JSON");
    let instance = document.root();
    let listed = plan.spent(Pass::List, instance, LIST_BUDGET);
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
    let tuple_of_draft_7 = json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"enum": [1, 2]}]});
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
        (json!({"properties": members}), json!({"a": {}, "b": {}, "c": {"d": 1}, "d": {}, "z": 1}), 65, 94, Some(149)),
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
        assert_eq!(uniqueness(Document::read_scanned(&array.to_string()).expect("JSON").root()), units, "{array}");
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
