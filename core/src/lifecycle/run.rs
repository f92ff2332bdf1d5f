//! The run: a plan, a state and a history. It applies events and answers questions; `transition` decides.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::admission::plan::Plan;
use crate::lifecycle::history::History;
use crate::lifecycle::transition::{self, Next, Step};
use crate::types::codes::{Code, Note};
use crate::types::decision::Decision;
use crate::types::effect::{Action, Effect};
use crate::types::event::{Event, Reply};
use crate::types::interaction::{InteractionRecord, PendingInteraction};
use crate::types::receipt::{EventRejected, Receipt, ReceiptKind};
use crate::types::state::{BegunBy, Outcome, Running, State, Status, WaitingUser};
use crate::types::time::Timestamp;
use crate::types::transition::{JournalEntry, Transition};

/// One execution of a skill for one request.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    plan: Arc<Plan>,
    life: Life,
    history: History,
}

/// Everything about a run that a step may change, but for its history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Life {
    pub(crate) revision: u64,
    pub(crate) created_at: Timestamp,
    /// The latest time the run has seen; time never goes back behind it (LIFE-4).
    pub(crate) updated_at: Timestamp,
    /// The number of the last turn that started; 0 before the first.
    pub(crate) attempt_number: u32,
    pub(crate) slots_requested: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_handle: Option<Box<str>>,
    /// Why the last turn ended as it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<Decision>,
    pub(crate) clock_went_backwards: bool,
    /// Whether a time came in seconds instead of milliseconds; that is no clock that went backwards.
    pub(crate) time_in_seconds: bool,
    /// Boxed, because a waiting run, of which there may be many, has little else.
    pub(crate) state: Box<State>,
}

/// What the host still owes a run, and what the run may still own (HOST-2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct PendingEffects {
    /// Effects to perform, under their first ids. None of them begins a turn: only [`Run::after_restart`] returns those.
    pub effects: Vec<Effect>,
    /// Everything else of this run that the host still has is to be given back or ended.
    pub keep: OwnedResources,
    /// The id of the effect that begins the turn under way: if the host has noted it as begun, [`crate::hosting::RecoveryFacts::begun`] is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_effect_id: Option<String>,
}

/// What a run may still own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct OwnedResources {
    /// The slot it has: held if `process` names it too, else only asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot_id: Option<String>,
    /// The question whose timer may be set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer: Option<u64>,
    /// The slot in which a process may be alive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
}

impl Run {
    /// Makes a run of an admitted plan. It is queued and asks for its first slot.
    pub fn create(plan: impl Into<Arc<Plan>>, now: Timestamp) -> (Run, Transition) {
        let plan = plan.into();
        let (queued, effects) = transition::first_request(&plan.run_id);
        let life = Life {
            revision: 1,
            created_at: now,
            updated_at: now,
            attempt_number: 0,
            slots_requested: 1,
            session_handle: None,
            decision: None,
            clock_went_backwards: false,
            time_in_seconds: false,
            state: Box::new(State::Queued(queued)),
        };
        let run = Run { plan, life, history: History::default() };
        let entry = JournalEntry { revision: 1, at: now, event: Event::Created {}, evaluation: None };
        let transition = Transition {
            effects,
            receipt: None,
            #[cfg(feature = "observe")]
            observation: Some(run.observe_creation(&entry)),
            entry: Some(entry),
        };
        (run, transition)
    }

