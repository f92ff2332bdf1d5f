//! Schemas and instances that would take too much work, stack or memory.

use super::*;

#[test]
fn references_without_progress() {
    refused(&json!({"$ref": "#"}), &["SCHEMA_TOO_COMPLEX "]);
    refused(&json!({"allOf": [{"$ref": "#"}]}), &["SCHEMA_TOO_COMPLEX "]);
    refused(&json!({"not": {"$ref": "#"}}), &["SCHEMA_TOO_COMPLEX "]);
    refused(&json!({"if": {"$ref": "#"}}), &["SCHEMA_TOO_COMPLEX "]);
    refused(&json!({"dependentSchemas": {"a": {"$ref": "#"}}}), &["SCHEMA_TOO_COMPLEX "]);
    refused(&json!({"$dynamicAnchor": "x", "$dynamicRef": "#x"}), &["SCHEMA_TOO_COMPLEX "]);
    let mutual = json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}});
    refused(&mutual, &["SCHEMA_TOO_COMPLEX /$defs/a"]);
    let recursive = json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveRef": "#"});
    refused(&recursive, &["SCHEMA_TOO_COMPLEX "]);
}

#[test]
fn unfolding_is_bounded() {
    for keyword in ["anyOf", "allOf", "oneOf"] {
        let definitions: serde_json::Map<_, _> = (0..30)
            .map(|level| {
                let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
                (format!("d{level}"), json!({keyword: [next, next]}))
            })
            .chain([("d30".to_owned(), json!({"type": "string"}))])
            .collect();
        let doubling = json!({"$ref": "#/$defs/d0", "$defs": definitions, "unevaluatedProperties": false});
        let found = problems(&doubling.to_string());
        assert!(matches!(found.as_slice(), [one] if one.starts_with(TOO_COMPLEX)), "{found:?}");
    }
    let chain: serde_json::Map<_, _> = (0..5_000)
        .map(|level| (format!("d{level}"), json!({"$ref": format!("#/$defs/d{}", level + 1)})))
        .chain([("d5000".to_owned(), json!(true))])
        .collect();
    let chained = json!({"$ref": "#/$defs/d0", "$defs": chain, "unevaluatedProperties": false});
    let found = problems(&chained.to_string());
    assert!(found.iter().all(|problem| problem.starts_with(TOO_COMPLEX)) && !found.is_empty());
    let many: Vec<_> = (0..30_000).map(|_| json!({})).collect();
    // What is refused for that is not looked at any further.
    refused(&json!({"prefixItems": many, "type": 5}), &["SCHEMA_TOO_COMPLEX "]);
}

#[test]
fn preparing_is_bounded() {
    // Each definition is reached through the surroundings of an `unevaluated…`, which the validator follows on its stack.
    let step = |level: usize| json!({"unevaluatedProperties": true, "$ref": format!("#/$defs/d{level}")});
    let definitions: serde_json::Map<_, _> = (0..3_000)
        .map(|level| (format!("d{level}"), json!({"additionalProperties": step((level + 1) % 3_000)})))
        .collect();
    let mut schema = step(0);
    schema["$defs"] = Value::Object(definitions);
    refused(&schema, &["SCHEMA_TOO_COMPLEX "]);
    let deep =
        |level: usize| nested(100, |inner| json!({ "items": inner }), json!({"$ref": format!("#/$defs/d{level}")}));
    let definitions: serde_json::Map<_, _> =
        (0..20).map(|level| (format!("d{level}"), deep((level + 1) % 20))).collect();
    refused(&json!({"$defs": definitions, "items": {"$ref": "#/$defs/d0"}}), &["SCHEMA_TOO_COMPLEX "]);
}

fn expression(operators: &[&str]) -> Value {
    let mut alternatives: Vec<_> = operators
        .iter()
        .map(|name| {
            json!({
                "type": "object",
                "required": ["op", "left", "right"],
                "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "op": {"const": name}},
            })
        })
        .collect();
    alternatives.push(json!({"type": "object", "required": ["op", "value"],
        "properties": {"op": {"const": "number"}, "value": {"type": "number"}}}));
    json!({ "anyOf": alternatives })
}

