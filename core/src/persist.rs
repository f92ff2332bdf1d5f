//! Runs as documents: snapshots, the chained journal and its replay, digests.

pub(crate) mod digest;
pub(crate) mod journal;
pub(crate) mod snapshot;

pub use journal::{JOURNAL_VERSION, Journal, Replayed, replay};
pub use snapshot::SNAPSHOT_VERSION;
