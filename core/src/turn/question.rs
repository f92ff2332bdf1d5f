//! `ask_user`: the optional structure of a question, read leniently (PEND-3). A bad field is left out, the good ones stay.

use crate::json::json_text;
use crate::json::{Map, Value};
use crate::text;
use crate::turn::yaml;
use crate::types::codes::{Code, Note};
use crate::types::interaction::{ChoiceOption, InteractionKind, Question};
use crate::types::limits::Limits;

/// The keys by which an object is known to be a question.
pub(crate) const ASK_KEYS: [&str; 10] =
    ["ask_user", "action", "type", "outcome", "interaction", "prompt", "question", "kind", "options", "interaction_id"];

/// How an object says that it is a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskForm {
    /// `{"ask_user": …}`, or `{"action", "type" or "outcome": "ask_user", …}`: it can be nothing else.
    Envelope,
    /// A prompt beside a kind, options or an id: it could also be an output.
    Bare,
    /// A prompt and nothing else: it is an output if it fits the schema.
    PromptAlone,
}

/// Whether an object with these top-level keys, and so many members beside the marker, may be a question; the values are not
/// looked at yet.
pub(crate) fn may_ask(members: usize, has: impl Fn(&str) -> bool) -> bool {
    let has_prompt = has("prompt") || has("question");
    has("ask_user") || NAMING_KEYS.into_iter().any(&has) || (has_prompt && members == 1) || has_bare_keys(has)
}

/// The form of a question that an object has, without its marker.
pub(crate) fn form_of(object: &Map) -> Option<AskForm> {
    let asks = matches!(object.get("ask_user"), Some(Value::Object(_) | Value::String(_)));
    let interaction = matches!(object.get("interaction"), Some(Value::Object(_) | Value::String(_)));
    let names = names_ask_user(object) && (interaction || prompt_of(object).is_some());
    if asks || names {
        return Some(AskForm::Envelope);
    }
    prompt_of(object)?;
    if has_bare_keys(|key| object.contains_key(key)) {
        return Some(AskForm::Bare);
    }
    object.keys().nth(1).is_none().then_some(AskForm::PromptAlone)
}

/// The fields of a question, out of an object that has one of its forms.
pub(crate) fn fields_of(object: &Map) -> Map {
    let interaction = object.get("interaction").filter(|_| names_ask_user(object));
    match object.get("ask_user").filter(|inner| inner.is_object() || inner.is_string()).or(interaction) {
        Some(Value::Object(fields)) => fields.clone(),
        Some(Value::String(prompt)) => {
            let mut fields = Map::new();
            fields.insert("prompt".to_owned(), Value::String(prompt.clone()));
            fields
        }
        _ => object.clone(),
    }
}

/// Reads a YAML block: a mapping with the fields, or with `ask_user` above them.
pub(crate) fn fields_of_yaml(block: &str) -> Option<Map> {
    yaml::read_mapping(without_fence(block)).map(|object| fields_of(&object))
}

/// The block without a code fence that an agent put around its content.
fn without_fence(block: &str) -> &str {
    let trimmed = block.trim();
    let inside =
        trimmed.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")).and_then(|rest| rest.split_once('\n'));
    inside.map_or(block, |(_, content)| content)
}

/// Whether these fields really ask something.
pub(crate) fn prompt_of(fields: &Map) -> Option<&str> {
    ["prompt", "question"]
        .into_iter()
        .find_map(|name| fields.get(name).and_then(Value::as_str).map(str::trim).filter(|prompt| !prompt.is_empty()))
}

