//! The plan of a run: every setting resolved. Made by admission, or read back from a snapshot; never changed.

use serde::Deserialize;

use crate::codes::{Code, Note};
use crate::json;
use crate::limits::Limits;
use crate::read::read;
use crate::schema::OutputSchema;
use crate::storage::LoadError;
use crate::wire::{names, record};

/// An admitted run's settings.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunPlan {
    /// The run's id, chosen by the host.
    pub run_id: String,
    /// The engine that runs the turns.
    pub engine: String,
    /// Whether anybody may be asked.
    pub execution_mode: ExecutionMode,
    /// Strict: only a person's reply goes on (`interactive_require_user_reply`).
    pub require_user_reply: bool,
    /// How long a wait lasts where it has a deadline.
    pub session_timeout_sec: u64,
    /// What happens to the process while the run waits.
    pub profile: Profile,
    /// How many turns an interactive run may take.
    pub max_attempt: Option<u32>,
    /// When a valid output without a marker completes an interactive run.
    pub soft_completion: SoftCompletion,
    /// What happens to a turn whose process was lost.
    pub interrupted_turn: InterruptedTurn,
    /// Paths that must exist for the run to succeed.
    pub required_artifacts: Vec<String>,
    /// What the output must look like.
    pub output_schema: Option<OutputSchema>,
    /// Sizes beyond which input is refused or cut.
    pub limits: Limits,
    /// What admission warned of.
    pub warnings: Vec<Note>,
}

record!(RunPlan {
    run_id,
    engine,
    execution_mode,
    require_user_reply,
    session_timeout_sec,
    profile,
    max_attempt,
    soft_completion,
    interrupted_turn,
    required_artifacts,
    output_schema,
    limits,
    warnings
});

/// Whether a run may ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionMode {
    /// Nobody is asked.
    #[default]
    Auto,
    /// The run may wait for a person.
    Interactive,
}

names!(ExecutionMode { "auto" => Auto, "interactive" => Interactive });

/// What happens to the agent's process while a run waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// It ends; the next turn resumes the agent's session.
    #[default]
    Resumable,
    /// It lives on, keeps its slot, and takes the reply.
    StickyProcess,
}

names!(Profile { "resumable" => Resumable, "sticky_process" => StickyProcess });

/// When a valid output without a marker completes an interactive run (GATE-5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SoftCompletion {
    /// Unless the same turn asks something or says that it is not done.
    #[default]
    UnlessAsking,
    /// Always.
    Always,
    /// Never.
    Never,
}

names!(SoftCompletion { "unless_asking" => UnlessAsking, "always" => Always, "never" => Never });

/// What happens to a turn whose process was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InterruptedTurn {
    /// The run fails.
    #[default]
    Fail,
    /// The turn is run again under the same number.
    Retry,
}

names!(InterruptedTurn { "fail" => Fail, "retry" => Retry });

/// The wait of a run that asks nothing special: 20 minutes.
pub(crate) const DEFAULT_SESSION_TIMEOUT_SEC: u64 = 1200;

impl ExecutionMode {
    /// The mode on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ExecutionMode::Auto => "auto",
            ExecutionMode::Interactive => "interactive",
        }
    }
}

impl RunPlan {
    /// Reads a plan back from its JSON text, as a snapshot holds it.
    ///
    /// # Errors
    /// `SNAPSHOT_INVALID` with the place.
    pub fn from_json(text: &str) -> Result<RunPlan, LoadError> {
        let plan = json::parse_value(text, Limits::MAX_JSON_DEPTH)
            .map_err(|fault| LoadError::new(Code::SnapshotInvalid, "the document", fault.to_string()))?;
        read(plan).map_err(|misread| misread.load_error(Code::SnapshotInvalid))
    }

    pub(crate) fn is_interactive(&self) -> bool {
        self.execution_mode == ExecutionMode::Interactive
    }
}
