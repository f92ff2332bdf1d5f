//! The words of the model: what a run is, what can happen to it, and what it asks of its host.

use crate::gate::{Report, Soft};
use crate::replies::{Receipt, Reply};

/// What was settled when the run was made.
#[expect(clippy::struct_excessive_bools, reason = "each is a column of a table in the spec, and all are combined")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// Somebody may be asked (else `auto`).
    pub interactive: bool,
    /// The process lives on while the run waits (`sticky_process`, else `resumable`).
    pub sticky: bool,
    /// Only a person's reply goes on.
    pub strict: bool,
    /// An interrupted turn is run again.
    pub retry: bool,
    /// Outputs are checked by a schema.
    pub schema: bool,
    /// Whether a valid output without the marker completes.
    pub soft: Soft,
    /// How many turns there may be.
    pub max_attempt: Option<u8>,
    /// How many questions there may be.
    pub question_limit: Option<u8>,
}

impl Settings {
    /// The plainest run: interactive, resumable, strict, with a schema and no limits.
    pub const PLAIN: Settings = Settings {
        interactive: true,
        sticky: false,
        strict: true,
        retry: false,
        schema: true,
        soft: Soft::UnlessAsking,
        max_attempt: None,
        question_limit: None,
    };

    /// Section 6: every wait has a deadline but the strict, resumable one.
    #[must_use]
    pub fn has_deadline(&self) -> bool {
        self.sticky || !self.strict
    }
}

/// One run. Slots, turns and questions are numbered from 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// Where it is.
    pub phase: Phase,
    /// How many slots it has asked for.
    pub slots: u8,
    /// The last turn that was started; 0 before the first.
    pub started: u8,
    /// The questions that are resolved, in order.
    pub history: Vec<Record>,
}

/// Where a run is, with what it has there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// A slot was asked for, and the turn that will start in it.
    Queued { slot: u8, attempt: u8 },
    /// A turn is under way.
    Running { slot: u8, attempt: u8, begun_by: Begin },
    /// A question is pending. A sticky process keeps its slot.
    Waiting { slot: Option<u8>, attempt: u8, question: u8 },
    /// The run has ended, after so many turns.
    Ended { attempt: u8, status: Status, code: Option<Code>, soft: bool },
}

/// How a turn began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Begin {
    /// By a new process.
    Start,
    /// By a reply to the process of the turn before.
    Inject,
}

/// A phase without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    Queued,
    Running,
    WaitingUser,
    Succeeded,
    Failed,
    Canceled,
}

/// How a question ended (HIST-1), with the key and the answer of a user's reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The question's number.
    pub question: u8,
    /// What ended it.
    pub resolution: Resolution,
}

/// What ended a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resolution {
    UserReply { key: Option<u8>, answer: u8 },
    AutoDecideTimeout,
    Canceled,
    Expired,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event {
    SlotGranted {
        slot: u8,
    },
    TurnFinished {
        attempt: u8,
        slot: Option<u8>,
        report: Report,
    },
    Reply(Reply),
    /// `due` is whether the deadline of the pending question has passed: the clock says it, not the timer.
    TimerFired {
        question: u8,
        due: bool,
    },
    ProcessLost {
        attempt: u8,
        slot: Option<u8>,
    },
    Cancel,
    /// One of these at a time when the deadline of the pending question has passed and its timer has not been delivered.
    Late(Late),
}

/// What may come between a deadline and its timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Late {
    SlotGranted { slot: u8 },
    TurnFinished { attempt: u8, slot: Option<u8> },
    Reply(Reply),
    ProcessLost { attempt: u8, slot: Option<u8> },
    Cancel,
}

impl From<Late> for Event {
    fn from(late: Late) -> Event {
        match late {
            Late::SlotGranted { slot } => Event::SlotGranted { slot },
            Late::TurnFinished { attempt, slot } => Event::TurnFinished { attempt, slot, report: Report::DONE },
            Late::Reply(reply) => Event::Reply(reply),
            Late::ProcessLost { attempt, slot } => Event::ProcessLost { attempt, slot },
            Late::Cancel => Event::Cancel,
        }
    }
}

/// Something the host must do. `notify` is for observers and is left to [`crate::script`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effect {
    AcquireSlot {
        slot: u8,
    },
    ReleaseSlot {
        slot: u8,
    },
    /// `answers` is the question whose reply the turn goes on from.
    StartTurn {
        attempt: u8,
        slot: u8,
        answers: Option<u8>,
    },
    InjectReply {
        attempt: u8,
        slot: u8,
        question: u8,
    },
    TerminateProcess {
        attempt: u8,
        slot: u8,
    },
    SetTimer {
        question: u8,
    },
    CancelTimer {
        question: u8,
    },
}

/// Why a run ended, or why a request was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(pub &'static str);

/// What comes of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The run afterwards.
    pub run: Run,
    /// What the host must do, in order.
    pub effects: Vec<Effect>,
    /// What a request is answered with.
    pub receipt: Option<Receipt>,
    /// Why the event was rejected, if it is no request.
    pub rejected: Option<Code>,
    /// What the deadline did before the event was looked at: the status then, and how many of the effects are its own.
    pub deadline: Option<(Status, usize)>,
    /// The row of the spec that decided.
    pub rule: &'static str,
}

/// The slot of somebody else's run.
pub const FOREIGN_SLOT: u8 = 99;

impl Run {
    /// ARROW-1.
    #[must_use]
    pub fn created() -> Run {
        Run { phase: Phase::Queued { slot: 1, attempt: 1 }, slots: 1, started: 0, history: Vec::new() }
    }

    /// The phase without its data.
    #[must_use]
    pub fn status(&self) -> Status {
        match self.phase {
            Phase::Queued { .. } => Status::Queued,
            Phase::Running { .. } => Status::Running,
            Phase::Waiting { .. } => Status::WaitingUser,
            Phase::Ended { status, .. } => status,
        }
    }

    /// The turn that is asked for, under way, or was the last one.
    #[must_use]
    pub fn attempt(&self) -> u8 {
        match self.phase {
            Phase::Queued { attempt, .. }
            | Phase::Running { attempt, .. }
            | Phase::Waiting { attempt, .. }
            | Phase::Ended { attempt, .. } => attempt,
        }
    }

    /// The question that waits for its answer.
    #[must_use]
    pub fn pending(&self) -> Option<u8> {
        match self.phase {
            Phase::Waiting { question, .. } => Some(question),
            _ => None,
        }
    }

    /// The slot asked for or held.
    #[must_use]
    pub fn slot(&self) -> Option<u8> {
        match self.phase {
            Phase::Queued { slot, .. } | Phase::Running { slot, .. } => Some(slot),
            Phase::Waiting { slot, .. } => slot,
            Phase::Ended { .. } => None,
        }
    }

    /// Whether nothing can happen to it any more.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended { .. })
    }
}