/// Lays the good fields over the baseline and notes the bad ones.
pub(crate) fn enrich(baseline: Question, fields: &Map, limits: &Limits, notes: &mut Vec<Note>) -> Question {
    let mut question = baseline;
    if let Some(prompt) = prompt_of(fields) {
        let short = text::head(prompt, limits.prompt_bytes);
        if short.len() < prompt.len() {
            notes.push(Note::new(
                Code::PromptTruncated,
                format!("the prompt had {} bytes, {} are kept", prompt.len(), short.len()),
            ));
        }
        short.clone_into(&mut question.prompt);
    }
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("prompt" | "question", Value::String(_)) => {}
            ("kind", Value::String(kind)) => take_kind(&mut question, kind, limits),
            ("kind", kind) if fits(kind, limits) => {
                question.context.insert("external_kind".to_owned(), kind.clone());
            }
            ("options", Value::Array(options)) => take_options(&mut question, options, limits, notes),
            ("ui_hints", Value::Object(hints)) if fits(value, limits) => question.ui_hints = hints.clone().into(),
            ("default_decision_policy", Value::String(policy)) if !policy.trim().is_empty() => {
                question.default_decision_policy = text::head(policy.trim(), limits.prompt_bytes).to_owned().into();
            }
            ("required_fields", Value::Array(names)) => {
                let texts = names.iter().filter_map(Value::as_str).take(limits.options);
                question.required_fields = texts.map(|name| text::head(name, limits.prompt_bytes).to_owned()).collect();
            }
            ("context", Value::Object(context)) if fits(value, limits) => {
                // What the core wrote there wins over what the agent wrote.
                for (key, value) in context {
                    if !question.context.contains_key(key) {
                        question.context.insert(key.clone(), value.clone());
                    }
                }
            }
            ("interaction_id", id) if fits(id, limits) => {
                question.context.insert("external_interaction_id".to_owned(), id.clone());
            }
            (known, _) if QUESTION_FIELDS.contains(&known) => {
                let message = format!("the field `{name}` of the question could not be read");
                notes.push(Note::new(Code::AskUserIgnored, message));
            }
            // Whatever else an agent adds is not ours to judge.
            _ => {}
        }
    }
    question
}

fn take_kind(question: &mut Question, kind: &str, limits: &Limits) {
    if let Some(known) = InteractionKind::from_name(&kind.trim().to_ascii_lowercase()) {
        question.kind = known;
    } else {
        let original = text::head(kind, limits.prompt_bytes).to_owned();
        question.context.insert("external_kind".to_owned(), Value::String(original));
    }
}

fn take_options(question: &mut Question, options: &[Value], limits: &Limits, notes: &mut Vec<Note>) {
    question.options = Vec::new();
    for option in options {
        let Some(readable) = read_option(option, limits) else { continue };
        if question.options.len() == limits.options {
            let message = format!("the question had {} options, {} are kept", options.len(), limits.options);
            notes.push(Note::new(Code::OptionsTruncated, message));
            break;
        }
        question.options.push(readable);
    }
}

fn read_option(option: &Value, limits: &Limits) -> Option<ChoiceOption> {
    let short = |label: &str| text::head(label, limits.prompt_bytes).to_owned();
    match option {
        Value::String(label) => Some(ChoiceOption { label: short(label), value: None }),
        Value::Object(fields) => {
            let label = fields.get("label")?.as_str()?;
            let value = fields.get("value").filter(|value| fits(value, limits)).cloned();
            Some(ChoiceOption { label: short(label), value })
        }
        _ => None,
    }
}

fn has_bare_keys(has: impl Fn(&str) -> bool) -> bool {
    (has("prompt") || has("question")) && (has("kind") || has("options") || has("interaction_id"))
}

fn names_ask_user(object: &Map) -> bool {
    NAMING_KEYS.into_iter().any(|key| object.get(key).and_then(Value::as_str) == Some("ask_user"))
}

/// Free-form parts are kept whole or not at all.
fn fits(value: &Value, limits: &Limits) -> bool {
    json_text(value).len() <= limits.prompt_bytes
}

/// The keys by which an object is called `ask_user`.
const NAMING_KEYS: [&str; 3] = ["action", "type", "outcome"];
/// The fields of a question that the core knows.
const QUESTION_FIELDS: [&str; 9] = [
    "prompt",
    "question",
    "kind",
    "options",
    "ui_hints",
    "default_decision_policy",
    "required_fields",
    "context",
    "interaction_id",
];
