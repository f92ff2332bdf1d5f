//! What clients and operators see of a run, and why.

pub(crate) mod explain;
pub(crate) mod timeline;
pub(crate) mod views;
