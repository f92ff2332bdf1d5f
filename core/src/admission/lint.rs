//! Gate lint: what will go wrong with this schema, said before money is spent (ADM-8).

use crate::schema::OutputSchema;
use crate::types::codes::{Code, Note};
use crate::types::event::DONE_MARKER;
use crate::types::plan::Mode;

/// Warnings about a skill's output schema.
pub(super) fn gate_warnings(mode: Mode, schema: Option<&OutputSchema>) -> Vec<Note> {
    let Some(schema) = schema else {
        let message = "without an output schema only the done marker completes a run";
        let missing = (mode == Mode::Interactive).then(|| Note::new(Code::OutputSchemaMissing, message));
        return Vec::from_iter(missing);
    };
    let accepts = |instance: &str| schema.accepts(instance);
    let is_permissive = accepts("{}") || accepts(r#"{"unrelated":1}"#);
    let accepts_question = QUESTIONS.into_iter().any(accepts);
    let marker = format!("declares `{DONE_MARKER}`, which is taken out before the check");
    let warnings = [
        (is_permissive, Code::OutputSchemaPermissive, "accepts an empty or an unrelated object"),
        (accepts_question, Code::OutputSchemaAcceptsAskUser, "accepts a question to the user as an output"),
        (
            schema.excludes_objects(),
            Code::OutputSchemaNotObject,
            "accepts no object: only a host's `output` can satisfy it",
        ),
        (schema.declares(DONE_MARKER), Code::OutputSchemaDeclaresMarker, &marker),
    ];
    let found = warnings.into_iter().filter(|(is_found, ..)| *is_found);
    found.map(|(_, code, what)| Note::new(code, format!("the output schema {what}"))).collect()
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
