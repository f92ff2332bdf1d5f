//! The data that crosses the boundary: events, effects, plans, interactions, receipts, codes. No decisions.

pub(crate) mod codes;
pub(crate) mod decision;
pub(crate) mod effect;
pub(crate) mod event;
pub(crate) mod interaction;
pub(crate) mod limits;
pub(crate) mod load_error;
#[cfg(feature = "observe")]
pub(crate) mod observation;
pub(crate) mod plan;
pub(crate) mod receipt;
pub(crate) mod state;
pub(crate) mod stream;
pub(crate) mod strict;
pub(crate) mod tagged;
pub(crate) mod time;
pub(crate) mod transition;

pub use codes::{Code, CodeInfo, CodeKind, Note};
pub use decision::{
    Check, CheckResult, Decision, Evaluation, Evidence, Gate, Marker, OutputState, ProcessFailure, Reason, Source,
    Verdict, Violation,
};
pub use effect::{Action, Effect, Notification, ResumeFrom};
pub use event::{DONE_MARKER, DecidedTurn, Event, Message, Origin, Reply, TurnReport, Usage};
pub use interaction::{
    ChoiceOption, FreeForm, InteractionKind, InteractionRecord, PendingInteraction, Question, ResolutionMode,
};
pub use limits::Limits;
pub use load_error::LoadError;
#[cfg(feature = "observe")]
pub use observation::{DecisionSummary, Observation};
pub use plan::{InterruptedTurn, Mode, Profile, SoftCompletion};
pub use receipt::{EventRejected, Receipt, ReceiptKind, Resolved};
pub use state::{Outcome, RunError, Status};
pub use stream::{Stream, StreamFormat};
pub use time::Timestamp;
pub use transition::{JournalEntry, Transition};
