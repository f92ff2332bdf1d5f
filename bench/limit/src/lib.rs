//! The bare limit of a turn: memchr finds what could be an object, `serde_json` parses it, `jsonschema` validates it.
//!
//! There is no lifecycle, no explanation, no history, and no care for hostile input: the last block or object of a text is its
//! output, whatever stands around it. What it decides is right for every case of the benchmark, and that is all it is for.

#[cfg(target_arch = "wasm32")]
mod exports;

use std::borrow::Cow;

use jsonschema::Validator;
use memchr::{memchr, memchr_iter, memmem, memrchr};
use serde::Deserialize;
use serde_json::{Deserializer, Map, Value};

const MARKER: &str = "__SKILL_DONE__";

/// What becomes of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// With this many items in its output.
    Succeeded(usize),
    Failed,
    WaitingUser,
}

/// A schema, compiled once.
pub struct Limit(Validator);

/// A row of an agent's stream that has words of the assistant.
#[derive(Deserialize)]
struct Row<'r> {
    #[serde(borrow)]
    item: Item<'r>,
}

#[derive(Deserialize)]
struct Item<'r> {
    #[serde(rename = "type")]
    kind: &'r str,
    #[serde(borrow)]
    text: Cow<'r, str>,
}

/// What the texts of a turn show.
#[derive(Default)]
struct Seen {
    marker: bool,
    output: Option<Map<String, Value>>,
}

impl Limit {
    /// # Panics
    /// If the schema is none.
    #[must_use]
    pub fn new(schema: &str) -> Limit {
        let schema = serde_json::from_str(schema).expect("JSON");
        Limit(jsonschema::validator_for(&schema).expect("a schema"))
    }

    /// Judges an assistant's text.
    #[must_use]
    pub fn judge_text(&self, text: &str) -> Verdict {
        let mut seen = Seen::default();
        seen.look_at(text);
        self.verdict(seen)
    }

    /// Judges what `codex exec --json` printed: rows that cannot be the assistant's are not even parsed.
    #[must_use]
    pub fn judge_stream(&self, stdout: &str) -> Verdict {
        let mut seen = Seen::default();
        let words = memmem::Finder::new(r#""agent_message""#);
        let mut at = 0;
        while let Some(found) = words.find(&stdout.as_bytes()[at..]) {
            let start = memrchr(b'\n', &stdout.as_bytes()[..at + found]).map_or(0, |end| end + 1);
            let end = memchr(b'\n', &stdout.as_bytes()[at + found..]).map_or(stdout.len(), |end| at + found + end);
            if let Ok(Row { item: Item { kind: "agent_message", text } }) = serde_json::from_str(&stdout[start..end]) {
                seen.look_at(&text);
            }
            at = end;
        }
        self.verdict(seen)
    }

    fn verdict(&self, seen: Seen) -> Verdict {
        match seen.output.map(Value::Object).filter(|output| self.0.is_valid(output)) {
            Some(output) => Verdict::Succeeded(output["items"].as_array().map_or(0, Vec::len)),
            None if seen.marker => Verdict::Failed,
            None => Verdict::WaitingUser,
        }
    }
}

impl Seen {
    /// The whole text is the object, or the last block between fences has it, or it stands in prose.
    fn look_at(&mut self, text: &str) {
        if text.starts_with('{') && self.read_object(text) == text.len() {
            return;
        }
        self.marker |= has_bare_marker(text);
        if self.read_last_fenced(text) {
            return;
        }
        let mut at = 0;
        while let Some(found) = memchr(b'{', &text.as_bytes()[at..]) {
            let rest = &text[at + found..];
            at += found + self.read_object(rest);
        }
    }

    fn read_last_fenced(&mut self, text: &str) -> bool {
        let (mut opened, mut last) = (None, None);
        for fence in memmem::find_iter(text.as_bytes(), "```") {
            opened = match opened {
                None => Some(fence),
                Some(start) => {
                    last =
                        memchr(b'{', &text.as_bytes()[start..fence]).map(|brace| &text[start + brace..fence]).or(last);
                    None
                }
            };
        }
        last.is_some_and(|block| self.read_object(block) > 1)
    }

    /// Reads the object that begins here, if it is one. Answers how many bytes need no second look.
    fn read_object(&mut self, rest: &str) -> usize {
        // Most decoys end here, without the cost of an error.
        if !rest[1..].trim_ascii_start().starts_with('"') {
            return 1;
        }
        let mut objects = Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
        match objects.next() {
            Some(Ok(mut object)) => {
                self.marker |= object.shift_remove(MARKER) == Some(Value::Bool(true));
                self.output = Some(object);
                objects.byte_offset()
            }
            Some(Err(error)) => offset_of(&error, rest).max(1),
            None => rest.len(),
        }
    }
}

/// Whether the marker stands on a line of its own.
fn has_bare_marker(text: &str) -> bool {
    memmem::find_iter(text.as_bytes(), MARKER).any(|at| {
        let (before, after) = (&text[..at], &text[at + MARKER.len()..]);
        (before.is_empty() || before.ends_with('\n')) && (after.is_empty() || after.starts_with('\n'))
    })
}

/// Where the text broke: what stands before it is not read again, or a flood of open objects would cost its square.
fn offset_of(error: &serde_json::Error, rest: &str) -> usize {
    let mut ends = memchr_iter(b'\n', rest.as_bytes());
    let line = error.line().checked_sub(2).and_then(|before| ends.nth(before)).map_or(0, |end| end + 1);
    (line + error.column()).saturating_sub(1).min(rest.len())
}