#[test]
fn honest_recursion_passes() {
    let tree = json!({"$ref": "#/$defs/node", "$defs": {"node": {
        "type": "object", "required": ["name"], "additionalProperties": false,
        "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}}});
    let chain = nested(60, |inner| json!({"name": "x", "children": [inner]}), json!({"name": "leaf"}));
    check(&tree, &chain, "valid");
    let wide = json!({"name": "x", "children": vec![json!({"name": "y", "children": []}); 10_000]});
    check(&tree, &wide, "valid");

    let number = json!({"op": "number", "value": 1});
    let grow = |inner: Value| json!({"left": inner, "right": inner, "op": "mul"});
    check(&expression(&["add", "mul", "sub", "div"]), &nested(10, grow, number.clone()), "valid");
    check(&expression(&["add", "mul", "sub", "div"]), &nested(10, grow, json!({"op": "number"})), "invalid");
    // Two alternatives are judged one after the other, so they double from level to level.
    check(&expression(&["mul"]), &nested(6, grow, number), "valid");
}

#[test]
fn hostile_recursion_stops() {
    let deep = nested(100, |inner| json!([inner]), json!("x"));
    let doubling = json!({"anyOf": [{"items": {"$ref": "#"}, "minItems": 1}, {"items": {"$ref": "#"}, "maxItems": 9}]});
    check(&doubling, &deep, "too much work");
    let through_rings: serde_json::Map<_, _> = (0..40)
        .map(|level| {
            let next = json!({"items": {"$ref": format!("#/$defs/d{}", (level + 1) % 40)}});
            (format!("d{level}"), json!({"anyOf": [next, next]}))
        })
        .collect();
    check(&json!({"$ref": "#/$defs/d0", "$defs": through_rings}), &deep, "too much work");
    let marked = json!({"items": {"$ref": "#"}, "unevaluatedItems": {"$ref": "#"}, "contains": {"$ref": "#"}});
    check(&marked, &deep, "too much work");
    let tall = nested(60, |inner| json!({"allOf": [inner]}), json!({"items": {"$ref": "#"}}));
    check(&tall, &deep, "too much work");
    let beyond = nested(200, |inner| json!([inner]), json!(1));
    check(&json!(true), &beyond, "too much work");
}

#[test]
fn hostile_sizes_stop() {
    let numbers: Vec<_> = (0..100_000).collect();
    let large_enum = json!({"items": {"enum": numbers}});
    check(&large_enum, &json!(vec![-1; 100_000]), "too much work");
    check(&large_enum, &json!([5, -1]), "invalid");
    let brackets: Vec<Value> = (0..20_000).map(|number| json!([[number % 7], [[1]]])).collect();
    check(&json!({"uniqueItems": true}), &json!(brackets), "too much work");
    check(&json!({"uniqueItems": true}), &json!((0..100_000).collect::<Vec<_>>()), "valid");
    check(&json!({"uniqueItems": true}), &json!([1, 2, 1]), "invalid");
    let patterns: serde_json::Map<_, _> = (0..300).map(|number| (format!("x{number}y"), json!(true))).collect();
    let members: serde_json::Map<_, _> = (0..20_000).map(|number| (format!("key{number}"), json!(1))).collect();
    check(&json!({"patternProperties": patterns}), &Value::Object(members), "too much work");
    let hostile = json!({"$schema": "http://json-schema.org/draft-04/schema#", "enum": brackets});
    refused(&hostile, &["SCHEMA_TOO_COMPLEX /enum"]);
}

#[test]
fn listing_copies_are_counted() {
    let wrong = vec![1; 15_000];
    let key = "k".repeat(100_000);
    let listed = |schema: &Value, instance: &Value| match compiled(schema).check(instance) {
        Check::Invalid(violations) => violations != [Violation::unlisted()],
        other => panic!("not invalid: {other:?}"),
    };
    let long_paths = json!({"additionalProperties": {"items": {"type": "string"}}});
    assert!(listed(&long_paths, &json!({"k": wrong})) && !listed(&long_paths, &json!({key.as_str(): wrong})));
    let large_not = json!({"items": {"not": {"type": "integer", "title": key.as_str()}}});
    assert!(
        listed(&json!({"items": {"not": {"type": "integer"}}}), &json!(wrong)) && !listed(&large_not, &json!(wrong))
    );
    let long_pattern = json!({"items": {"pattern": format!("^{}", "k".repeat(3_900))}});
    let short_pattern = json!({"items": {"pattern": "^k"}});
    let texts = json!(vec!["x"; 2_000]);
    assert!(listed(&short_pattern, &texts) && !listed(&long_pattern, &texts));
    let union = json!({"anyOf": vec![json!({"type": "string"}); 100]});
    assert!(listed(&union, &json!([1])) && !listed(&union, &json!(wrong)));
}

#[test]
fn long_names_in_schemas_are_bounded() {
    let many = json!({"prefixItems": vec![json!({}); 10_000]});
    refused(&json!({"properties": {"k".repeat(100_000): many}}), &["SCHEMA_TOO_COMPLEX "]);
    let mut identified = many;
    identified["$id"] = json!(format!("http://a/{}", "x".repeat(100_000)));
    refused(&identified, &["SCHEMA_TOO_COMPLEX "]);
}

#[test]
fn the_cheap_bound_is_never_below_the_count() {
    let schemas = [
        json!({"properties": {"a": {"pattern": "^x+$", "minLength": 2}}, "additionalProperties": {"enum": [1, "two", [3]]}}),
        json!({"propertyNames": {"pattern": "a"}, "patternProperties": {"b": {"type": "array"}, "c": {"const": 1}}}),
        json!({"allOf": [{"anyOf": [{"required": ["a"]}, {"items": true}]}], "unevaluatedProperties": {"type": "string"},
            "unevaluatedItems": {"maximum": 4}, "contains": {"type": "number"}, "if": {"minItems": 1}, "then": {"items": {}}}),
    ];
    let instances = [
        json!({"a": "x".repeat(1_000), "b": [1, 2, 3], "c": {"d": null}}),
        json!([1, "two", [3, [4]], {"abc": "x".repeat(99)}]),
        json!("y".repeat(4_000)),
        json!({"k".repeat(500): {"a": "b"}}),
    ];
    for schema in &schemas {
        let plan = SchemaValidator::compile(&schema.to_string(), schema, Formats::Assert)
            .expect("a schema")
            .expect("a validator")
            .model;
        let weight = plan.weight.expect("no cycle");
        for instance in &instances {
            let text = instance.to_string();
            let document = Document::read_scanned(&text).expect("JSON");
            let counted = plan.counted(document.root()).expect("little work");
            assert!(counted <= weight * document.root().size(), "{counted} for {schema} on {instance}");
        }
    }
}

#[test]
fn little_stack_is_enough() {
    // WebAssembly has a megabyte, and frames of about the same size.
    let chained = |length: usize, definition: &dyn Fn(Value) -> Value| -> Value {
        let next = |level: usize| json!({"$ref": format!("#/$defs/d{}", (level + 1) % length)});
        (0..length)
            .map(|level| (format!("d{level}"), definition(next(level))))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let all_of = |levels, inner| nested(levels, |inner| json!({"allOf": [inner]}), inner);
    let any_of = |levels, inner| nested(levels, |inner| json!({"anyOf": [inner, {"type": "null"}]}), inner);
    let unevaluated = |inner: Value| json!({"additionalProperties": {"unevaluatedProperties": true, "allOf": [inner]}});
    let schemas = [
        nested(127, |inner| json!({ "items": inner }), json!({"type": "string"})),
        nested(63, |inner| json!({"properties": {"a": inner}}), json!({"type": "string"})),
        nested(40, |inner| json!({"items": {"anyOf": [inner]}}), json!({"type": "string"})),
        json!({"items": {"$ref": "https://json-schema.org/draft/2020-12/schema"}}),
        json!({"$ref": "#/$defs/d0", "$defs": chained(9, &|next| nested(21, |inner| json!({ "items": inner }), next))}),
        json!({"$ref": "#/$defs/d0", "$defs": chained(190, &unevaluated)}),
        json!({"$ref": "#/$defs/d0", "$defs": chained(190, &|next| {
            json!({"additionalProperties": {"unevaluatedProperties": true, "$ref": next["$ref"], "title": "x"}})
        })}),
        json!({"type": "array", "items": {"$ref": "#"}}),
        all_of(2, json!({"type": "array", "items": {"$ref": "#"}})),
        all_of(62, json!({"type": "array", "items": {"$ref": "#"}})),
        any_of(1, json!({"type": "array", "items": {"$ref": "#"}})),
        any_of(3, json!({"type": "array", "items": {"$ref": "#"}})),
        json!({"allOf": [{"prefixItems": [{"$ref": "#"}]}], "unevaluatedItems": false, "type": "array"}),
    ];
    let schema = nested(62, |inner| json!({"properties": {"a": inner}}), json!({"type": 5}));
    let instances: Vec<Value> = [2, 12, 60, 127]
        .into_iter()
        .flat_map(|levels| [json!("x"), json!([])].map(|inner| nested(levels, |inner| json!([inner]), inner)))
        .chain([json!([schema])])
        .collect();
    let run = move || {
        for schema in &schemas {
            let schema = compiled(schema);
            for instance in &instances {
                drop(schema.check(instance));
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(640 * 1024).spawn(run).unwrap();
    thread.join().unwrap();
}
