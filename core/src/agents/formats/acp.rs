//! What an agent of the Agent Client Protocol (version 1) writes: JSON-RPC, one message a line.

use serde::Deserialize;
use serde_json::json;

use super::{EndOfTurn, Format, ROWS};
use crate::agents::Sticky;
use crate::agents::content::{Block, TokenUsage};
use crate::agents::failure::{ErrorField, Failure};
use crate::agents::row::{Json, Lenient, Object, Row, Shown, Text};
use crate::agents::turn::{Turn, is_session};
use crate::json::Value;
use crate::types::codes::Code;

pub(super) const FORMAT: Format =
    Format { row, sticky_row: Some(sticky_row), end_of_turn: Some(EndOfTurn::Row), prompt, ..ROWS };

fn row(turn: &mut Turn, row: &Row<'_>) -> Option<()> {
    message(turn, row, &row.read()?, None)
}

fn sticky_row(turn: &mut Turn, row: &Row<'_>, sticky: &mut Sticky) -> Option<()> {
    let received = row.read()?;
    if !sticky.conversation.expects(&received) {
        return None;
    }
    let known = message(turn, row, &received, Some(&sticky.conversation));
    sticky.conversation.answer(&received, &sticky.work_folder);
    known
}

fn prompt(words: &str, sticky: &mut Sticky) -> String {
    sticky.conversation.prompt(words)
}

/// The client's side: what is written to the agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conversation {
    session: Option<String>,
    /// What is to be asked as soon as there is a session.
    first_words: Option<String>,
    requests: u64,
    /// Whether what the agent reads is written here, so that it is known what its answers are to.
    is_asking: bool,
    answers: Vec<String>,
}

impl Conversation {
    /// What to write to give the agent a prompt. Before the first, it is asked for a session.
    pub(crate) fn prompt(&mut self, words: &str) -> String {
        self.is_asking = true;
        let begins = self.requests == 0;
        if let Some(session) = &self.session {
            let parameters = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": words }] });
            return self.request("session/prompt", &parameters);
        }
        self.first_words = Some(words.to_owned());
        let initialize = json!({ "protocolVersion": 1, "clientCapabilities": {} });
        if begins { self.request("initialize", &initialize) } else { String::new() }
    }

    /// Whether a message counts here. A response must be the one to the last request: a late or forged one would end a turn
    /// that continues. An agent that could not read a request responds without its id.
    fn expects(&self, message: &Message<'_>) -> bool {
        let id = message.id.0.as_ref().map(|Json(id)| id.as_str()).filter(|id| *id != "null");
        let is_unread = id.is_none() && message.error.is_some();
        let is_last = id.and_then(|id| id.parse().ok()).is_some_and(|id: u64| Some(id) == self.requests.checked_sub(1));
        !self.is_asking || message.method.is_some() || is_unread || is_last
    }

    /// Answers what the agent wrote, if it waits for an answer.
    fn answer(&mut self, message: &Message<'_>, work_folder: &str) {
        if let (Some(method), Some(Json(id))) = (message.method.as_deref(), &message.id.0) {
            let (member, answer) = answer_of(method, &message.params);
            self.answers.push(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"{member}\":{answer}}}\n"));
            return;
        }
        let Some(result) = message.result.0.as_ref().filter(|_| self.session.is_none()) else { return };
        let written = if let Some(session) = result.session_id.as_deref() {
            self.session = Some(session.to_owned());
            self.first_words.take().map(|words| self.prompt(&words))
        } else if result.protocol_version.is_some() {
            Some(self.request("session/new", &json!({ "cwd": work_folder, "mcpServers": [] })))
        } else {
            None
        };
        self.answers.extend(written);
    }

    pub(crate) fn take_answers(&mut self) -> Vec<String> {
        std::mem::take(&mut self.answers)
    }

    fn request(&mut self, method: &str, parameters: &Value) -> String {
        let id = self.requests;
        self.requests += 1;
        format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }))
    }
}

/// The agent runs without a user at its side, as its command line says: the permissions that it asks for are granted.
fn answer_of(method: &str, parameters: &Params<'_>) -> (&'static str, Value) {
    if method != "session/request_permission" {
        return ("error", json!({ "code": -32601, "message": "this client has no such method" }));
    }
    let options = parameters.options.iter().flatten();
    let mut allowing = options.filter(|option| option.kind.as_str().starts_with("allow"));
    let outcome = match allowing.next().and_then(|option| option.option_id.as_deref()) {
        Some(option) => json!({ "outcome": "selected", "optionId": option }),
        None => json!({ "outcome": "cancelled" }),
    };
    ("result", json!({ "outcome": outcome }))
}

