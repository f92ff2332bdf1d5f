//! Gate lint: what will go wrong with this schema, said before money is spent (ADM-8).

use serde_json::{Value, json};

use crate::codes::{Code, Note};
use crate::evidence::DONE_MARKER;
use crate::plan::ExecutionMode;
use crate::schema::{Check, OutputSchema};

/// Warnings about a skill's output schema.
pub(super) fn gate_warnings(mode: ExecutionMode, schema: Option<&OutputSchema>) -> Vec<Note> {
    let interactive = mode == ExecutionMode::Interactive;
    let Some(schema) = schema else {
        let missing =
            Note::new(Code::OutputSchemaMissing, "without an output schema only the done marker completes a run");
        return if interactive { vec![missing] } else { Vec::new() };
    };
    let accepts = |instance: &Value| schema.check(instance) == Check::Valid;
    let mut warnings = Vec::new();
    if accepts(&json!({})) || accepts(&json!({"unrelated": 1})) {
        warnings
            .push(Note::new(Code::OutputSchemaPermissive, "the output schema accepts an empty or an unrelated object"));
    }
    if questions().iter().any(accepts) {
        warnings.push(Note::new(
            Code::OutputSchemaAcceptsAskUser,
            "the output schema accepts a question to the user as an output",
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

/// A question in every form the core reads.
fn questions() -> Vec<Value> {
    let fields = json!({"prompt": "Which one?", "kind": "choose_one", "options": [{"label": "a", "value": "a"}]});
    vec![
        json!({"ask_user": fields}),
        json!({"type": "ask_user", "interaction": fields}),
        json!({"action": "ask_user", "interaction": fields}),
        json!({"prompt": "Which one?", "options": ["a", "b"]}),
        json!({"question": "Which one?", "options": ["a", "b"]}),
        json!({"prompt": "Which one?", "kind": "open_text"}),
        json!({"prompt": "Which one?", "interaction_id": 1}),
        fields,
    ]
}
