//! Schemas and instances that were made to explode.

use serde_json::{Map, Value, json};

/// The same numbers for the same seed, in every run.
pub struct Dice(u64);

impl Dice {
    /// Dice that fall by a seed.
    #[must_use]
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % sides as u64).expect("a small number")
    }

    fn some<T>(&mut self, most: usize, mut make: impl FnMut(&mut Dice) -> T) -> Vec<T> {
        (0..=self.below(most)).map(|_| make(self)).collect()
    }
}

/// A document of definitions that refer to each other at random.
#[must_use]
pub fn schema(dice: &mut Dice) -> Value {
    let definitions: Map<String, Value> =
        (0..DEFINITIONS).map(|number| (format!("d{number}"), subschema(dice, 3))).collect();
    let mut document = json!({"allOf": [subschema(dice, 4)], "$defs": definitions});
    document["$defs"]["d0"] = json!({"$dynamicAnchor": "n", "allOf": [subschema(dice, 2)]});
    document
}

/// An instance with the names that the schemas know.
#[must_use]
pub fn instance(dice: &mut Dice, levels: usize) -> Value {
    match dice.below(if levels == 0 { 4 } else { 8 }) {
        0 => json!(dice.below(5)),
        1 => json!(dice.below(2) == 0),
        2 => json!("ab".repeat(dice.below(40))),
        3 => Value::Null,
        4 | 5 => Value::Array(dice.some(6, |dice| instance(dice, levels - 1))),
        _ => {
            let members = dice.some(5, |dice| (name(dice), instance(dice, levels - 1)));
            Value::Object(members.into_iter().collect())
        }
    }
}

fn name(dice: &mut Dice) -> String {
    NAMES[dice.below(NAMES.len())].to_owned()
}

fn subschema(dice: &mut Dice, levels: usize) -> Value {
    if levels == 0 {
        return leaf(dice);
    }
    let below = |dice: &mut Dice| subschema(dice, levels - 1);
    match dice.below(18) {
        0 => json!({"anyOf": dice.some(3, below)}),
        1 => json!({"oneOf": dice.some(3, below)}),
        2 => json!({"allOf": dice.some(3, below)}),
        3 => json!({"not": below(dice)}),
        4 => json!({"if": below(dice), "then": below(dice), "else": below(dice)}),
        5 => json!({"dependentSchemas": {name(dice): below(dice), name(dice): below(dice)}}),
        6 => json!({"properties": {name(dice): below(dice), name(dice): below(dice)}, "required": [name(dice)]}),
        7 => json!({"properties": {name(dice): below(dice)}, "additionalProperties": below(dice)}),
        8 => json!({"patternProperties": {"^a": below(dice), "[ab]*a[ab]{3}": below(dice)}}),
        9 => json!({"propertyNames": below(dice)}),
        10 => json!({"prefixItems": dice.some(3, below), "items": below(dice)}),
        11 => json!({"items": below(dice), "uniqueItems": true}),
        12 => json!({"contains": below(dice), "minContains": dice.below(3), "maxContains": 3}),
        13 => json!({"allOf": [below(dice)], "unevaluatedProperties": below(dice)}),
        14 => json!({"anyOf": dice.some(2, below), "unevaluatedItems": below(dice)}),
        15 => json!({"$dynamicRef": "#n", "title": "dynamic"}),
        _ => json!({"$ref": format!("#/$defs/d{}", dice.below(DEFINITIONS)), "minProperties": dice.below(2)}),
    }
}

fn leaf(dice: &mut Dice) -> Value {
    match dice.below(10) {
        0 => json!(dice.below(3) != 0),
        1 => json!({"type": ["object", "array", "string"]}),
        2 => json!({"type": "integer", "minimum": 1, "maximum": 3, "multipleOf": 1}),
        3 => json!({"enum": dice.some(200, |dice| instance(dice, 2))}),
        4 => json!({"const": instance(dice, 3)}),
        5 => json!({"pattern": PATTERNS[dice.below(PATTERNS.len())]}),
        6 => json!({"minLength": 2, "maxLength": 50, "minItems": 1, "minProperties": 1}),
        7 => json!({"required": NAMES[..=dice.below(NAMES.len() - 1)]}),
        8 => json!({"$ref": format!("#/$defs/d{}", dice.below(DEFINITIONS))}),
        _ => json!({"uniqueItems": true, "dependentRequired": {"a": ["b", "c"]}}),
    }
}

