//! JSON lines of no agent in particular.

use crate::agents::rows::{others_words, parts_of, text_at, words_of};
use crate::agents::turn::{ASSISTANT, Turn};
use crate::json::Item;

/// Takes a row; says whether it is one that is known. Only a row that says whose words it has is taken for words.
pub(crate) fn row(turn: &mut Turn, row: Item<'_>) -> bool {
    let handle = text_at(row, &["session_handle"]);
    turn.session(handle.as_deref());
    let content = row.get("text").filter(|text| text.is_string()).or_else(|| row.get("content"));
    let words = parts_of(content);
    let (Some(role), false) = (text_at(row, &["role"]), words.is_empty()) else {
        return handle.is_some();
    };
    for (_, part) in words.into_iter().filter(|(kind, _)| kind == "text") {
        if role == ASSISTANT {
            turn.say(&words_of(part));
        } else {
            turn.other(&role, || others_words(part));
        }
    }
    true
}
