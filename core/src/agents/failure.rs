//! Why a turn failed, from what the agent's program says of it.

use crate::json::Item;
use crate::text;
use crate::types::codes::Code;

use super::rows::{number_at, text_at};

/// A failure that the stream tells.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) code: Code,
    /// The program's own words.
    pub(super) words: String,
}

impl Failure {
    /// A failure with an HTTP status, if the program tells one, and its words.
    pub(super) fn of_model(status: Option<u64>, words: &str) -> Failure {
        Failure { code: code_of(status.or_else(|| status_in(words)), words), words: words.to_owned() }
    }

    /// A failure as an `error` object tells it, by whichever names it has; what it has in `data` is nearer to the cause.
    pub(super) fn of_error(error: Option<Item<'_>>) -> Failure {
        let Some(error) = error else { return Failure::of_model(None, "") };
        let cause = error.get("data").filter(|data| data.get("message").is_some()).unwrap_or(error);
        let status = ["statusCode", "status", "code"].iter().find_map(|name| number_at(cause, &[name]));
        let words = cause.text().or_else(|| text_at(cause, &["message"])).unwrap_or_default();
        // Agents of the Agent Client Protocol say "Internal error" in the message, and in the details which one.
        let details = text_at(error, &["data", "details"]).or_else(|| text_at(error, &["data"]));
        match details {
            Some(details) => Failure::of_model(status, &format!("{words}: {details}")),
            None => Failure::of_model(status, &words),
        }
    }
}

fn code_of(status: Option<u64>, words: &str) -> Code {
    let words = text::head(words, MAX_READ_BYTES).to_ascii_lowercase();
    let says = |signs: &[&str]| signs.iter().any(|sign| words.contains(sign));
    match status {
        Some(401 | 403) => Code::AuthRequired,
        Some(429) => Code::RateLimited,
        // A wrong key is a bad request to some.
        None | Some(400) if says(&["unauthorized", "api key", "not logged in", "/login", "authentication"]) => {
            Code::AuthRequired
        }
        None if says(&["rate limit", "rate_limit", "too many requests", "quota"]) => Code::RateLimited,
        _ => Code::ModelError,
    }
}

/// The HTTP status that a sentence names. Only those that mean something here are looked for.
fn status_in(words: &str) -> Option<u64> {
    let words = text::head(words, MAX_READ_BYTES);
    let numbers = words.split(|character: char| !character.is_ascii_alphanumeric());
    numbers.filter_map(|number| number.parse().ok()).find(|number| matches!(number, 401 | 403 | 429))
}

/// Whether a process that ended so was stopped by a signal that asks it to end (INT, TERM), as a shell or a host tells it.
pub(super) const fn is_stop(exit_code: i64) -> bool {
    matches!(exit_code, 130 | 143 | -2 | -15)
}

const MAX_READ_BYTES: usize = 4096;
