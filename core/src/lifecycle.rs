//! The run: the only code that moves state.

pub(crate) mod history;
pub(crate) mod invariants;
#[cfg(feature = "observe")]
pub(crate) mod observe;
pub(crate) mod replies;
pub(crate) mod run;
pub(crate) mod transition;
pub(crate) mod wait;

pub use run::{OwnedResources, PendingEffects, Run};
