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
//! `types` is the data; `lifecycle::transition` is the state machine; `turn` says what a finished turn means, `admission` how a
//! skill and a request become a plan. Imports point one way:
//! types <- json <- schema, agents <- admission <- turn <- lifecycle <- persist <- inspect, hosting.

mod admission;
#[cfg(feature = "streams")]
mod agents;
mod hosting;
mod inspect;
mod json;
mod lifecycle;
mod persist;
mod schema;
mod text;
mod turn;
mod types;

pub use admission::plan::{Plan, PlanSettings};
pub use admission::{
    AdmissionError, HostSettings, InteractiveProfile, Problem, RunRequest, SchemaTexts, Skill, SkillView, admit,
    describe_skill,
};
#[cfg(feature = "streams")]
pub use agents::{Decoded, Piece, Progress, Sticky, StreamDecoder, decode_stream};
pub use hosting::job::{Job, RequestKind, read_job, request_event};
pub use hosting::{
    Attach, EffectStatus, Perform, RecoveryFacts, RecoveryPlan, RetriesExhausted, run_of_slot, unreadable_report,
};
#[doc(hidden)]
pub use inspect::explain::reading_steps;
pub use inspect::explain::{Explanation, WhyNot, evaluate_turn};
pub use inspect::timeline::TimelineEntry;
pub use inspect::views::{Allowed, AllowedRequest, InteractionView, OptionView, PendingView, StatusView};
pub use json::{Document, Map, Value, json_text, parse_json};
pub use lifecycle::run::{OwnedResources, PendingEffects, Run};
pub use persist::journal::{JOURNAL_VERSION, Journal, Replayed, replay};
pub use persist::snapshot::SNAPSHOT_VERSION;
#[cfg(feature = "host-validator")]
pub use schema::use_schema_engine;
pub use schema::{Check as SchemaCheck, OutputSchema, SchemaEngine, SchemaProblem, SchemaValidator};
pub use text::display_text;
pub use turn::patch::{InstructionTemplate, append_instructions};
pub use types::codes::{Code, CodeInfo, CodeKind, Note};
pub use types::decision::{
    Check, CheckResult, Decision, Evaluation, Evidence, Gate, Marker, OutputState, ProcessFailure, Reason, Source,
    Verdict, Violation,
};
pub use types::effect::{Action, Effect, Notification, ResumeFrom};
pub use types::event::{DONE_MARKER, Event, Message, Origin, Reply, TurnReport, Usage};
pub use types::interaction::{
    ChoiceOption, FreeForm, InteractionKind, InteractionRecord, PendingInteraction, Question, ResolutionMode,
};
pub use types::limits::Limits;
pub use types::load_error::LoadError;
#[cfg(feature = "observe")]
pub use types::observation::{DecisionSummary, Observation};
pub use types::plan::{InterruptedTurn, Mode, Profile, SoftCompletion};
pub use types::receipt::{EventRejected, Receipt, ReceiptKind, Resolved};
pub use types::state::{Outcome, RunError, Status};
pub use types::stream::{Stream, StreamFormat};
pub use types::time::Timestamp;
pub use types::transition::{JournalEntry, Transition};
