//! What a finished turn means: its evidence, the question it asks, and the completion gates.

pub(crate) mod evidence;
pub(crate) mod gate;
pub(crate) mod patch;
pub(crate) mod question;
pub(crate) mod yaml;

pub use patch::{InstructionTemplate, append_instructions};
