//! The data that crosses the boundary: events, effects, plans, interactions, receipts, codes. No decisions.

pub(crate) mod codes;
pub(crate) mod effect;
pub(crate) mod event;
pub(crate) mod interaction;
pub(crate) mod limits;
pub(crate) mod load_error;
pub(crate) mod plan;
pub(crate) mod receipt;
pub(crate) mod state;
pub(crate) mod stream;
pub(crate) mod tagged;
pub(crate) mod time;
