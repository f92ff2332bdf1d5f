//! What a schema may cost: what is refused before it is compiled, and how much work a check may be.

pub(crate) mod graph;
pub(crate) mod limits;
pub(crate) mod model;
pub(crate) mod pattern;
