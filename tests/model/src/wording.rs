//! The model's numbers in the words of the wire, and the wire's answers without the words that are the core's own.

use serde_json::{Map, Value, json};

use crate::gate::{Marker, Output, Process, Report, Soft};
use crate::words::{FOREIGN_SLOT, Resolution, Settings, Status};

/// What the model can say about an answer of the core: no messages, no texts, of receipts the name.
#[must_use]
pub fn essence(step: &Map<String, Value>, then: &Value) -> Value {
    match step.get("query").and_then(Value::as_str) {
        Some("status_view") => {
            let warnings = then["warnings"].as_array().into_iter().flatten();
            let soft = warnings.into_iter().any(|note| note["code"] == "INTERACTIVE_COMPLETED_WITHOUT_DONE_MARKER");
            json!({
                "status": then["status"],
                "attempt_number": then["attempt_number"],
                "pending_interaction_id": then["pending_interaction_id"],
                "auto_decision_count": then["auto_decision_count"],
                "error": then["error"]["code"],
                "soft": soft,
                "revision": then["revision"],
            })
        }
        Some("history") => {
            let records = then.as_array().into_iter().flatten();
            let short = |record: &Value| json!({"interaction_id": record["interaction_id"], "resolution_mode": record["resolution_mode"]});
            records.map(short).collect()
        }
        Some("outstanding") => {
            let keep = &then["keep"];
            let keep = json!({"slot_id": keep["slot_id"], "timer": keep["timer"], "process": keep["process"]});
            json!({"effects": effects(then), "keep": keep, "turn_effect_id": then["turn_effect_id"]})
        }
        _ if step.contains_key("query") => {
            json!({"attach": then["attach"]["slot_id"], "effects": effects(then), "event": then["event"]})
        }
        _ => match then.get("rejected") {
            Some(rejected) => json!({"rejected": rejected["code"]}),
            None => {
                let (receipt, refused) = (&then["receipt"]["kind"], &then["receipt"]["code"]);
                json!({"effects": effects(then), "status": then["status"], "receipt": receipt, "refused": refused})
            }
        },
    }
}

/// The effects without the words of replies: those of automatic decisions are the core's own.
fn effects(then: &Value) -> Value {
    let mut effects = then["effects"].clone();
    for effect in effects.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        effect.shift_remove("response");
        if let Some(resume) = effect.get_mut("resume").and_then(Value::as_object_mut) {
            resume.shift_remove("response");
        }
    }
    effects
}

/// What a vector is given for these settings.
pub(crate) fn given(settings: &Settings) -> Map<String, Value> {
    let mut runner = json!({"execution_modes": ["auto", "interactive"]});
    if let Some(max) = settings.max_attempt {
        runner["max_attempt"] = json!(max);
    }
    let mut given = json!({
        "skill": {"runner": runner},
        "request": {
            "execution_mode": if settings.interactive { "interactive" } else { "auto" },
            "interactive_require_user_reply": settings.strict,
            "session_timeout_sec": TIMEOUT_SEC,
            "interactive_profile": {"kind": if settings.sticky { "sticky_process" } else { "resumable" }},
            "soft_completion": match settings.soft {
                Soft::UnlessAsking => "unless_asking",
                Soft::Always => "always",
                Soft::Never => "never",
            },
            "interrupted_turn": if settings.retry { "retry" } else { "fail" },
        },
    });
    if !settings.schema {
        given["skill"]["output_schema"] = Value::Null;
    }
    if let Some(limit) = settings.question_limit {
        given["limits"] = json!({"interactions": limit});
    }
    given.as_object().cloned().unwrap_or_default()
}

/// A report in the words of an agent: each part in a message of its own, so that none can hide another.
pub(crate) fn turn(attempt: u8, report: Report) -> Value {
    let mut texts = vec!["I have looked at it."];
    if report.asks {
        texts.push("<ASK_USER_YAML>\nprompt: Which one?\nkind: open_text\n</ASK_USER_YAML>");
    }
    texts.extend(match (report.output, report.marker) {
        (Output::Valid, Marker::Absent) => Some(r#"{"answer": 1}"#),
        (Output::Valid, Marker::True) => Some(r#"{"answer": 1, "__SKILL_DONE__": true}"#),
        (Output::Valid, Marker::False) => Some(r#"{"answer": 1, "__SKILL_DONE__": false}"#),
        (Output::Invalid, Marker::Absent) => Some(r#"{"answer": "one"}"#),
        (Output::Invalid, Marker::True) => Some(r#"{"answer": "one", "__SKILL_DONE__": true}"#),
        (Output::Invalid, Marker::False) => Some(r#"{"answer": "one", "__SKILL_DONE__": false}"#),
        (Output::Missing, _) => None,
        (Output::Unparsable, _) => Some("```json\n{\"answer\": one\n```"),
    });
    if report.marker == Marker::True && matches!(report.output, Output::Missing | Output::Unparsable) {
        texts.push("__SKILL_DONE__");
    }
    let messages: Vec<Value> = texts.into_iter().map(|text| json!({"role": "assistant", "text": text})).collect();
    let mut turn = json!({"type": "turn_finished", "attempt_number": attempt, "messages": messages});
    match report.process {
        Process::Succeeded => turn["exit_code"] = json!(0),
        Process::ExitedWithError => turn["exit_code"] = json!(1),
        Process::TimedOut => turn["failure_reason"] = json!("TIMEOUT"),
    }
    turn
}

pub(crate) fn slot_id(slot: u8) -> String {
    if slot == FOREIGN_SLOT { "other/s1".to_owned() } else { format!("r1/s{slot}") }
}

pub(crate) fn status_word(status: Status) -> &'static str {
    match status {
        Status::Queued => "queued",
        Status::Running => "running",
        Status::WaitingUser => "waiting_user",
        Status::Succeeded => "succeeded",
        Status::Failed => "failed",
        Status::Canceled => "canceled",
    }
}

/// How a question ended.
pub(crate) fn resolution_word(resolution: Resolution) -> &'static str {
    match resolution {
        Resolution::UserReply { .. } => "user_reply",
        Resolution::AutoDecideTimeout => "auto_decide_timeout",
        Resolution::Canceled => "canceled",
        Resolution::Expired => "expired",
    }
}

pub(crate) const TIMEOUT_SEC: u64 = 60;
