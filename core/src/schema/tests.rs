//! Tables of schemas and instances, hostile ones among them.

mod bounds;
mod read;

use serde_json::{Value, json};

use super::*;

/// What is expected of a schema: its problems as `CODE path`, or verdicts on instances.
fn problems(text: &str) -> Vec<String> {
    match OutputSchema::compile(text, &Limits::default()) {
        Ok(_) => Vec::new(),
        Err(problems) => {
            assert!(!problems.is_empty() && problems.iter().all(|problem| !problem.message.is_empty()));
            problems.iter().map(|problem| format!("{} {}", problem.code, problem.path)).collect()
        }
    }
}

#[track_caller]
fn refused(schema: &Value, expected: &[&str]) {
    assert_eq!(problems(&schema.to_string()), expected, "{}", head(&schema.to_string(), 300));
}

fn compiled(schema: &Value) -> OutputSchema {
    OutputSchema::compile(&schema.to_string(), &Limits::default())
        .unwrap_or_else(|problems| panic!("{problems:?} in {}", head(&schema.to_string(), 300)))
}

#[track_caller]
fn check(schema: &Value, instance: &Value, expected: &str) {
    let found = match compiled(schema).check(instance) {
        Check::Valid => "valid",
        Check::Invalid(violations) => {
            assert!(!violations.is_empty() && violations.len() <= MAX_VIOLATIONS);
            "invalid"
        }
        Check::TooMuchWork => "too much work",
        Check::NoValidator => "no validator",
    };
    assert_eq!(found, expected, "{} on {}", head(&schema.to_string(), 300), head(&instance.to_string(), 100));
}

fn nested(levels: usize, wrap: impl Fn(Value) -> Value, inner: Value) -> Value {
    (0..levels).fold(inner, |value, _| wrap(value))
}

const TOO_COMPLEX: &str = "SCHEMA_TOO_COMPLEX";
const FORBIDDEN: &str = "SCHEMA_REF_FORBIDDEN";
const INVALID: &str = "SKILL_MANIFEST_INVALID";
const PATTERN: &str = "SCHEMA_PATTERN_UNSUPPORTED";

