//! Settings for a script: mostly those that admission takes, sometimes others.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::dice::Dice;
use crate::hostile::Setting;

/// What a script is given.
pub(super) fn given(dice: &mut Dice) -> Map<String, Value> {
    static SETTINGS: LazyLock<Vec<Setting>> = LazyLock::new(Setting::all);
    let drawn = SETTINGS[dice.below(SETTINGS.len())];
    // Interactive runs that may take many turns have the most to go wrong.
    let setting = Setting {
        interactive: drawn.interactive || !dice.one_in(3),
        max_attempt: drawn.max_attempt.filter(|_| dice.one_in(3)),
        ..drawn
    };
    let mut given = setting.given();
    match dice.below(16) {
        0 => spoil(dice, &mut given),
        1..=4 => {
            given.insert("limits".to_owned(), LIMITS[dice.below(LIMITS.len())].parse().expect("JSON"));
        }
        _ => {}
    }
    given
}

/// Puts something else in the place of one or two settings.
fn spoil(dice: &mut Dice, given: &mut Map<String, Value>) {
    for _ in 0..=dice.below(2) {
        match dice.below(8) {
            0 => given["skill"]["runner"] = json!(dice.pick(&RUNNERS)),
            1 => given["skill"]["output_schema"] = json!(dice.pick(&SCHEMAS)),
            2 => given["skill"]["input_schema"] = json!(dice.pick(&SCHEMAS)),
            3 => given["skill"]["parameter_schema"] = json!(dice.pick(&SCHEMAS)),
            4 => _ = given.insert("engines".to_owned(), json!([dice.pick(&ENGINES)])),
            5 => _ = given.insert("request_text".to_owned(), json!(dice.value(3))),
            _ => given["request"][dice.pick(&MEMBERS)] = dice.value(2),
        }
    }
}

const LIMITS: [&str; 6] = [
    r#"{"turn_text_bytes": 30}"#,
    r#"{"options": 1}"#,
    r#"{"prompt_bytes": 5}"#,
    r#"{"reply_bytes": 3}"#,
    r#"{"interactions": 1}"#,
    r#"{"json_depth": 2}"#,
];
const RUNNERS: [&str; 7] = [
    r#"{"execution_modes": ["auto"]}"#,
    r#"{"execution_modes": ["interactive"], "max_attempt": 3.0}"#,
    r#"{"max_attempt": 0}"#,
    r#"{"engines": ["claude"], "unsupported_engines": ["claude"]}"#,
    r#"{"a": 1, "a": 2}"#,
    "{}",
    "{",
];
const SCHEMAS: [&str; 7] = [
    r#"{"type": "object", "required": ["answer"], "properties": {"answer": {"type": ["integer", "string"]}}}"#,
    r#"{"$ref": "https://example.org/schema.json"}"#,
    r#"{"type": "string", "pattern": "(?=a)b"}"#,
    r#"{"type": "nothing"}"#,
    "{}",
    "false",
    "{",
];
const ENGINES: [&str; 3] = ["codex", "claude", ""];
const MEMBERS: [&str; 10] = [
    "run_id",
    "engine",
    "execution_mode",
    "interactive_require_user_reply",
    "session_timeout_sec",
    "interactive_profile",
    "interrupted_turn",
    "input",
    "parameter",
    "hard_timeout",
];
