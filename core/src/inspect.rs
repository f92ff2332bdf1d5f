//! What clients, operators and metrics see of a run, and why.

pub(crate) mod explain;
#[cfg(feature = "observe")]
pub(crate) mod observation;
pub(crate) mod timeline;
pub(crate) mod views;
