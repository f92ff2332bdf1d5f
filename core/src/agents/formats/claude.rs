//! `claude --print --output-format stream-json --verbose` (2.1.197), and `qwen --output-format stream-json` (0.15.10).

use crate::agents::Usage;
use crate::agents::failure::Failure;
use crate::agents::rows::{as_text, at, number_at, others_words, parts_of, text_at, words_of};
use crate::agents::turn::Turn;
use crate::json::Item;
use crate::json::json_text;
use crate::types::codes::Code;

/// Takes a row; says whether it is one that is known.
pub(crate) fn row(turn: &mut Turn, row: Item<'_>) -> bool {
    let is_own = turn.session(text_at(row, &["session_id"]).as_deref());
    match text_at(row, &["type"]).unwrap_or_default().as_ref() {
        "assistant" => assistant(turn, row, is_own),
        "user" => user(turn, row),
        "result" if is_own => result(turn, row),
        "system" if is_own => {
            if text_at(row, &["subtype"]).as_deref() == Some("api_retry") {
                turn.supersede();
            }
        }
        // The deltas of a message come once more as a whole; how an agent ended that the agent asked is not the turn's end.
        "stream_event" | "rate_limit_event" | "control_response" | "control_request" | "keep_alive"
        | "tool_progress" | "tool_use_summary" | "auth_status" | "prompt_suggestion" | "result" | "system" => {}
        _ => return false,
    }
    true
}

/// The row that `--input-format stream-json` takes.
pub(crate) fn prompt(words: &str) -> String {
    let words = json_text(&words);
    format!(
        "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":{words}}}]}}}}\n"
    )
}

fn assistant(turn: &mut Turn, row: Item<'_>, is_own: bool) {
    // The program's own words about an error, and those of an agent that the agent asked, are not the assistant's.
    let is_synthetic =
        text_at(row, &["message", "model"]).as_deref() == Some("<synthetic>") || row.get("error").is_some();
    let is_inner = !is_own || text_at(row, &["parent_tool_use_id"]).is_some();
    for (kind, part) in parts_of(at(row, &["message", "content"])) {
        match kind.as_ref() {
            "text" if is_synthetic => turn.other("system", || others_words(part)),
            "text" if is_inner => turn.other("tool", || others_words(part)),
            "text" => turn.say(&words_of(part)),
            "thinking" => turn.other("reasoning", || as_text(part.get("thinking"))),
            "tool_use" => {
                let input = || as_text(part.get("input"));
                turn.other("tool", || format!("{} {}", as_text(part.get("name")), input()).into());
            }
            _ => {}
        }
    }
}

fn user(turn: &mut Turn, row: Item<'_>) {
    for (kind, part) in parts_of(at(row, &["message", "content"])) {
        if kind == "tool_result" {
            let results = parts_of(part.get("content")).into_iter().map(|(_, result)| others_words(result));
            turn.other("tool", || results.collect::<String>().into());
        } else {
            turn.other("user", || others_words(part));
        }
    }
    // The model has gone on from what it said.
    turn.settle();
}

fn result(turn: &mut Turn, row: Item<'_>) {
    turn.is_over = true;
    let usage = |name: &str| number_at(row, &["usage", name]);
    if let Some(input_tokens) = usage("input_tokens") {
        let cached = usage("cache_read_input_tokens");
        // What came from the cache or went into it is not among its input tokens.
        let input_tokens = [cached, usage("cache_creation_input_tokens")]
            .into_iter()
            .flatten()
            .fold(input_tokens, u64::saturating_add);
        let output_tokens = usage("output_tokens").unwrap_or(0);
        turn.usage = Some(Usage { input_tokens, output_tokens, cached_input_tokens: cached });
    }
    if row.get("is_error").is_some_and(Item::is_true) {
        turn.fail(failure_of(row));
    } else if let Some(output) = row.get("structured_output").filter(|output| !output.is_null()) {
        // Of a schema given on the command line; it stands in no other row.
        turn.say(&json_text(&output.built()));
    }
}

fn failure_of(row: Item<'_>) -> Failure {
    let errors = row.get("errors").and_then(Item::items).into_iter().flatten().find_map(Item::text);
    let words = text_at(row, &["result"]).or(errors).or_else(|| text_at(row, &["error", "message"]));
    let mut failure = Failure::of_model(number_at(row, &["api_error_status"]), &words.unwrap_or_default());
    // "success" with an error is an error of the model; the other kinds are the program's own.
    let is_models =
        text_at(row, &["subtype"]).as_deref() == Some("success") || number_at(row, &["api_error_status"]).is_some();
    if text_at(row, &["terminal_reason"]).is_some_and(|reason| reason.starts_with("aborted")) {
        failure.code = Code::Interrupted;
    } else if !is_models {
        failure.code = Code::ProcessFailed;
    }
    failure
}

/// Qwen tells an error in no field, but in the assistant's text.
pub(crate) fn guess_failure(turn: &mut Turn) {
    let words = turn.last_words().map(str::trim_end).filter(|words| words.ends_with(']'));
    let Some(words) = words.and_then(|words| words.rfind("[API Error: ").and_then(|start| words.get(start..))) else {
        return;
    };
    let failure = Failure::of_model(None, words);
    if turn.failure.is_none() {
        turn.note(
            Code::StreamFailureGuessed,
            "the assistant's last words look like an error of its program, which tells errors in no other way"
                .to_owned(),
        );
        turn.fail(failure);
    }
}
