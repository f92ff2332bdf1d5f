//! Events thrown at a run: aimed at what is current, stale, still to come or foreign.

use std::fmt;

use serde_json::{Value, json};
use turnlatch::inspect::evaluate_turn;
use turnlatch::types::{DecidedTurn, Message};
use turnlatch::{Event, EventRejected, Reply, Run, Status, Timestamp, Transition, TurnReport};

use super::plans::{Setting, plans};

/// One event in four small numbers; what it becomes depends on where the run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throw {
    /// What happens.
    pub kind: u8,
    /// At which slot, turn or question.
    pub aim: u8,
    /// The contents.
    pub detail: u8,
    /// When.
    pub time: u8,
}

/// A run's settings, by their place in [`plans`], and everything that is thrown at it.
#[derive(Clone, PartialEq, Eq)]
pub struct Case {
    /// The place of its plan.
    pub plan: usize,
    /// What is thrown, in order.
    pub throws: Vec<Throw>,
}

/// One event, with the run before and after it.
pub struct Seen<'s> {
    /// The run before.
    pub before: &'s Run,
    /// What happened.
    pub event: &'s Event,
    /// When.
    pub at: Timestamp,
    /// What came of it.
    pub result: &'s Result<Transition, EventRejected>,
    /// The run after.
    pub after: &'s Run,
}

impl Case {
    /// The settings of its plan.
    #[must_use]
    pub fn setting(&self) -> Setting {
        plans()[self.plan].0
    }

    /// A fresh run and what its creation told.
    #[must_use]
    pub fn create(&self) -> (Run, Transition) {
        Run::create(plans()[self.plan].1.clone(), start_of_time())
    }

    /// Throws everything and shows each step to `look`; returns the run at the end.
    pub fn walk(&self, mut look: impl FnMut(&Seen<'_>)) -> Run {
        let (mut run, _) = self.create();
        let mut now = start_of_time();
        for throw in &self.throws {
            let before = run.clone();
            let event = throw.event(&run);
            now = throw.at(&run, now);
            let result = run.apply(event.clone(), now);
            look(&Seen { before: &before, event: &event, at: now, result: &result, after: &run });
        }
        run
    }
}

/// A failing case is read by people: the settings and the events as they were applied, not only their numbers.
impl fmt::Debug for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "plan {}: {:?}", self.plan, self.setting())?;
        let (mut run, _) = self.create();
        let mut now = start_of_time();
        for throw in &self.throws {
            let event = throw.event(&run);
            now = throw.at(&run, now);
            let became = match run.apply(event.clone(), now) {
                Ok(_) => run.status().as_str().to_owned(),
                Err(rejected) => rejected.code().to_owned(),
            };
            writeln!(formatter, "  {throw:?} at {}: {} -> {became}", now.as_millis(), json!(event))?;
        }
        Ok(())
    }
}

impl Throw {
    /// The time it happens at; the host's clock may jump back, or far ahead.
    #[must_use]
    pub fn at(self, run: &Run, now: Timestamp) -> Timestamp {
        let later = |millis: u64| Timestamp::from_millis(now.as_millis().saturating_add(millis)).unwrap_or(now);
        let deadline = run.pending().and_then(|pending| pending.deadline_at);
        match self.time % 8 {
            0 => later(1),
            1 => {
                let early = deadline.and_then(|at| Timestamp::from_millis(at.as_millis().saturating_sub(1)));
                early.unwrap_or_else(|| later(1))
            }
            2 => later(1_000),
            3 => deadline.unwrap_or_else(|| later(60_000)),
            4 => now,
            5 => Timestamp::from_millis(now.as_millis().saturating_sub(1_000)).unwrap_or_default(),
            6 => Timestamp::default(),
            // Once at the end of time a clock stays there, so this must be rare.
            _ if self.detail == 255 => Timestamp::MAX,
            _ => later(30_000),
        }
    }

    /// The event itself.
    #[must_use]
    pub fn event(self, run: &Run) -> Event {
        if self.kind >= 160 {
            return self.next_event(run);
        }
        match self.kind % 16 {
            4..=7 => Event::TurnFinished(self.report(run)),
            8..=10 => Event::Reply(self.reply(run)),
            11 | 12 => Event::TimerFired { interaction_id: self.interaction_id(run) },
            13 => Event::ProcessLost { attempt_number: self.attempt_number(run), slot_id: self.named_slot(run) },
            // Most cases should live long enough to become interesting.
            14 if self.detail < 64 => Event::Cancel { reason: (self.detail < 16).then(|| "enough".to_owned()) },
            15 => self.malformed(run),
            _ => Event::SlotGranted { slot_id: self.slot_id(run) },
        }
    }

    /// What a healthy world would send next: without it few runs come as far as a second question.
    fn next_event(self, run: &Run) -> Event {
        let keep = run.outstanding().keep;
        let aimed = Throw { aim: 0, ..self };
        match run.status() {
            Status::Queued => Event::SlotGranted { slot_id: keep.slot_id.unwrap_or_default() },
            Status::Running => Event::TurnFinished(Throw { detail: self.detail % 12, ..aimed }.report(run)),
            Status::WaitingUser if self.time % 8 == 3 => {
                Event::TimerFired { interaction_id: aimed.interaction_id(run) }
            }
            Status::WaitingUser => Event::Reply(Reply { expected_revision: None, ..aimed.reply(run) }),
            Status::Succeeded | Status::Failed | Status::Canceled => Event::Reply(self.reply(run)),
        }
    }