#[test]
fn texts_that_are_no_schema() {
    let at = |code: &str, path: &str| vec![format!("{code} {path}")];
    assert_eq!(problems("{"), at(INVALID, ""));
    assert_eq!(problems("{} {}"), at(INVALID, ""));
    assert_eq!(problems("[]"), at(INVALID, ""));
    assert_eq!(problems("7"), at(INVALID, ""));
    assert_eq!(problems(r#"{"type": "object", "type": "array"}"#), at(INVALID, ""));
    assert_eq!(problems(r#"{"properties": {"a": {}, "\u0061": {}}}"#), at(INVALID, ""));
    assert_eq!(problems(r#"{"const": 1e999}"#), at(INVALID, ""));
    assert_eq!(problems(&"{\"not\":".repeat(10_000)), at(INVALID, ""));
    assert_eq!(problems(&"[".repeat(1_000_000)), at(INVALID, ""));
    let long = format!("{{\"title\": \"{}\"}}", "x".repeat(1 << 20));
    assert_eq!(problems(&long), at("SCHEMA_TOO_LARGE", ""));
}

#[test]
fn depth_of_the_text_is_limited() {
    let deep = |levels| nested(levels, |inner| json!({ "items": inner }), json!(true)).to_string();
    assert!(problems(&deep(128)).is_empty());
    assert_eq!(problems(&deep(129)), [format!("{INVALID} ")]);
    let shallow = Limits { json_depth: 5, ..Limits::default() };
    assert!(OutputSchema::compile(&deep(5), &shallow).is_ok() && OutputSchema::compile(&deep(6), &shallow).is_err());
}

#[test]
fn all_violations_of_the_metaschema_are_listed() {
    refused(&json!({"type": 5}), &["SKILL_MANIFEST_INVALID /type"]);
    let two = json!({"properties": {"a": {"type": "strnig"}, "b/c": {"minLength": -1}}});
    refused(&two, &["SKILL_MANIFEST_INVALID /properties/a/type", "SKILL_MANIFEST_INVALID /properties/b~1c/minLength"]);
    refused(&json!({"allOf": {}}), &["SKILL_MANIFEST_INVALID /allOf"]);
    let large = json!({"description": "x".repeat(100_000), "type": 5});
    refused(&large, &["SKILL_MANIFEST_INVALID /type"]);
}

#[test]
fn references_stay_inside() {
    let hostile = [
        "http://example.com/a.json",
        "https://json-schema.org/draft/2020-12/schema#/$defs/x",
        "file:///etc/passwd",
        "other.json",
        "/etc/passwd",
        "//host/share",
        "data:application/json,{}",
        "urn:example:a",
        "other.json#/$defs/a",
        "?query",
    ];
    for reference in hostile {
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let schema = json!({"properties": {"a": {keyword: reference}}});
            refused(&schema, &[&format!("{FORBIDDEN} /properties/a/{keyword}")]);
        }
        refused(&json!({"$schema": reference}), &[&format!("{FORBIDDEN} /$schema")]);
    }
    refused(&json!({"items": {"$schema": "http://example.com/s"}}), &["SCHEMA_REF_FORBIDDEN /items/$schema"]);
    let unused = json!({"$defs": {"a": {"$ref": "http://a"}}, "not": {"$ref": "http://b"}});
    refused(&unused, &["SCHEMA_REF_FORBIDDEN /$defs/a/$ref", "SCHEMA_REF_FORBIDDEN /not/$ref"]);
    let rebased = json!({"$id": "http://a/b.json", "items": {"$ref": "c.json"}});
    refused(&rebased, &["SCHEMA_REF_FORBIDDEN /items/$ref"]);
    let posing = json!({"$id": "https://json-schema.org/draft/2020-12/schema", "items": {"$ref": "#"}});
    refused(&posing, &["SCHEMA_REF_FORBIDDEN /$id"]);
    let inner = json!({"items": {"$id": "http://a/", "items": {"$ref": "#/a"}}, "a": {}});
    refused(&inner, &["SCHEMA_REF_FORBIDDEN /items/$id"]);
}

#[test]
fn local_references_resolve_or_are_refused() {
    for missing in ["#/$defs/b", "#nowhere", "#/$defs/a/type", "#/%zz", "#/$defs/%ff"] {
        let schema = json!({"$defs": {"a": {"type": "string"}}, "items": {"$ref": missing}});
        refused(&schema, &["SKILL_MANIFEST_INVALID /items/$ref"]);
    }
    let good = [
        (json!({"$ref": "#/$defs/a"}), "$defs", "a"),
        (json!({"$ref": "#/$defs/a%20b~1c"}), "$defs", "a b/c"),
        (json!({"$ref": "#/$defs/%61"}), "$defs", "a"),
        (json!({"$ref": "#/components/a"}), "components", "a"),
        (json!({"$ref": "#/definitions/a"}), "definitions", "a"),
        (json!({"$ref": "http://a/s.json#/$defs/a"}), "$defs", "a"),
    ];
    for (item, container, name) in good {
        let schema = json!({"$id": "http://a/s.json", "items": item, container: {name: {"type": "string"}}});
        check(&schema, &json!(["x"]), "valid");
        check(&schema, &json!([1]), "invalid");
    }
    let anchored = json!({"items": {"$ref": "#here"}, "$defs": {"x": {"$anchor": "here", "type": "string"}}});
    check(&anchored, &json!([1]), "invalid");
    let seven = "http://json-schema.org/draft-07/schema#";
    let named =
        json!({"$schema": seven, "items": {"$ref": "#here"}, "definitions": {"x": {"$id": "#here", "type": "string"}}});
    check(&named, &json!(["x"]), "valid");
    check(&named, &json!([1]), "invalid");
    let dynamic = json!({"$dynamicAnchor": "node", "type": ["array", "null"], "items": {"$dynamicRef": "#node"}});
    check(&dynamic, &json!([[null], []]), "valid");
    check(&dynamic, &json!([[1]]), "invalid");
}

#[test]
fn a_key_named_like_a_keyword_is_data() {
    let schema = json!({
        "properties": {"$ref": {"type": "string"}, "$id": {"type": "string"}, "pattern": {"type": "string"}},
        "required": ["$ref"],
        "enum": [{"$ref": "http://a"}, {"$ref": "x", "pattern": "(?=a)"}],
        "default": {"$ref": "http://a", "$schema": "http://b"},
        "examples": [{"$ref": "http://a"}],
    });
    check(&schema, &json!({"$ref": "http://a"}), "valid");
    check(&json!({"const": {"$ref": "http://a", "$id": "http://c"}}), &json!({"$ref": "b"}), "invalid");
}

#[test]
fn known_drafts() {
    for (draft, _) in cost::graph::DRAFTS {
        for uri in [draft.to_owned(), format!("{draft}#")] {
            let schema = json!({"$schema": uri, "type": "object", "required": ["a"]});
            check(&schema, &json!({"a": 1}), "valid");
            check(&schema, &json!({}), "invalid");
        }
    }
    let seven = "http://json-schema.org/draft-07/schema#";
    let tuple = json!({"$schema": seven, "items": [{"type": "string"}], "additionalItems": false});
    check(&tuple, &json!(["a"]), "valid");
    check(&tuple, &json!(["a", 1]), "invalid");
    // Formats are asserted but for patterns, and contents are annotations in every draft.
    check(&json!({"$schema": seven, "format": "regex"}), &json!("("), "valid");
    check(&json!({"$schema": seven, "format": "email"}), &json!("x"), "invalid");
    check(&json!({"$schema": seven, "format": "uuid"}), &json!("x"), "valid");
    check(&json!({"format": "uuid"}), &json!("x"), "invalid");
    check(&json!({"$schema": seven, "contentMediaType": "application/json"}), &json!("{"), "valid");
    let mixed = json!({"items": {"$schema": seven}});
    refused(&mixed, &["SKILL_MANIFEST_INVALID /items/$schema"]);
    let metaschema = json!({"items": {"$ref": "https://json-schema.org/draft/2020-12/schema"}});
    check(&metaschema, &json!([{"type": "string"}]), "valid");
    check(&metaschema, &json!([{"type": 5}]), "invalid");
    let rebound = json!({"$dynamicAnchor": "meta", "items": {"$ref": "https://json-schema.org/draft/2020-12/schema"}});
    refused(&rebound, &["SCHEMA_TOO_COMPLEX "]);
    let newer = "https://json-schema.org/draft/2019-09/schema";
    let recursive = |anchor: bool| json!({"$schema": newer, "$recursiveAnchor": anchor, "items": {"$ref": newer}});
    refused(&recursive(true), &["SCHEMA_TOO_COMPLEX "]);
    refused(&recursive(false), &[]);
}

#[test]
fn boolean_and_empty_schemas() {
    check(&json!(true), &json!({"a": [1]}), "valid");
    check(&json!(false), &json!(null), "invalid");
    check(&json!({}), &json!(null), "valid");
}

#[test]
fn numbers_are_exact() {
    let beyond = 9_007_199_254_740_993_u64;
    check(&json!({"const": beyond}), &json!(beyond), "valid");
    check(&json!({"const": beyond}), &json!(beyond - 1), "invalid");
    check(&json!({"enum": [beyond, 1]}), &json!(beyond - 1), "invalid");
    check(&json!({"maximum": beyond}), &json!(beyond + 1), "invalid");
    check(&json!({"maximum": u64::MAX}), &json!(u64::MAX), "valid");
    check(&json!({"maximum": u64::MAX - 1}), &json!(u64::MAX), "invalid");
    check(&json!({"const": u64::MAX}), &json!(u64::MAX), "valid");
    check(&json!({"const": u64::MAX}), &json!(u64::MAX - 1), "invalid");
    check(&json!({"minimum": i64::MIN}), &json!(i64::MIN), "valid");
    check(&json!({"type": "integer"}), &json!(1.0), "valid");
    check(&json!({"type": "integer"}), &json!(1.5), "invalid");
    check(&json!({"const": 1}), &json!(1.0), "valid");
}

#[test]
fn patterns_are_linear_or_refused() {
    for pattern in
        ["(?=a)b", "(?!a)b", "(?<=a)b", r"(a)\1", r"^(a+)+\1$", r"(?<n>a)\k<n>", "a{1000000}", "(a{1000}){1000}"]
    {
        refused(&json!({"items": {"pattern": pattern}}), &["SCHEMA_PATTERN_UNSUPPORTED /items/pattern"]);
        let key = pattern.replace('/', "~1");
        let expected = format!("{PATTERN} /patternProperties/{key}");
        refused(&json!({"patternProperties": {pattern: true}}), &[&expected]);
    }
    refused(&json!({"pattern": r"\p{L}{1,1000}"}), &["SCHEMA_PATTERN_UNSUPPORTED /pattern"]);
    let several = json!({"properties": {
        "a": {"pattern": "(?=a)"}, "b": {"pattern": "^ok$"}, "c": {"pattern": r"(x)\1"}, "d": {"pattern": "(?=a)"}}});
    let expected = ["a", "d", "c"].map(|name| format!("{PATTERN} /properties/{name}/pattern"));
    assert_eq!(problems(&several.to_string()), expected);
    let many: Vec<_> = (0..8_000).map(|number| json!({"pattern": format!("(?=a{number})")})).collect();
    assert_eq!(problems(&json!({"prefixItems": many}).to_string()), [format!("{TOO_COMPLEX} ")]);
    let sizes = |more: usize| {
        let patterns = (0..10).map(|number| json!({"pattern": format!("{number}{}", "a".repeat(3_999))}));
        json!({"prefixItems": patterns.chain([json!({"pattern": "b".repeat(more)})]).collect::<Vec<_>>()})
    };
    refused(&sizes(0), &[]);
    refused(&sizes(1), &["SCHEMA_TOO_COMPLEX "]);
    let some = json!({"prefixItems": many.into_iter().take(900).collect::<Vec<_>>()});
    assert_eq!(problems(&some.to_string()).len(), validator::MAX_REFUSED_PATTERNS);
    let draft_7 = json!({"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "("});
    assert!(problems(&draft_7.to_string()).iter().all(|problem| problem == "SCHEMA_PATTERN_UNSUPPORTED /pattern"));
}

#[test]
fn patterns_on_long_texts() {
    let long = json!(format!("{}!", "a".repeat(1 << 20)));
    check(&json!({"pattern": "(a+)+$"}), &json!("aaa"), "valid");
    check(&json!({"pattern": "^(a+)+$"}), &long, "invalid");
    check(&json!({"pattern": r"^\p{Lu}+$"}), &json!("ÀÉ"), "valid");
    check(&json!({"pattern": "^[a-z0-9._-]{1,64}@[a-z0-9.-]+\\.[a-z]{2,}$"}), &json!("a.b@example.com"), "valid");
    check(&json!({"pattern": "^(a|b)*a(a|b){20}x"}), &long, "too much work");
}

#[test]
fn violations_are_few_short_and_do_not_repeat_values() {
    let schema = compiled(&json!({"items": {"type": "string", "maxLength": 3}}));
    let Check::Invalid(few) = schema.check(&json!(vec![1; 1_000])) else { panic!("valid") };
    assert_eq!(few.len(), MAX_VIOLATIONS);
    assert_eq!((few[3].instance_path.as_str(), few[3].schema_path.as_str()), ("/3", "/items/type"));
    let Check::Invalid(many) = schema.check(&json!(vec![1; 500_000])) else { panic!("valid") };
    assert_eq!(many, [Violation::unlisted()]);
    let Check::Invalid(secret) = schema.check(&json!(["secret-value"])) else { panic!("valid") };
    assert!(!secret[0].message.contains("secret-value"), "{}", secret[0].message);

    let long = compiled(&json!({"const": "é\u{1b}".repeat(100_000), "additionalProperties": false}));
    let name = "\u{202e}é/~".repeat(1_000);
    let Check::Invalid(cut) = long.check(&json!({name: 1})) else { panic!("valid") };
    for Violation { instance_path, schema_path, message } in &cut {
        assert!(message.len() <= MESSAGE_BYTES && instance_path.len() <= PATH_BYTES && schema_path.len() <= PATH_BYTES);
        assert!(!message.contains(['\u{1b}', '\u{202e}']), "{message}");
    }
}

#[test]
fn a_schema_is_its_text() {
    let text = r#"{ "properties": {"a": {}}, "required": ["b"], "$defs": {"c": {}} }"#;
    let schema = OutputSchema::compile(text, &Limits::default()).unwrap();
    assert_eq!(schema.text(), text);
    assert_eq!(schema, schema.clone());
    assert_ne!(schema, compiled(&json!(true)));
    assert!(schema.declares("a") && schema.declares("b") && !schema.declares("c") && !schema.declares("A"));
    assert!(format!("{schema:?}").contains("required"));
}

#[test]
fn odd_identifiers_never_panic() {
    let odd = [
        "",
        "#",
        "#a",
        "a",
        "a#b",
        "a#",
        "/",
        "//",
        "?",
        "http://",
        "http://a/b#c",
        "http://a/b#",
        "HTTP://A/../b",
        "urn:x",
        "%",
        "%zz",
        "http://a/%7e",
        "http://[::1",
        "é",
        " ",
        "json-schema:///",
        "json-schema:///#x",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2020-12/schema",
        "..",
        "\u{0}",
        "a b",
        ":",
        "a:",
        "http://a:b:c/",
    ];
    for (draft, _) in cost::graph::DRAFTS {
        for text in odd {
            for keyword in ["$id", "id", "$anchor", "$dynamicAnchor", "$ref", "$dynamicRef", "$recursiveRef"] {
                let own = json!({"$schema": draft, keyword: text, "items": {"$ref": "#"}, "$defs": {"a": {}}});
                let inner =
                    json!({"$schema": draft, "items": {keyword: text}, "contains": {"$ref": format!("#{text}")}});
                let both = json!({"$schema": draft, "$id": text, "id": text, "items": {"$ref": text}});
                for schema in [own, inner, both] {
                    if let Ok(schema) = OutputSchema::compile(&schema.to_string(), &Limits::default()) {
                        drop(schema.check(&json!([[], [1], {"a": 1}])));
                    }
                }
            }
        }
    }
}

#[test]
fn the_same_text_is_compiled_once_and_shared() {
    let text = json!({"type": "object", "title": "shared by two runs"}).to_string();
    let (first, second) = (compile(&text), compile(&text));
    assert!(first.is_shared_with(&second));
    let shallow = Limits { json_depth: 5, ..Limits::default() };
    let other = OutputSchema::compile(&text, &shallow).expect("a schema");
    assert!(!first.is_shared_with(&other), "another limit could have refused it");
    let restored: OutputSchema = crate::types::strict::from_value(json!(text)).expect("a schema");
    assert!(first.is_shared_with(&restored));
}

fn compile(text: &str) -> OutputSchema {
    OutputSchema::compile(text, &Limits::default()).expect("a schema")
}
