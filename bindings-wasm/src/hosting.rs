//! What hosts ask. Pages have no use for it, and would download 4 KB more.

use turnlatch::Effect;
use turnlatch::hosting::RecoveryFacts;
use turnlatch::json::{Value, json_text};
use wasm_bindgen::prelude::*;

use crate::convert::{data, read_json, text};
use crate::errors::{Thrown, misuse};
use crate::journal::read_entry;
use crate::run::Run;

#[wasm_bindgen]
impl Run {
    pub fn due(&self, effect: &[u8], failed: &[u8]) -> Result<JsValue, JsValue> {
        let Value::Array(failed) = read_json(failed)? else {
            return Err(misuse("expected an array of effects").into());
        };
        let failed: Vec<Effect> = failed.into_iter().map(read_effect).collect::<Result<_, _>>()?;
        data(&self.0.due(&read_effect(read_json(effect)?)?, &failed))
    }

    pub fn given_up(&self, effect: &[u8], begun: bool) -> Result<JsValue, JsValue> {
        data(&self.0.given_up(&read_effect(read_json(effect)?)?, begun))
    }

    pub fn after_restart(&self, process_alive: bool, begun: bool, slot_lost: bool) -> Result<JsValue, JsValue> {
        data(&self.0.after_restart(RecoveryFacts { process_alive, begun, slot_lost }))
    }
}

fn read_effect(effect: Value) -> Result<Effect, Thrown> {
    Ok(Effect::from_value(effect)?)
}

/// What to report of a turn that has ended, but whose report cannot be read.
#[wasm_bindgen]
#[must_use]
pub fn unreadable_report(attempt_number: u32, slot_id: &str) -> String {
    json_text(&turnlatch::hosting::unreadable_report(attempt_number, slot_id))
}

/// The entry without a turn's text: its digest and the recorded evaluation instead.
#[wasm_bindgen]
pub fn compact_entry(entry: &[u8]) -> Result<String, Thrown> {
    Ok(json_text(&read_entry(entry)?.compact()))
}

/// An entry's JSON text, chained to the text before it.
#[wasm_bindgen]
pub fn encode_chained(entry: &[u8], run_id: &[u8], previous: Option<Box<[u8]>>) -> Result<String, Thrown> {
    let previous = previous.as_deref().map(text).transpose()?;
    Ok(read_entry(entry)?.encode_chained(text(run_id)?, previous)?)
}
