//! A second opinion on the core, from the spec alone.
//!
//! - [`words`] has the data; [`lifecycle`] is what a run does, [`gate`] what a finished turn means, [`replies`] what a
//!   reply is answered with, and [`hosting`] what a host is told after a restart: all of it written from
//!   `docs/spec.md`, without a line of the core.
//! - [`world`] is what surrounds one or two such runs, [`host`] what a host does there, and [`search`] what can happen
//!   next when everything goes wrong that can. [`steps`] and [`invariants`] say what must hold, and [`faults`] breaks
//!   the design on purpose, to see that it would be noticed.
//! - [`walk`] lists every transition of the lifecycle, and [`script`] writes them down as vectors, in the [`wording`] of
//!   the wire, which are then driven through the real core.

pub mod faults;
pub mod gate;
pub mod host;
pub mod hosting;
pub mod invariants;
pub mod lifecycle;
pub mod replies;
pub mod script;
pub mod search;
pub mod steps;
pub mod walk;
pub mod wording;
pub mod words;
pub mod world;
