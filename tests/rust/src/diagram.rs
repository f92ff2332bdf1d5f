//! The diagram of section 3 and the tables beside it, as data: written from the spec, and the judge of the core.

use std::fmt;

use turnlatch::Status::{self, Canceled, Failed, Queued, Running, Succeeded, WaitingUser};

use crate::hostile::Setting;

/// One variant of an arrow. What no row speaks of must not move a run.
pub struct Arrow {
    /// The arrow's id in the spec.
    pub id: &'static str,
    /// Where it starts.
    pub from: Status,
    /// What happens, by the name of the stimulus.
    pub on: &'static str,
    /// For which settings, and whether the attempt is the last one allowed.
    pub when: fn(&Setting, bool) -> bool,
    /// Where it leads.
    pub to: Status,
    /// The error's code; empty where there is none.
    pub code: &'static str,
    /// What the host must do, in order, but for `notify`; see [`effects`].
    pub effects: &'static str,
}

impl fmt::Debug for Arrow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.from.as_str(), self.to.as_str());
        write!(formatter, "{}: {from} --{}--> {to} {}", self.id, self.on, self.code)
    }
}

impl Arrow {
    /// The arrow that a run must take, if there is one.
    ///
    /// # Panics
    /// If there are two: the diagram would not be a function.
    #[must_use]
    pub fn find(setting: &Setting, from: Status, on: &str, last: bool) -> Option<usize> {
        let fits = |arrow: &Arrow| arrow.from == from && arrow.on == on && (arrow.when)(setting, last);
        let found: Vec<usize> = (0..ARROWS.len()).filter(|index| fits(&ARROWS[*index])).collect();
        assert!(found.len() <= 1, "the diagram is not a function: {found:?}");
        found.first().copied()
    }
}

/// The effects of a row, for a setting: `a, b if sticky` is `a`, and `b` where the condition holds.
///
/// # Panics
/// If a row names a condition that there is not.
#[must_use]
pub fn effects(row: &'static str, setting: &Setting) -> Vec<&'static str> {
    let parts = row.split(", ").filter(|part| !part.is_empty());
    let holds = |part: &'static str| match part.split_once(" if ") {
        None => Some(part),
        Some((name, condition)) => match condition {
            "sticky" => setting.sticky,
            "resumable" => !setting.sticky,
            "deadline" => has_deadline(setting),
            other => panic!("unknown condition {other}"),
        }
        .then_some(name),
    };
    parts.filter_map(holds).collect()
}

/// Section 6: every wait has one but the strict, resumable one.
#[must_use]
pub fn has_deadline(setting: &Setting) -> bool {
    setting.sticky || !setting.strict
}

/// The six ways a turn of the walk can end.
pub const TURNS: [&str; 6] = [
    "turn: valid, with marker",
    "turn: invalid, with marker",
    "turn: valid, no marker",
    "turn: question",
    "turn: empty",
    "turn: process failed",
];

