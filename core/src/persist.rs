//! Runs as documents: snapshots, the chained journal and its replay, digests.

pub(crate) mod digest;
pub(crate) mod journal;
pub(crate) mod snapshot;