/// Decodes a message, in a conversation if there is one.
fn message(turn: &mut Turn, row: &Row<'_>, message: &Message<'_>, conversation: Option<&Conversation>) -> Option<()> {
    if let Some(method) = message.method.as_deref() {
        if method == "session/update" {
            let session = message.params.session_id.as_deref();
            let asked_for = conversation.and_then(|conversation| conversation.session.as_deref());
            let is_own = turn.owns(session) && is_session(asked_for, session);
            return update(turn, row, &message.params.update, is_own);
        }
        // A request is the host's to answer.
        return (message.id.is_some() || method.starts_with('_')).then_some(());
    }
    if let Some(error) = &message.error.0 {
        turn.is_over = true;
        let mut failure = Failure::from_error(&message.error);
        match *error.code {
            Some(AUTH_REQUIRED) => failure.code = Code::AuthRequired,
            // The request itself was invalid, such as one for an unknown session.
            Some(NOT_FOUND | -32602..=-32600) => failure.code = Code::ProcessFailed,
            _ => {}
        }
        turn.fail(failure);
        return Some(());
    }
    let result = message.result.0.as_ref()?;
    turn.session(result.session_id.as_deref());
    if let Some(reason) = result.stop_reason.as_deref() {
        turn.is_over = true;
        match reason {
            "cancelled" => turn.fail(Failure { code: Code::Interrupted, words: String::new() }),
            "refusal" => turn.fail(Failure { code: Code::ModelError, words: "refusal".to_owned() }),
            _ => {}
        }
        // The protocol has no field for tokens; agents use these two.
        let (usage, count) = (&result.usage, &result.meta.quota.token_count);
        let input = usage.input_tokens.or(*count.input_tokens);
        turn.spend(input, usage.output_tokens.or(*count.output_tokens), *usage.cached_read_tokens);
    }
    Some(())
}

fn update(turn: &mut Turn, row: &Row<'_>, chunk: &Chunk<'_>, is_own: bool) -> Option<()> {
    let words = || chunk.content.as_ref().map(Block::words).unwrap_or_default();
    match chunk.session_update.as_str() {
        "agent_message_chunk" if is_own => turn.say_piece(&words()),
        // A subagent's.
        "agent_message_chunk" => turn.other_piece("tool", &words()),
        "agent_thought_chunk" => turn.other_piece("reasoning", &words()),
        "user_message_chunk" => turn.other_piece("user", &words()),
        kind @ ("tool_call" | "tool_call_update") => {
            let ToolNotification { params } = row.read()?;
            let ToolCall { title, raw_input, content, raw_output } = params.0.update.0;
            match kind {
                "tool_call" => turn.tool_call(&title, &raw_input),
                _ => turn.other("tool", || if content.is_some() { content.into_cow() } else { raw_output.into_cow() }),
            }
        }
        "plan"
        | "available_commands_update"
        | "current_mode_update"
        | "config_option_update"
        | "session_info_update"
        | "usage_update" => {}
        _ => return None,
    }
    Some(())
}

/// A request, a response or a notification.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Message<'r> {
    method: Text<'r>,
    id: Lenient<Json>,
    params: Object<Params<'r>>,
    result: Lenient<Object<PromptResult<'r>>>,
    error: ErrorField<'r>,
}

/// Of `session/update` and `session/request_permission`.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'r"))]
struct Params<'r> {
    session_id: Text<'r>,
    update: Object<Chunk<'r>>,
    options: Lenient<Vec<Object<PermissionOption<'r>>>>,
}

/// An update of any kind, with the content of `agent_message_chunk`, `agent_thought_chunk` and `user_message_chunk`.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'r"))]
struct Chunk<'r> {
    session_update: Text<'r>,
    content: Lenient<Block<'r>>,
}

/// `session/update` with an update of a tool.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct ToolNotification<'r> {
    params: Object<ToolParams<'r>>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct ToolParams<'r> {
    update: Object<ToolCall<'r>>,
}

/// `tool_call` and `tool_call_update`.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'r"))]
struct ToolCall<'r> {
    title: Shown<'r>,
    raw_input: Shown<'r>,
    content: Shown<'r>,
    raw_output: Shown<'r>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'r"))]
struct PermissionOption<'r> {
    kind: Text<'r>,
    option_id: Text<'r>,
}

/// What `initialize`, `session/new` or `session/prompt` results in.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'r"))]
struct PromptResult<'r> {
    protocol_version: Lenient<Json>,
    session_id: Text<'r>,
    stop_reason: Text<'r>,
    usage: Object<Usage>,
    #[serde(rename = "_meta")]
    meta: Object<Meta>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Usage {
    input_tokens: Lenient<u64>,
    output_tokens: Lenient<u64>,
    cached_read_tokens: Lenient<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Meta {
    quota: Object<Quota>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Quota {
    token_count: Object<TokenUsage>,
}

const AUTH_REQUIRED: i64 = -32000;
const NOT_FOUND: i64 = -32002;
