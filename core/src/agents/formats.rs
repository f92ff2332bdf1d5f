//! What the rows of each agent CLI mean, a file for each format.

pub(crate) mod acp;
pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod gemini;
pub(crate) mod ndjson;
pub(crate) mod opencode;
pub(crate) mod pi;
