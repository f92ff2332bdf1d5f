//! What an agent of the Agent Client Protocol (version 1) writes: JSON-RPC, one message a line.

use crate::agents::Usage;
use crate::agents::failure::Failure;
use crate::agents::rows::{as_text, at, number_at, others_words, text_at, words_of};
use crate::agents::turn::{Turn, is_session};
use crate::json::Item;
use crate::json::json_text;
use crate::types::codes::Code;

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
            let (session, words) = (json_text(session), json_text(&words));
            let parameters = format!("{{\"sessionId\":{session},\"prompt\":[{{\"type\":\"text\",\"text\":{words}}}]}}");
            return self.request("session/prompt", &parameters);
        }
        self.first_words = Some(words.to_owned());
        if begins { self.request("initialize", INITIALIZE) } else { String::new() }
    }

    /// Whether a row may say something here. An answer must be the one to what was asked last: a late or forged one would
    /// end a turn that goes on. An agent that could not read a request answers it without its id.
    fn expects(&self, row: Item<'_>) -> bool {
        let is_answer = row.get("method").is_none();
        let id = row.get("id");
        let is_unread = id.is_none_or(Item::is_null) && row.get("error").is_some();
        let is_last = id.and_then(Item::as_u64).is_some_and(|id| Some(id) == self.requests.checked_sub(1));
        !self.is_asking || !is_answer || is_unread || is_last
    }

    /// Answers what the agent wrote, if it waits for an answer.
    pub(crate) fn answer(&mut self, row: Item<'_>, work_folder: &str) {
        if !self.expects(row) {
            return;
        }
        if let (Some(method), Some(id)) = (text_at(row, &["method"]), row.get("id")) {
            let answer = answer_of(&method, row.get("params"));
            self.answers.push(format!("{{\"jsonrpc\":\"2.0\",\"id\":{},{answer}}}\n", json_text(&id.built())));
            return;
        }
        let Some(result) = row.get("result").filter(|_| self.session.is_none()) else { return };
        let written = if let Some(session) = text_at(result, &["sessionId"]) {
            self.session = Some(session.into_owned());
            self.first_words.take().map(|words| self.prompt(&words))
        } else if result.get("protocolVersion").is_some() {
            let parameters = format!("{{\"cwd\":{},\"mcpServers\":[]}}", json_text(&work_folder));
            Some(self.request("session/new", &parameters))
        } else {
            None
        };
        self.answers.extend(written);
    }

    pub(crate) fn take_answers(&mut self) -> Vec<String> {
        std::mem::take(&mut self.answers)
    }

    fn request(&mut self, method: &str, parameters: &str) -> String {
        let id = self.requests;
        self.requests += 1;
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{parameters}}}\n")
    }
}

/// The agent runs without anybody at its side, as its command line says: what it asks leave for is given.
fn answer_of(method: &str, parameters: Option<Item<'_>>) -> String {
    if method != "session/request_permission" {
        return "\"error\":{\"code\":-32601,\"message\":\"this client has no such method\"}".to_owned();
    }
    let options = parameters.and_then(|parameters| parameters.get("options")).and_then(Item::items);
    let allows = |option: &Item<'_>| text_at(*option, &["kind"]).is_some_and(|kind| kind.starts_with("allow"));
    let allowed = options.into_iter().flatten().find(allows).and_then(|option| text_at(option, &["optionId"]));
    let outcome = match allowed {
        Some(option) => format!("{{\"outcome\":\"selected\",\"optionId\":{}}}", json_text(&option)),
        None => "{\"outcome\":\"cancelled\"}".to_owned(),
    };
    format!("\"result\":{{\"outcome\":{outcome}}}")
}

/// Takes a row, in a conversation if there is one; says whether it is one that is known.
pub(crate) fn row(turn: &mut Turn, row: Item<'_>, conversation: Option<&Conversation>) -> bool {
    if !conversation.is_none_or(|conversation| conversation.expects(row)) {
        return false;
    }
    if let Some(method) = text_at(row, &["method"]) {
        return match method.as_ref() {
            "session/update" => {
                let session = text_at(row, &["params", "sessionId"]);
                let asked_for = conversation.and_then(|conversation| conversation.session.as_deref());
                let is_own = turn.owns(session.as_deref()) && is_session(asked_for, session.as_deref());
                at(row, &["params", "update"]).is_some_and(|told| update(turn, told, is_own))
            }
            // The agent asks its client for something; that is the host's to answer.
            _ => row.get("id").is_some() || method.starts_with('_'),
        };
    }
    if let Some(error) = row.get("error") {
        turn.is_over = true;
        let mut failure = Failure::of_error(Some(error));
        match error.get("code").and_then(Item::as_i64) {
            Some(AUTH_REQUIRED) => failure.code = Code::AuthRequired,
            // The request itself was not right, such as one for a session that is not there.
            Some(NOT_FOUND | -32602..=-32600) => failure.code = Code::ProcessFailed,
            _ => {}
        }
        turn.fail(failure);
        return true;
    }
    let Some(result) = row.get("result") else { return false };
    turn.session(text_at(result, &["sessionId"]).as_deref());
    if let Some(reason) = text_at(result, &["stopReason"]) {
        turn.is_over = true;
        match reason.as_ref() {
            "cancelled" => turn.fail(Failure { code: Code::Interrupted, words: String::new() }),
            "refusal" => turn.fail(Failure { code: Code::ModelError, words: "refusal".to_owned() }),
            _ => {}
        }
        spend(turn, result);
    }
    true
}

/// The protocol says nothing of tokens; these two are what agents write.
fn spend(turn: &mut Turn, result: Item<'_>) {
    let quota = |name: &str| number_at(result, &["_meta", "quota", "token_count", name]);
    let tokens = |name: &str| number_at(result, &["usage", name]);
    if let Some(input_tokens) = tokens("inputTokens").or_else(|| quota("input_tokens")) {
        turn.spend(Usage {
            input_tokens,
            output_tokens: tokens("outputTokens").or_else(|| quota("output_tokens")).unwrap_or(0),
            cached_input_tokens: tokens("cachedReadTokens"),
        });
    }
}

fn update(turn: &mut Turn, update: Item<'_>, is_own: bool) -> bool {
    let content = update.get("content");
    let words = || content.map(others_words).unwrap_or_default();
    match text_at(update, &["sessionUpdate"]).unwrap_or_default().as_ref() {
        "agent_message_chunk" if is_own => turn.say_piece(&content.map(words_of).unwrap_or_default()),
        // An agent that the agent asked.
        "agent_message_chunk" => turn.other_piece("tool", &words()),
        "agent_thought_chunk" => turn.other_piece("reasoning", &words()),
        "user_message_chunk" => turn.other_piece("user", &words()),
        "tool_call" => {
            let input = || as_text(update.get("rawInput"));
            turn.other("tool", || format!("{} {}", as_text(update.get("title")), input()).into());
        }
        "tool_call_update" => turn.other("tool", || as_text(content.or(update.get("rawOutput")))),
        "plan"
        | "available_commands_update"
        | "current_mode_update"
        | "config_option_update"
        | "session_info_update"
        | "usage_update" => {}
        _ => return false,
    }
    true
}

const INITIALIZE: &str = r#"{"protocolVersion":1,"clientCapabilities":{}}"#;
const AUTH_REQUIRED: i64 = -32000;
const NOT_FOUND: i64 = -32002;