    fn slot_id(self, run: &Run) -> String {
        let current = run.outstanding().keep.slot_id;
        match (self.aim % 8, current) {
            (0..=4, Some(current)) => current,
            (7, _) => "other/s1".to_owned(),
            _ => format!("r1/s{}", self.detail % 8),
        }
    }

    /// A report may name its slot (LIFE-6), and may name a wrong one.
    fn named_slot(self, run: &Run) -> Option<String> {
        match self.aim / 8 % 8 {
            0..=3 => None,
            4..=6 => run.outstanding().keep.slot_id,
            _ => Some(format!("r1/s{}", self.detail % 8)),
        }
    }

    fn attempt_number(self, run: &Run) -> u32 {
        let current = run.attempt_number();
        match self.aim % 8 {
            0..=4 => current,
            5 => current.saturating_sub(1),
            6 => current + 1,
            _ if self.detail.is_multiple_of(2) => 0,
            _ => u32::MAX,
        }
    }

    fn interaction_id(self, run: &Run) -> u64 {
        let asked = run.history().len() as u64;
        let current = run.pending().map_or(asked, |pending| pending.interaction_id);
        match self.aim % 8 {
            0..=4 => current,
            5 => u64::from(self.detail) % (asked + 1),
            6 => current + 1,
            _ if self.detail.is_multiple_of(2) => 0,
            _ => u64::MAX,
        }
    }

    fn report(self, run: &Run) -> TurnReport {
        TurnReport {
            attempt_number: self.attempt_number(run),
            slot_id: self.named_slot(run),
            session_handle: match self.detail / 16 % 4 {
                0 => Some(format!("session {}", self.detail)),
                1 => Some(" ".to_owned()),
                _ => None,
            },
            ..turn_outcome(self.detail % 16)
        }
    }

    fn reply(self, run: &Run) -> Reply {
        let interaction_id = self.interaction_id(run);
        Reply {
            interaction_id,
            response: match self.detail % 8 {
                0..=3 => json!("yes"),
                4 => json!(""),
                5 => json!({"file": "b.txt", "__SKILL_DONE__": true}),
                6 => Value::Null,
                _ => json!("no"),
            },
            idempotency_key: match self.detail / 8 % 8 {
                0..=2 => None,
                3 | 4 => Some(format!("key of {interaction_id}")),
                5 | 6 => Some("the same key".to_owned()),
                _ => Some("another key".to_owned()),
            },
            expected_revision: match self.detail / 64 {
                0 | 1 => None,
                2 => Some(run.revision()),
                _ => Some(run.revision().saturating_sub(u64::from(self.aim) / 64)),
            },
        }
    }

    /// Events that a host cannot have meant.
    fn malformed(self, run: &Run) -> Event {
        let report = self.report(run);
        match self.detail % 6 {
            0 => Event::Created {},
            1 => Event::TurnFinished(TurnReport { failure_reason: Some("not a code\u{1b}".to_owned()), ..report }),
            2 => Event::TurnFinished(TurnReport {
                text: Some("twice".to_owned()),
                output: Some(json!({"answer": 1})),
                messages: Some(Vec::new()),
                ..report
            }),
            3 => Event::TurnDecided(DecidedTurn {
                attempt_number: report.attempt_number,
                slot_id: report.slot_id.clone(),
                session_handle: None,
                report_digest: String::new(),
                evaluation: Box::new(evaluate_turn(run.plan(), &report)),
            }),
            4 => Event::Reply(Reply { idempotency_key: Some(String::new()), ..self.reply(run) }),
            _ => Event::Cancel { reason: Some("long ".repeat(1_000)) },
        }
    }
}

/// The ends a turn can come to, 16 of them; more than half end in a question, so that runs live long.
#[must_use]
pub fn turn_outcome(which: u8) -> TurnReport {
    let text = |text: &str| TurnReport { text: Some(text.to_owned()), ..TurnReport::default() };
    match which {
        0..=4 => text("Which file?"),
        5 => text(r#"{"ask_user": {"prompt": "Which?", "kind": "choose_one", "options": ["a", "b"]}}"#),
        6 => text("<ASK_USER_YAML>\nprompt: Which?\n</ASK_USER_YAML>"),
        7 => text(""),
        8 => TurnReport { exit_code: Some(0), ..TurnReport::default() },
        9 => text("```json\n{\"answer\": 1}\n```\n{\"ask_user\": {\"prompt\": \"Sure?\"}}"),
        10 => text(r#"{"answer": 1, "__SKILL_DONE__": false}"#),
        11 => text(r#"{"answer": 1, "__SKILL_DONE__": true}"#),
        12 => text(r#"{"answer": "one", "__SKILL_DONE__": true}"#),
        13 => TurnReport { output: Some(json!({"answer": 1})), ..TurnReport::default() },
        14 => TurnReport { exit_code: Some(1), ..text(r#"{"answer": 1, "__SKILL_DONE__": true}"#) },
        _ => TurnReport {
            failure_reason: Some("TIMEOUT".to_owned()),
            messages: Some(vec![Message { role: "tool".to_owned(), text: "__SKILL_DONE__".to_owned() }]),
            ..TurnReport::default()
        },
    }
}

/// When the runs of all cases are created.
#[must_use]
pub fn start_of_time() -> Timestamp {
    Timestamp::from_millis(1_771_200_000_000).unwrap_or_default()
}
