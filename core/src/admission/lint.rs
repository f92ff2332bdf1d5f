//! Gate lint: what will go wrong with this schema, said before money is spent (ADM-8).

use crate::schema::OutputSchema;
use crate::types::codes::{Code, Note};
use crate::types::event::DONE_MARKER;
use crate::types::plan::Mode;

/// Warnings about a skill's output schema.
pub(super) fn gate_warnings(mode: Mode, schema: Option<&OutputSchema>) -> Vec<Note> {
    let interactive = mode == Mode::Interactive;
    let Some(schema) = schema else {
        let missing =
            Note::new(Code::OutputSchemaMissing, "without an output schema only the done marker completes a run");
        return if interactive { vec![missing] } else { Vec::new() };
    };
    let accepts = |instance: &str| schema.accepts(instance);
    let mut warnings = Vec::new();
    if accepts("{}") || accepts(r#"{"unrelated":1}"#) {
        warnings
            .push(Note::new(Code::OutputSchemaPermissive, "the output schema accepts an empty or an unrelated object"));
    }
    if QUESTIONS.into_iter().any(accepts) {
        warnings.push(Note::new(
            Code::OutputSchemaAcceptsAskUser,
            "the output schema accepts a question to the user as an output",
        ));
    }
    if schema.excludes_objects() {
        warnings.push(Note::new(
            Code::OutputSchemaNotObject,
            "the output schema accepts no object: only a host's `output` can satisfy it",
        ));
    }
    if schema.declares(DONE_MARKER) {
        warnings.push(Note::new(
            Code::OutputSchemaDeclaresMarker,
            format!("the output schema declares `{DONE_MARKER}`, which is taken out before the check"),
        ));
    }
    warnings
}

/// A question in every form that is one whatever the schema takes.
const QUESTIONS: [&str; 9] = [
    r#"{"ask_user":{"prompt":"Which one?","kind":"choose_one","options":[{"label":"a","value":"a"}]}}"#,
    r#"{"type":"ask_user","interaction":{"prompt":"Which one?","kind":"choose_one","options":[{"label":"a","value":"a"}]}}"#,
    r#"{"action":"ask_user","interaction":{"prompt":"Which one?","kind":"choose_one","options":[{"label":"a","value":"a"}]}}"#,
    r#"{"outcome":"ask_user","interaction":{"prompt":"Which one?","kind":"choose_one","options":[{"label":"a","value":"a"}]}}"#,
    r#"{"prompt":"Which one?","options":["a","b"]}"#,
    r#"{"question":"Which one?","options":["a","b"]}"#,
    r#"{"prompt":"Which one?","kind":"open_text"}"#,
    r#"{"prompt":"Which one?","interaction_id":1}"#,
    r#"{"prompt":"Which one?","kind":"choose_one","options":[{"label":"a","value":"a"}]}"#,
];