    /// Applies one event and returns the effects the host must perform, in order. A reply or cancel that is refused changes
    /// nothing, and its receipt says why.
    ///
    /// # Errors
    /// [`EventRejected`] if the event is malformed, reports a turn that was never started, or needs a validator that is
    /// missing; the run is unchanged.
    pub fn apply(&mut self, mut event: Event, now: Timestamp) -> Result<Transition, EventRejected> {
        if let Event::TurnDecided(_) | Event::Created {} = event {
            return Err(EventRejected::malformed(format!("`{}` stands in journals only", event.name())));
        }
        event.check_form()?;
        if let Event::TurnFinished(report) = &mut event {
            report.keep_end_of_long_text(&self.plan.limits)?;
        }
        #[cfg(feature = "streams")]
        let event = event.with_stream_decoded()?;
        self.check_applicable(&event)?;
        let Step { next, effects, receipt } = transition::step(self, &event, self.latest(now));
        let mut transition = Transition { effects, receipt, ..Transition::default() };
        let Some(mut next) = next else {
            // A refused request is observed like a rejected event (OBS-5).
            #[cfg(feature = "observe")]
            if let Some(code) = transition.receipt.as_ref().and_then(|receipt| receipt.code) {
                transition.observation = Some(self.observe_rejected(event.name(), code.as_str(), now));
            }
            return Ok(transition);
        };
        let evaluation = next.evaluation.take();
        let decision = evaluation.as_ref().map(|evaluation| evaluation.decision.clone());
        let entry = JournalEntry { revision: self.revision().saturating_add(1), at: now, event, evaluation };
        #[cfg(feature = "observe")]
        {
            transition.observation = Some(self.observe_step(&next, &entry));
        }
        self.advance(next, decision, now);
        transition.entry = Some(entry);
        Ok(transition)
    }

    /// Takes a reply. Whatever becomes of it, there is a receipt.
    ///
    /// # Errors
    /// [`EventRejected`] if the reply is malformed; the run is unchanged.
    pub fn reply(&mut self, reply: Reply, now: Timestamp) -> Result<Transition, EventRejected> {
        self.apply(Event::Reply(reply), now)
    }

    /// Applies an event of a journal, where a turn may be recorded without its text. `None` if it changes nothing.
    pub(crate) fn apply_recorded(
        &mut self,
        event: &Event,
        at: Timestamp,
    ) -> Result<Option<Vec<Effect>>, EventRejected> {
        self.check_applicable(event)?;
        let Step { next, effects, receipt } = transition::step(self, event, self.latest(at));
        let Some(mut next) = next else {
            return match receipt {
                Some(Receipt { code: Some(code), message: Some(message), .. }) => {
                    Err(EventRejected::new(code, message))
                }
                Some(_) | None => Ok(None),
            };
        };
        let decision = next.evaluation.take().map(|evaluation| evaluation.decision);
        self.advance(next, decision, at);
        Ok(Some(effects))
    }

    /// A turn can be evaluated only with a validator, and only if it was started (LIFE-1).
    fn check_applicable(&self, event: &Event) -> Result<(), EventRejected> {
        let reported = match event {
            Event::TurnFinished(report) => {
                if self.plan.output_schema.as_ref().is_some_and(|schema| !schema.can_check()) {
                    let message = "this build has no validator of schemas";
                    return Err(EventRejected::new(Code::ValidatorMissing, message));
                }
                report.attempt_number
            }
            Event::TurnDecided(turn) => turn.attempt_number,
            _ => return Ok(()),
        };
        let last = self.life.attempt_number;
        if (1..=last).contains(&reported) {
            return Ok(());
        }
        let message = format!("attempt {reported} was never started; the last one that was is {last}");
        Err(EventRejected::new(Code::EventUnknownAttempt, message).at("/attempt_number"))
    }

    /// Time never goes back (LIFE-4).
    fn latest(&self, now: Timestamp) -> Timestamp {
        now.max(self.life.updated_at)
    }

    /// Commits what a step computed; nothing in here can fail.
    fn advance(&mut self, next: Next, decision: Option<Decision>, now: Timestamp) {
        let ended = self.status().is_end();
        if let Some(record) = next.record.filter(|_| !ended) {
            self.history.push(record);
        }
        let life = &mut self.life;
        life.revision = life.revision.saturating_add(1);
        // An ended run only gives back slots, which changes nothing that its views show (LIFE-9).
        if ended {
            return;
        }
        if let Some(state) = next.state {
            *life.state = state;
        }
        let is_in_seconds = now.is_in_seconds(life.updated_at);
        life.time_in_seconds |= is_in_seconds;
        life.clock_went_backwards |= now < life.updated_at && !is_in_seconds;
        life.updated_at = now.max(life.updated_at);
        life.attempt_number = next.attempt_number;
        life.slots_requested = next.slots_requested;
        if next.session_handle.is_some() {
            life.session_handle = next.session_handle.map(String::into_boxed_str);
        }
        if decision.is_some() {
            life.decision = decision;
        }
    }

