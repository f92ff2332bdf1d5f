//! turnlatch decides when an AI agent's turn is done, when it must wait for a person, and what happens next.
//!
//! ```text
//!             Event + now               (next State, effects)              Effect
//!   host ───────────────────▶  Run::apply ── transition::step ──▶ Run ───────────────▶ host
//!   slots, clock, processes,      │   pure, total, deterministic            performs them in order,
//!   users, storage                └─ asks gate / wait / replies             answers with new Events
//! ```
//!
//! The core reads no clock, does no I/O and starts nothing: the same plan and the same events give the same states and
//! effects, byte for byte, in every runtime.
//!
//! ```
//! use serde_json::json;
//! use turnlatch::{Event, HostSettings, Mode, Reply, Run, RunRequest, Skill, Status, Timestamp, TurnReport, admit};
//!
//! let schema = json!({"type": "object", "required": ["file"], "properties": {"file": {"type": "string"}}});
//! let skill = Skill::new().modes([Mode::Auto, Mode::Interactive]).output_schema(schema);
//! let request = RunRequest::new("r1", "codex").mode(Mode::Interactive);
//! let host = HostSettings::with_engines(["codex"]);
//! let now = Timestamp::from_millis(1_771_200_000_000).ok_or("time")?;
//!
//! let (mut run, _acquire_slot) = Run::create(admit(&skill, &request, &host)?, now);
//! run.apply(Event::SlotGranted { slot_id: "r1/s1".into() }, now)?;
//! run.apply(Event::TurnFinished(TurnReport::with_text(1, "Which file?")), now)?;
//! assert_eq!(run.status(), Status::WaitingUser);
//!
//! run.reply(Reply::text(1, "the second"), now)?;
//! run.apply(Event::SlotGranted { slot_id: "r1/s2".into() }, now)?;
//! let done = r#"{"file": "b.txt", "__SKILL_DONE__": true}"#;
//! run.apply(Event::TurnFinished(TurnReport::with_text(2, done)), now)?;
//! assert_eq!(run.status_view().data_text.as_deref(), Some(r#"{"file": "b.txt"}"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Reading order
//! 1. [`types`]: the data that crosses the boundary, such as [`Event`], [`Effect`] and [`Receipt`].
//! 2. [`admission`]: how a [`Skill`] and a [`RunRequest`] become a [`Plan`], or an [`AdmissionError`] with every problem.
//! 3. [`lifecycle`]: the [`Run`] and its state machine. [`turn`]: what a finished turn means, with [`agents`] (their streams),
//!    [`json`] (strict, and found in prose) and [`schema`] (outputs) below it.
//! 4. [`persist`]: snapshots and the [`Journal`]. [`inspect`]: what clients and operators see. [`hosting`]: what every host asks.
//!
//! Imports point one way: types <- json <- schema, agents <- admission <- turn <- lifecycle <- persist <- inspect, hosting.
//!
//! # Features
//! All are on by default: `schema-engine` (without it no turn is checked against a schema), `streams` (decoders of agents'
//! output), `observe` (measurements with each step) and `flat-documents` (outputs are checked without a tree of them).

pub mod admission;
#[cfg(feature = "streams")]
pub mod agents;
pub mod hosting;
pub mod inspect;
pub mod json;
pub mod lifecycle;
pub mod persist;
pub mod schema;
pub mod text;
pub mod turn;
pub mod types;

#[doc(inline)]
pub use admission::{AdmissionError, HostSettings, Plan, Problem, RunRequest, Skill, admit};
#[cfg(feature = "streams")]
#[doc(inline)]
pub use agents::StreamDecoder;
#[doc(inline)]
pub use inspect::StatusView;
#[doc(inline)]
pub use lifecycle::Run;
#[doc(inline)]
pub use persist::Journal;
#[doc(inline)]
pub use types::{
    Action, Check, Code, Decision, Effect, Event, EventRejected, InteractionRecord, Limits, LoadError, Mode,
    PendingInteraction, Profile, Reason, Receipt, Reply, Status, Timestamp, Transition, TurnReport,
};
