//! A walk's transitions as vectors, in the form of `tests/README.md`, each step beside what the model expects of it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::faults::{self, Fault};
use crate::hosting::{self, Found};
use crate::replies::{Reply, Revision};
use crate::walk::{Transition, Walk};
use crate::wording::{TIMEOUT_SEC, given, resolution_word, slot_id, status_word, turn};
use crate::words::{Effect, Event, Outcome, Phase, Record, Resolution, Run, Settings, Status};

/// A vector without its answers, and what the model says they must be.
#[derive(Debug)]
pub struct Case {
    /// What it shows.
    pub name: String,
    /// The vector's `given`.
    pub given: Map<String, Value>,
    /// What happens.
    pub steps: Vec<Map<String, Value>>,
    /// What the model expects of each step, as [`crate::wording::essence`] has it.
    pub expected: Vec<Expectation>,
}

/// What must come of one step.
#[derive(Debug)]
pub struct Expectation {
    /// The transition that it is, by the run before it and the event; absent for a question about the run.
    pub transition: Option<(Run, Event)>,
    /// The row of the spec that decides.
    pub rule: &'static str,
    /// The answer without the core's own words.
    pub answer: Value,
}

/// A run on its way, with what the model leaves out: revisions, times and the ids of effects.
struct Telling {
    settings: Settings,
    fault: Option<Fault>,
    run: Run,
    revision: u64,
    now: u64,
    deadline: u64,
    /// The id under which each effect was last told.
    ids: BTreeMap<Effect, String>,
    steps: Vec<Map<String, Value>>,
    expected: Vec<Expectation>,
}

/// All transitions of a walk, each at least once: for every state a case with what does not move the run from there,
/// and one for every way out that is not on the way to another case.
#[must_use]
pub fn cases(walk: &Walk, name: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for (index, state) in walk.states.iter().enumerate() {
        let mut telling = Telling::along(walk, index);
        let here = || walk.transitions.iter().filter(|transition| transition.from == index);
        for transition in here().filter(|transition| transition.outcome.run == *state) {
            telling.tell(transition.event);
        }
        telling.ask();
        telling.ask_after_restart();
        cases.push(telling.case(format!("{name}: in state {index}, what changes nothing")));
        for (number, transition) in here().enumerate() {
            if transition.outcome.run != *state && !walk.is_on_a_way(transition) {
                cases.push(case(walk, transition, format!("{name}: out of state {index} by event {number}")));
            }
        }
    }
    cases
}

/// One transition, told from the creation of the run.
#[must_use]
pub fn case(walk: &Walk, transition: &Transition, name: String) -> Case {
    let mut telling = Telling::along(walk, transition.from);
    telling.tell(transition.event);
    telling.ask();
    telling.case(name)
}

impl Telling {
    fn along(walk: &Walk, state: usize) -> Telling {
        let first = Effect::AcquireSlot { slot: 1 };
        let mut telling = Telling {
            settings: walk.settings,
            fault: walk.fault,
            run: Run::created(),
            revision: 1,
            now: 0,
            deadline: 0,
            ids: BTreeMap::from([(first, "r1/1/1".to_owned())]),
            steps: Vec::new(),
            expected: Vec::new(),
        };
        walk.way_to(state).into_iter().for_each(|event| telling.tell(event));
        telling
    }

    fn tell(&mut self, event: Event) {
        let before = self.run.clone();
        let outcome = faults::step(self.fault, &self.settings, &before, event);
        self.now += 1;
        let at = if matches!(event, Event::TimerFired { due: true, .. } | Event::Late(_)) {
            self.now.max(self.deadline)
        } else {
            self.now
        };
        let told = json!({"at": at, "event": self.words(&event)});
        // LIFE-9: what leaves no trace leaves none on the clock either, so the next event may come before it.
        if outcome.run != before || !outcome.effects.is_empty() {
            self.revision += 1;
            self.now = at;
        }
        if outcome.run.pending().is_some() && before.pending().is_none() {
            self.deadline = self.now + TIMEOUT_SEC * 1000;
        }
        let answer = self.answer(&before, &outcome);
        self.run = outcome.run;
        self.expect(told, Some((before, event)), outcome.rule, answer);
    }

    /// Asks the run where it is and how it came there.
    fn ask(&mut self) {
        let (error, soft) = match self.run.phase {
            Phase::Ended { code, soft, .. } => (code.map(|code| code.0), soft),
            _ => (None, false),
        };
        let resolved_by_core = |record: &&Record| record.resolution == Resolution::AutoDecideTimeout;
        let view = json!({
            "status": status_word(self.run.status()),
            "attempt_number": self.run.started,
            "pending_interaction_id": self.run.pending(),
            "auto_decision_count": self.run.history.iter().filter(resolved_by_core).count(),
            "error": error,
            "soft": soft,
            "revision": self.revision,
        });
        self.expect(json!({"query": "status_view"}), None, "VIEW-1", view);
        let history = self.run.history.iter().map(
            |record| json!({"interaction_id": record.question, "resolution_mode": resolution_word(record.resolution)}),
        );
        self.expect(json!({"query": "history"}), None, "HIST-1", history.collect());
    }

