//! The run: the only code that moves state.

pub(crate) mod history;
pub(crate) mod invariants;
pub(crate) mod replies;
pub(crate) mod run;
pub(crate) mod transition;
pub(crate) mod wait;