    /// The run that comes of a step, beside this one.
    pub(crate) fn after(&self, next: Next, now: Timestamp) -> Run {
        let mut run = self.clone();
        run.advance(next, None, now);
        run
    }

    /// Undoes a step that has added nothing to the history.
    pub(crate) fn go_back_to(&mut self, before: Life) {
        self.life = before;
    }

    /// Puts a run together from its parts, which the caller has checked.
    pub(crate) fn from_parts(plan: Plan, life: Life, history: Vec<InteractionRecord>) -> Run {
        Run { plan: Arc::new(plan), life, history: history.into() }
    }

    // -- what a run knows --

    /// The settings it was admitted with.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Where it is.
    pub fn status(&self) -> Status {
        self.life.state.status()
    }

    /// How many events have changed it; the creation is the first.
    pub fn revision(&self) -> u64 {
        self.life.revision
    }

    /// The number of the last turn that started; 0 before the first.
    pub fn attempt_number(&self) -> u32 {
        self.life.attempt_number
    }

    /// The question it waits on.
    pub fn pending(&self) -> Option<&PendingInteraction> {
        match &*self.life.state {
            State::WaitingUser(waiting) => Some(&waiting.pending),
            State::Queued(_) | State::Running(_) | State::Ended(_) => None,
        }
    }