    /// Asks what a host asks after a restart, whatever it finds.
    fn ask_after_restart(&mut self) {
        let kept = hosting::keep(&self.settings, &self.run);
        let keep =
            json!({"slot_id": kept.slot.map(slot_id), "timer": kept.timer, "process": kept.process.map(slot_id)});
        let owed = self.owed(&hosting::outstanding(&self.settings, &self.run));
        let begins = hosting::begin(&self.run).and_then(|effect| self.ids.get(&effect));
        let answer = json!({"effects": owed, "keep": keep, "turn_effect_id": begins});
        self.expect(json!({"query": "outstanding"}), None, "HOST-2", answer);
        for bits in 0_u8..8 {
            let found = Found { process_alive: bits & 1 != 0, begun: bits & 2 != 0, slot_lost: bits & 4 != 0 };
            let resumption = hosting::after_restart(&self.settings, &self.run, found);
            let question = json!({"query": {"after_restart": {
                "process_alive": found.process_alive, "begun": found.begun, "slot_lost": found.slot_lost,
            }}});
            let answer = json!({
                "attach": resumption.attach.map(slot_id),
                "effects": self.owed(&resumption.effects),
                "event": resumption.event.map(|event| self.words(&event)),
            });
            self.expect(question, None, "HOST-9", answer);
        }
    }

    fn expect(&mut self, told: Value, transition: Option<(Run, Event)>, rule: &'static str, answer: Value) {
        self.steps.push(told.as_object().cloned().unwrap_or_default());
        self.expected.push(Expectation { transition, rule, answer });
    }

    fn answer(&mut self, before: &Run, outcome: &Outcome) -> Value {
        let status = status_word(outcome.run.status());
        let receipt = outcome.receipt.map(|receipt| receipt.name);
        let refused = outcome.receipt.and_then(|receipt| receipt.refused).map(|code| code.0);
        if let Some(code) = outcome.rejected {
            return json!({"rejected": code.0});
        }
        let mut effects = Vec::new();
        let (passed, own) = outcome.deadline.unwrap_or((before.status(), 0));
        let (first, rest) = outcome.effects.split_at(own);
        self.perform(first, &mut effects);
        if passed != before.status() {
            self.notify(passed, None, &mut effects);
        }
        self.perform(rest, &mut effects);
        if outcome.run.status() != passed {
            self.notify(outcome.run.status(), outcome.run.pending(), &mut effects);
        }
        json!({"effects": effects, "status": status, "receipt": receipt, "refused": refused})
    }

    fn perform(&mut self, effects: &[Effect], written: &mut Vec<Value>) {
        for effect in effects {
            let id = format!("r1/{}/{}", self.revision, written.len() + 1);
            written.push(self.effect(effect, &id));
            self.ids.insert(*effect, id);
        }
    }

    fn notify(&self, status: Status, pending: Option<u8>, written: &mut Vec<Value>) {
        let mut notify = json!({"type": "notify", "what": "status_changed", "status": status_word(status)});
        if let Some(question) = pending {
            notify["interaction_id"] = json!(question);
        }
        notify["id"] = json!(format!("r1/{}/{}", self.revision, written.len() + 1));
        written.push(notify);
    }

    /// Effects that were told before, with the ids that they had then.
    fn owed(&self, effects: &[Effect]) -> Vec<Value> {
        let id = |effect| self.ids.get(effect).map_or("never told", String::as_str);
        effects.iter().map(|effect| self.effect(effect, id(effect))).collect()
    }

    fn effect(&self, effect: &Effect, id: &str) -> Value {
        match *effect {
            Effect::AcquireSlot { slot } => json!({"type": "acquire_slot", "slot_id": slot_id(slot), "id": id}),
            Effect::ReleaseSlot { slot } => json!({"type": "release_slot", "slot_id": slot_id(slot), "id": id}),
            Effect::StartTurn { attempt, slot, answers } => {
                let mut start =
                    json!({"type": "start_turn", "attempt_number": attempt, "slot_id": slot_id(slot), "id": id});
                if let Some(question) = answers {
                    start["resume"] = json!({"interaction_id": question});
                }
                start
            }
            Effect::InjectReply { attempt, slot, question } => json!({
                "type": "inject_reply",
                "attempt_number": attempt,
                "slot_id": slot_id(slot),
                "interaction_id": question,
                "id": id,
            }),
            Effect::TerminateProcess { attempt, slot } => {
                json!({"type": "terminate_process", "attempt_number": attempt, "slot_id": slot_id(slot), "id": id})
            }
            Effect::SetTimer { question } => {
                json!({"type": "set_timer", "interaction_id": question, "at": self.deadline, "id": id})
            }
            Effect::CancelTimer { question } => json!({"type": "cancel_timer", "interaction_id": question, "id": id}),
        }
    }

    fn words(&self, event: &Event) -> Value {
        let with_slot = |mut event: Value, slot: Option<u8>| {
            if let Some(slot) = slot {
                event["slot_id"] = json!(slot_id(slot));
            }
            event
        };
        match *event {
            Event::SlotGranted { slot } => json!({"type": "slot_granted", "slot_id": slot_id(slot)}),
            Event::TurnFinished { attempt, slot, report } => with_slot(turn(attempt, report), slot),
            Event::ProcessLost { attempt, slot } => {
                with_slot(json!({"type": "process_lost", "attempt_number": attempt}), slot)
            }
            Event::TimerFired { question, .. } => json!({"type": "timer_fired", "interaction_id": question}),
            Event::Reply(reply) => self.reply(&reply),
            Event::Cancel => json!({"type": "cancel"}),
            Event::Late(late) => self.words(&late.into()),
        }
    }

    fn reply(&self, reply: &Reply) -> Value {
        let answer = if reply.answer == 0 { "the first" } else { "the second" };
        let mut words = json!({"type": "reply", "interaction_id": reply.question, "response": answer});
        if let Some(key) = reply.key {
            words["idempotency_key"] = json!(format!("k{key}"));
        }
        match reply.revision {
            Revision::Any => {}
            Revision::Current => words["expected_revision"] = json!(self.revision),
            Revision::Another => words["expected_revision"] = json!(self.revision + 7),
        }
        words
    }

    fn case(self, name: String) -> Case {
        Case { name, given: given(&self.settings), steps: self.steps, expected: self.expected }
    }
}
