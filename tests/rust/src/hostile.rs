//! What a bad day looks like: settings, events and texts that try to break the core.
//!
//! Plain functions of small numbers, without a random source: property tests, benchmarks and other runtimes draw the
//! numbers in their own way and meet the same cases.

mod plans;
mod texts;
mod throws;

pub use plans::{Setting, plans};
pub use texts::{HostileText, hostile_texts};
pub use throws::{Case, Seen, Throw, start_of_time, turn_outcome};