    /// How it ended, if it did.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.life.state.outcome()
    }

    /// Every question that came to its end, in order.
    pub fn history(&self) -> &[InteractionRecord] {
        &self.history
    }

    /// Why the last turn ended as it did.
    pub fn decision(&self) -> Option<&Decision> {
        self.life.decision.as_ref()
    }

    /// The decision that brought the run where it is; none if it has continued since, or something else ended it.
    pub(crate) fn standing_decision(&self) -> Option<&Decision> {
        self.decision().filter(|decision| match (self.status(), self.outcome()) {
            (Status::Failed, Some(Outcome::Failed(error))) => decision.code() == Some(&error.code),
            (status, _) => status == decision.outcome.status(),
        })
    }

    /// The last good handle of the agent's session.
    pub fn session_handle(&self) -> Option<&str> {
        self.life.session_handle.as_deref()
    }

    /// When it was made.
    pub fn created_at(&self) -> Timestamp {
        self.life.created_at
    }

    /// When it last changed.
    pub fn updated_at(&self) -> Timestamp {
        self.life.updated_at
    }

    /// What the host still owes, from the run alone, except for the beginning of a turn, which may have happened (HOST-2).
    pub fn outstanding(&self) -> PendingEffects {
        let keep = self.keep();
        match self.owed() {
            Some(effect) if effect.begins_turn() => {
                PendingEffects { effects: Vec::new(), keep, turn_effect_id: Some(effect.id) }
            }
            owed => PendingEffects { effects: Vec::from_iter(owed), keep, turn_effect_id: None },
        }
    }

    /// The effect by which the run goes on, which may have been performed.
    pub(crate) fn owed(&self) -> Option<Effect> {
        let (emitted, action) = match &*self.life.state {
            State::Queued(queued) => (queued.asked, Action::AcquireSlot { slot_id: queued.slot_id.clone() }),
            State::Running(running) => (running.begun, self.begin_action(running)),
            State::WaitingUser(waiting) => {
                let interaction_id = waiting.pending.interaction_id;
                let (emitted, at) = waiting.timer.zip(waiting.pending.deadline_at)?;
                (emitted, Action::SetTimer { interaction_id, at })
            }
            State::Ended(_) => return None,
        };
        Some(Effect { action, id: emitted.id(&self.plan.run_id) })
    }

    /// What the run may still own.
    pub(crate) fn keep(&self) -> OwnedResources {
        let process = self.life.state.held_slot().cloned();
        let timer = self.pending().filter(|pending| pending.deadline_at.is_some());
        let slot_id = match &*self.life.state {
            State::Queued(queued) => Some(queued.slot_id.clone()),
            State::Running(_) | State::WaitingUser(_) | State::Ended(_) => process.clone(),
        };
        OwnedResources { slot_id, timer: timer.map(|pending| pending.interaction_id), process }
    }

    fn begin_action(&self, running: &Running) -> Action {
        let attempt_number = self.life.attempt_number;
        match (running.begun_by, &running.answer) {
            (BegunBy::InjectReply, Some(answer)) => Action::InjectReply {
                attempt_number,
                slot_id: running.slot_id.clone(),
                interaction_id: answer.interaction_id,
                response: answer.response.clone(),
            },
            (BegunBy::StartTurn | BegunBy::InjectReply, answer) => Action::StartTurn {
                attempt_number,
                slot_id: running.slot_id.clone(),
                resume: transition::resume_from(self, answer.as_ref()),
            },
        }
    }

    // -- what the machine asks --

    pub(crate) fn life(&self) -> &Life {
        &self.life
    }

    pub(crate) fn state(&self) -> &State {
        &self.life.state
    }

    pub(crate) fn slots_requested(&self) -> u64 {
        self.life.slots_requested
    }

    pub(crate) fn next_interaction_id(&self) -> u64 {
        self.history.len() as u64 + 1
    }

    /// The wait of a sticky process whose deadline has passed: the clock decides it, not the timer (TIME-4). A resumable
    /// wait takes a reply for as long as the automatic decision is not made, and costs no slot.
    pub(crate) fn overdue(&self, now: Timestamp) -> Option<&WaitingUser> {
        match &*self.life.state {
            State::WaitingUser(waiting) if waiting.kept_slot.is_some() => {
                waiting.pending.deadline_at.is_some_and(|deadline| deadline <= now).then_some(waiting)
            }
            _ => None,
        }
    }

    /// Whether a report is about the turn now under way: the right number, and the right slot if it names one.
    pub(crate) fn is_current_turn(&self, attempt_number: u32, slot_id: Option<&str>, running: &Running) -> bool {
        attempt_number == self.life.attempt_number && slot_id.is_none_or(|slot_id| slot_id == running.slot_id)
    }

    /// Whether a report is about the process now alive. Its slot names it; without one, the number of its turn must do.
    pub(crate) fn is_current_process(&self, attempt_number: u32, slot_id: Option<&String>) -> bool {
        match slot_id {
            Some(slot_id) => self.life.state.held_slot() == Some(slot_id),
            None => attempt_number == self.life.attempt_number,
        }
    }

    /// The history, for those who count in it.
    pub(crate) fn resolved(&self) -> &History {
        &self.history
    }

    /// INVARIANT: interaction ids are 1, 2, 3 …, so the record of `id` is the `id`-th.
    pub(crate) fn record(&self, id: u64) -> Option<&InteractionRecord> {
        usize::try_from(id.checked_sub(1)?).ok().and_then(|index| self.history.get(index))
    }

    pub(crate) fn receipt(&self, kind: ReceiptKind) -> Receipt {
        Receipt {
            kind,
            code: None,
            message: None,
            interaction_id: None,
            pending_interaction_id: None,
            resolved: None,
            status: self.status(),
            revision: self.revision(),
        }
    }

    /// The receipt of a request that is not taken.
    pub(crate) fn refusal(&self, kind: ReceiptKind, code: Code, message: String) -> Receipt {
        Receipt { code: Some(code), message: Some(message), ..self.receipt(kind) }
    }

    /// Diagnostics of the run itself, beside those of its decisions.
    pub(crate) fn own_diagnostics(&self) -> Vec<Note> {
        let backwards = "the host's clock went backwards; the latest time was used";
        let in_seconds = "a time was given in seconds instead of milliseconds; the latest time was used";
        let backwards = self.life.clock_went_backwards.then(|| Note::new(Code::ClockWentBackwards, backwards));
        let in_seconds = self.life.time_in_seconds.then(|| Note::new(Code::TimeInSeconds, in_seconds));
        backwards.into_iter().chain(in_seconds).collect()
    }
}
