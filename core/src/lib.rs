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
//! use turnlatch::{Event, HostSettings, Manifest, Reply, Run, RunRequest, Status, Timestamp, TurnReport, admit};
//!
//! let skill = Manifest::new(r#"{"execution_modes": ["auto", "interactive"]}"#)
//!     .with_output_schema(r#"{"type": "object", "required": ["file"], "properties": {"file": {"type": "string"}}}"#);
//! let request = RunRequest(r#"{"run_id": "r1", "engine": "codex", "execution_mode": "interactive"}"#.into());
//! let host = HostSettings { engines: vec!["codex".into()], ..HostSettings::default() };
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
//! Vocabulary: `time`, `codes`, `limits`, `read`, `write`, `event`, `effect`, `state`, `interaction`, `plan`, `receipt`.
//! Decisions: `admission`, `schema`, `json`, `evidence`, `ask_user`, `yaml`, `gate`, `wait`, `replies`, `patch`.
//! Machine: `transition`, `run`, `invariants`, `storage`, `snapshot`, `journal`.
//! Answers: `views`, `explain`, `timeline`, `observe`, `hosting`, `job`.

// vocabulary: plain data, no decisions
mod codes;
mod effect;
mod event;
mod interaction;
mod limits;
mod plan;
mod read;
mod receipt;
mod state;
mod text;
mod time;
mod wire;
mod write;
// decisions: pure functions, no state
mod admission;
mod ask_user;
mod evidence;
mod gate;
mod json;
mod patch;
mod replies;
mod schema;
#[cfg(feature = "streams")]
mod stream;
mod wait;
mod yaml;
// machine: the only code that moves state
mod history;
mod invariants;
mod journal;
mod run;
mod snapshot;
mod storage;
mod transition;
// answers
mod explain;
mod hosting;
mod job;
#[cfg(feature = "observe")]
mod observe;
mod timeline;
mod views;

pub use admission::{HostSettings, Manifest, Problem, Refusal, RunRequest, SkillView, admit, describe_skill};
pub use codes::{Code, CodeInfo, CodeKind, Note};
pub use effect::{Action, Effect, Notice, ResumeFrom};
pub use event::{Event, Message, PlainMember, RecordedTurn, Reply, TurnReport, Usage};
pub use evidence::{DONE_MARKER, Evidence, Marker, OutputState, Source};
#[doc(hidden)]
pub use explain::reading_steps;
pub use explain::{Explanation, WhyNot, evaluate_turn};
pub use gate::{Decision, GateCheck, GateResult, Judged, Verdict};
pub use hosting::{Attach, Due, Found, GivenUp, Perform, Resumption, run_of_slot, unreadable_report};
pub use interaction::{
    ChoiceOption, FreeForm, InteractionKind, InteractionRecord, PendingInteraction, Question, ResolutionMode,
};
pub use job::{Job, RequestKind, read_job, request_event};
pub use journal::{JOURNAL_VERSION, Journal, JournalEntry, JudgedParts, Replayed, replay};
pub use json::{Document, Map, Value, parse_json};
pub use limits::Limits;
#[cfg(feature = "observe")]
pub use observe::{Observation, Ruled};
pub use patch::{PatchWording, patch_skill};
pub use plan::{ExecutionMode, InterruptedTurn, PlanSettings, Profile, RunPlan, SoftCompletion};
pub use receipt::{Receipt, ReceiptKind, Rejected, Resolved};
pub use run::{Applied, Keep, Outstanding, Prepared, Run};
#[cfg(feature = "host-validator")]
pub use schema::use_schema_engine;
pub use schema::{Check, OutputSchema, SchemaEngine, SchemaProblem, SchemaValidator, Violation};
pub use snapshot::SNAPSHOT_VERSION;
pub use state::{Outcome, RunError, Status};
pub use storage::LoadError;
#[cfg(feature = "streams")]
pub use stream::{Decoded, Piece, Progress, Sticky, Stream, StreamDecoder, StreamFormat, decode_stream};
pub use text::display_text;
pub use time::Timestamp;
pub use timeline::{Actor, Step};
pub use views::{Allowed, AllowedRequest, InteractionView, OptionView, PendingView, StatusView};
pub use write::{Writable, Writer, json_text, json_value, push_json};