/// A schema that doubles its work with each level, and instances that make it do so.
pub struct Doubling {
    /// What doubles.
    pub name: &'static str,
    /// The schema of so many levels, an instance that fits it and one that does not: one of them keeps a validator from stopping early.
    pub of_levels: fn(usize) -> (Value, [Value; 2]),
}

/// Everything that doubles.
pub const DOUBLING: [Doubling; 12] = [
    Doubling {
        name: "anyOf of references",
        of_levels: |levels| same_instance(levels, |next| json!({"anyOf": [next, next]})),
    },
    Doubling {
        name: "oneOf of references",
        of_levels: |levels| same_instance(levels, |next| json!({"oneOf": [next, next]})),
    },
    Doubling {
        name: "allOf of references",
        of_levels: |levels| same_instance(levels, |next| json!({"allOf": [next, next]})),
    },
    Doubling {
        name: "not within not",
        of_levels: |levels| same_instance(levels, |next| json!({"not": next, "if": next})),
    },
    Doubling {
        name: "conditions",
        of_levels: |levels| same_instance(levels, |next| json!({"if": next, "then": next, "else": next})),
    },
    Doubling {
        name: "dependent schemas",
        of_levels: |levels| same_instance(levels, |next| json!({"dependentSchemas": {"a": next, "b": next}})),
    },
    Doubling {
        name: "what was not evaluated",
        of_levels: |levels| same_instance(levels, |next| json!({"anyOf": [next, next], "unevaluatedProperties": true})),
    },
    Doubling {
        name: "items in alternatives",
        of_levels: |levels| nested(levels, json!({"anyOf": [{"items": N}, {"items": N}]}), |inner| json!([inner])),
    },
    Doubling {
        name: "members under two keywords",
        of_levels: |levels| {
            nested(levels, json!({"properties": {"a": N}, "patternProperties": {"^a": N}}), |inner| json!({"a": inner}))
        },
    },
    Doubling {
        name: "elements that are contained",
        of_levels: |levels| nested(levels, json!({"contains": N, "items": N}), |inner| json!([inner])),
    },
    Doubling {
        name: "elements that were not evaluated",
        of_levels: |levels| {
            nested(levels, json!({"allOf": [{"prefixItems": [N]}], "unevaluatedItems": N, "contains": N}), |inner| {
                json!([inner])
            })
        },
    },
    Doubling {
        name: "members that were not evaluated",
        of_levels: |levels| {
            let schema = json!({"allOf": [{"properties": {"a": N}}], "anyOf": [{"properties": {"a": N}}], "unevaluatedProperties": N});
            nested(levels, schema, |inner| json!({"a": inner}))
        },
    },
];

/// Definitions of which each leads to the next twice, all for the same instance.
fn same_instance(levels: usize, definition: fn(Value) -> Value) -> (Value, [Value; 2]) {
    let next = |level: usize| json!({"$ref": format!("#/$defs/d{level}")});
    let definitions = (0..levels).map(|level| (format!("d{level}"), definition(next(level + 1))));
    let last = (format!("d{levels}"), json!({"required": ["c"]}));
    let definitions: Map<String, Value> = definitions.chain([last]).collect();
    let instances = [json!({"a": 1, "b": 2, "c": 3}), json!({"a": 1, "b": 2})];
    (json!({"$ref": "#/$defs/d0", "$defs": definitions}), instances)
}

/// A schema that leads back to itself twice for each level of the instance. `N` stands for the way back.
fn nested(levels: usize, mut schema: Value, level: fn(Value) -> Value) -> (Value, [Value; 2]) {
    lead_back(&mut schema);
    schema["not"] = json!({"const": "bad"});
    let instances = ["good", "bad"].map(|last| (0..levels).fold(json!(last), |inner, _| level(inner)));
    (schema, instances)
}

fn lead_back(schema: &mut Value) {
    match schema {
        Value::String(text) if text == N => *schema = json!({"$ref": "#"}),
        Value::Array(items) => items.iter_mut().for_each(lead_back),
        Value::Object(members) => members.values_mut().for_each(lead_back),
        _ => {}
    }
}

const N: &str = "next";
const NAMES: [&str; 8] = ["a", "b", "c", "ab", "abab", "aaaaab", "__proto__", ""];
const PATTERNS: [&str; 3] = ["^a", "(a|b)*c", "[ab]*a[ab]{5}"];
const DEFINITIONS: usize = 6;