const fn arrow(
    id: &'static str,
    (from, on, to): (Status, &'static str, Status),
    when: fn(&Setting, bool) -> bool,
    code: &'static str,
    effects: &'static str,
) -> Arrow {
    Arrow { id, from, on, when, to, code, effects }
}

const END: &str = "terminate_process if sticky, release_slot";
const WAIT: &str = "release_slot if resumable, set_timer if deadline";
const CLOSE: &str = "cancel_timer if deadline, terminate_process if sticky, release_slot if sticky";

/// Every arrow but the first, which has no run to start from. The walk's skills have an output schema.
pub const ARROWS: [Arrow; 25] = [
    arrow("ARROW-2", (Queued, "slot_granted", Running), |_, _| true, "", "start_turn"),
    arrow("ARROW-3", (Running, TURNS[0], Succeeded), |_, _| true, "", END),
    arrow("ARROW-3", (Running, TURNS[2], Succeeded), |_, _| true, "", END),
    arrow("ARROW-4", (Running, TURNS[1], Failed), |_, _| true, "OUTPUT_SCHEMA_INVALID", END),
    arrow("ARROW-4", (Running, TURNS[5], Failed), |_, _| true, "PROCESS_FAILED", END),
    arrow("ARROW-4", (Running, TURNS[3], Failed), |s, _| !s.interactive, "OUTPUT_MISSING", END),
    arrow("ARROW-4", (Running, TURNS[4], Failed), |s, _| !s.interactive, "OUTPUT_MISSING", END),
    arrow("ARROW-4", (Running, TURNS[3], Failed), |s, last| s.interactive && last, EXCEEDED, END),
    arrow("ARROW-4", (Running, TURNS[4], Failed), |s, last| s.interactive && last, EXCEEDED, END),
    arrow("ARROW-5", (Running, TURNS[3], WaitingUser), |s, last| s.interactive && !last, "", WAIT),
    arrow("ARROW-5", (Running, TURNS[4], WaitingUser), |s, last| s.interactive && !last, "", WAIT),
    arrow(
        "ARROW-6",
        (WaitingUser, "reply", Queued),
        |s, _| s.interactive && !s.sticky,
        "",
        "cancel_timer if deadline, acquire_slot",
    ),
    arrow(
        "ARROW-6",
        (WaitingUser, "keyed reply", Queued),
        |s, _| s.interactive && !s.sticky,
        "",
        "cancel_timer if deadline, acquire_slot",
    ),
    arrow(
        "ARROW-7",
        (WaitingUser, "reply", Running),
        |s, _| s.interactive && s.sticky,
        "",
        "cancel_timer, inject_reply",
    ),
    arrow(
        "ARROW-7",
        (WaitingUser, "keyed reply", Running),
        |s, _| s.interactive && s.sticky,
        "",
        "cancel_timer, inject_reply",
    ),
    arrow(
        "ARROW-8",
        (WaitingUser, "deadline", Queued),
        |s, _| s.interactive && !s.sticky && !s.strict,
        "",
        "cancel_timer, acquire_slot",
    ),
    arrow(
        "ARROW-8",
        (WaitingUser, "deadline", Running),
        |s, _| s.interactive && s.sticky && !s.strict,
        "",
        "cancel_timer, inject_reply",
    ),
    arrow(
        "ARROW-8",
        (WaitingUser, "deadline", Failed),
        |s, _| s.interactive && s.sticky && s.strict,
        "INTERACTION_WAIT_TIMEOUT",
        CLOSE,
    ),
    arrow(
        "ARROW-8",
        (WaitingUser, "early timer", WaitingUser),
        |s, _| s.interactive && has_deadline(s),
        "",
        "set_timer",
    ),
    arrow(
        "ARROW-9",
        (WaitingUser, "process_lost", Failed),
        |s, _| s.interactive && s.sticky,
        "INTERACTION_PROCESS_LOST",
        CLOSE,
    ),
    arrow("ARROW-10", (Running, "process_lost", Failed), |s, _| !s.retry, "ORCHESTRATOR_RESTART_INTERRUPTED", LOST),
    arrow(
        "ARROW-10",
        (Running, "process_lost", Queued),
        |s, _| s.retry,
        "",
        "terminate_process, release_slot, acquire_slot",
    ),
    arrow("ARROW-11", (Queued, "cancel", Canceled), |_, _| true, CANCELED, "release_slot"),
    arrow("ARROW-11", (Running, "cancel", Canceled), |_, _| true, CANCELED, LOST),
    arrow("ARROW-11", (WaitingUser, "cancel", Canceled), |s, _| s.interactive, CANCELED, CLOSE),
];

const LOST: &str = "terminate_process, release_slot";
const EXCEEDED: &str = "INTERACTIVE_MAX_ATTEMPT_EXCEEDED";
const CANCELED: &str = "CANCELED_BY_USER";
