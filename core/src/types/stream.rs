//! What an agent's process printed, before it is decoded.

use serde::{Deserialize, Serialize};

/// Everything that an agent's process printed in a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// How it is written.
    pub format: StreamFormat,
    /// What it printed.
    pub stdout: String,
    /// What it complained of. Nothing is decided by it, but by [`StreamFormat::GeminiJson`], which reports failures there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// How the process ended; absent while it stays alive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
}

/// How an agent's command line writes its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StreamFormat {
    /// Everything is the assistant's text.
    #[default]
    Text,
    /// JSON lines with `role` and `text` (or `content`); a line that is none of these is never the assistant's.
    Ndjson,
    /// `codex exec --json`.
    CodexJsonl,
    /// `claude --print --output-format stream-json --verbose`.
    ClaudeStreamJson,
    /// `qwen --output-format stream-json`: Claude's rows, but an error is reported in the assistant's text alone.
    QwenStreamJson,
    /// `gemini --output-format stream-json`.
    GeminiStreamJson,
    /// `gemini --output-format json`: one object, at the end; of a failed turn at the end of stderr.
    GeminiJson,
    /// `opencode run --format json`.
    OpencodeJson,
    /// `pi --print --mode json`.
    PiJson,
    /// What an agent of the Agent Client Protocol answers: one process for many turns.
    Acp,
}
