//! The run: a plan, a state and a history. It applies events and tells what it knows; `transition` decides.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::admission::plan::Plan;
#[cfg(feature = "observe")]
use crate::inspect::observation::Observation;
use crate::lifecycle::history::History;
use crate::lifecycle::transition::{self, Next, Step};
use crate::persist::journal::JournalEntry;
use crate::turn::gate::{Brief, Decision};
use crate::types::codes::{Code, Note};
use crate::types::effect::{Action, Effect};
use crate::types::event::{Event, Reply};
use crate::types::interaction::{InteractionRecord, PendingInteraction};
use crate::types::receipt::{EventRejected, Receipt, ReceiptKind};
use crate::types::state::{BegunBy, Ended, Outcome, Running, State, Status, WaitingUser};
use crate::types::time::Timestamp;

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
    pub(crate) session_handle: Option<String>,
    /// Why the last turn ended as it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<Brief>,
    pub(crate) clock_went_backwards: bool,
    /// Whether a time came in seconds instead of milliseconds; that is no clock that went backwards.
    pub(crate) time_in_seconds: bool,
    pub(crate) state: State,
}

/// What came of an event that was not rejected.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Transition {
    /// What the host must do, in order. Save the run first.
    pub effects: Vec<Effect>,
    /// The answer to a request.
    pub receipt: Option<Receipt>,
    /// What to append to the journal; absent if the event was absorbed and nothing happened.
    pub entry: Option<JournalEntry>,
    /// What is worth measuring of the step; absent where `entry` is (OBS-1). Tell it once the run is saved.
    #[cfg(feature = "observe")]
    pub observed: Option<Observation>,
}

/// What an event will do to a run that has not changed yet.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    step: Step,
    decision: Option<Brief>,
    now: Timestamp,
}

impl Prepared {
    /// What will have come of the event once it is committed.
    pub(crate) fn applied(&self) -> &Transition {
        &self.step.applied
    }
}

/// What the host still owes a run, and what the run may still own (HOST-2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingEffects {
    /// Effects to perform, under their first ids. None of them begins a turn: only [`Run::after_restart`] returns those.
    pub effects: Vec<Effect>,
    /// Everything else of this run that the host still has is to be given back or ended.
    pub keep: OwnedResources,
    /// The id of the effect that begins the turn under way: if the host has noted it as begun, [`crate::RecoveryFacts::begun`] is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_effect_id: Option<String>,
}

/// What a run may still own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
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
    #[must_use]
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
            state: State::Queued(queued),
        };
        let run = Run { plan, life, history: History::default() };
        let entry = Some(JournalEntry::new(1, now, Event::Created {}, None));
        let applied = Transition {
            effects,
            receipt: None,
            #[cfg(feature = "observe")]
            observed: entry.as_ref().map(|entry| run.observe_creation(entry)),
            entry,
        };
        (run, applied)
    }

    /// Applies one event and returns the effects the host must perform, in order.
    ///
    /// # Errors
    /// [`EventRejected`] if the run cannot take this event; the run is unchanged.
    pub fn apply(&mut self, event: Event, now: Timestamp) -> Result<Transition, EventRejected> {
        let mut prepared = Prepared::default();
        self.prepare_new(event, now, &mut prepared)?;
        self.advance(&mut prepared);
        Ok(prepared.step.applied)
    }

    /// Prepares an event that is no journal's. What is prepared is large to be handed around, so it is written where the
    /// caller has it.
    fn prepare_new(&self, event: Event, now: Timestamp, prepared: &mut Prepared) -> Result<(), EventRejected> {
        if let Event::TurnDecided(_) | Event::Created {} = event {
            return Err(EventRejected::malformed(format!("`{}` stands in journals only", event.name())));
        }
        event.check_form()?;
        #[cfg(feature = "streams")]
        let event = event.with_stream_decoded()?;
        self.prepare_recorded(event, now, prepared)?;
        #[cfg(feature = "observe")]
        if let (Some(next), Some(entry)) = (&prepared.step.next, &prepared.step.applied.entry) {
            prepared.step.applied.observed = Some(self.observe_step(next, entry));
        }
        Ok(())
    }

    /// Takes a reply. Whatever becomes of it, there is a receipt: in [`Transition`], or in [`EventRejected`].
    ///
    /// # Errors
    /// [`EventRejected`] if the reply is not taken; the run is unchanged.
    pub fn reply(&mut self, reply: Reply, now: Timestamp) -> Result<Transition, EventRejected> {
        self.apply(Event::Reply(reply), now)
    }

    /// Prepares an event that may be a journal's, where a turn may be recorded without its text.
    pub(crate) fn prepare_recorded(
        &self,
        event: Event,
        now: Timestamp,
        prepared: &mut Prepared,
    ) -> Result<(), EventRejected> {
        let unjudgeable = self.plan.output_schema.as_ref().is_some_and(|schema| !schema.can_check());
        if unjudgeable && matches!(event, Event::TurnFinished(_)) {
            let message = "there is no validator: bring one before the run is made or loaded";
            return Err(EventRejected { code: Code::ValidatorMissing, message: message.to_owned(), receipt: None });
        }
        self.check_attempt(&event)?;
        transition::step(self, &event, now.max(self.life.updated_at), &mut prepared.step)?;
        prepared.now = now;
        if let Some(next) = &mut prepared.step.next {
            let judged = next.judged.take();
            prepared.decision = judged.as_ref().map(|judged| judged.decision.clone());
            let revision = self.life.revision.saturating_add(1);
            prepared.step.applied.entry = Some(JournalEntry::new(revision, now, event, judged));
        }
        Ok(())
    }

    /// Lets what was prepared happen. It must have been prepared by this run, and nothing else committed since.
    pub(crate) fn commit(&mut self, mut prepared: Prepared) -> Transition {
        self.advance(&mut prepared);
        prepared.step.applied
    }

    /// Takes what is prepared where it is: it is large to be handed around.
    fn advance(&mut self, Prepared { step, decision, now }: &mut Prepared) {
        let Some(next) = &mut step.next else { return };
        let (now, decision) = (*now, decision.take());
        let ended = self.status().is_end();
        // First what could fail for want of memory: after it nothing can.
        if let Some(record) = next.record.take().filter(|_| !ended) {
            self.history.push(record);
        }
        let life = &mut self.life;
        life.revision = life.revision.saturating_add(1);
        // An ended run only gives back slots, and that is no news of it (LIFE-9).
        if ended {
            return;
        }
        if let Some(state) = next.state.take() {
            life.state = state;
        }
        let is_in_seconds = now.is_in_seconds(life.updated_at);
        life.time_in_seconds |= is_in_seconds;
        life.clock_went_backwards |= now < life.updated_at && !is_in_seconds;
        life.updated_at = now.max(life.updated_at);
        life.attempt_number = next.attempt_number;
        life.slots_requested = next.slots_requested;
        if next.session_handle.is_some() {
            life.session_handle = next.session_handle.take();
        }
        if decision.is_some() {
            life.decision = decision;
        }
    }

    /// The run that comes of a step, beside this one.
    pub(crate) fn after(&self, next: Next, now: Timestamp) -> Run {
        let mut run = self.clone();
        run.advance(&mut Prepared { step: Step { next: Some(next), ..Step::default() }, decision: None, now });
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
    #[must_use]
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Where it is.
    #[must_use]
    pub fn status(&self) -> Status {
        self.life.state.status()
    }

    /// How many events have changed it; the creation is the first.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.life.revision
    }

    /// The number of the last turn that started; 0 before the first.
    #[must_use]
    pub fn attempt_number(&self) -> u32 {
        self.life.attempt_number
    }

    /// The question it waits on.
    #[must_use]
    pub fn pending(&self) -> Option<&PendingInteraction> {
        match &self.life.state {
            State::WaitingUser(waiting) => Some(&waiting.pending),
            State::Queued(_) | State::Running(_) | State::Ended(_) => None,
        }
    }

    /// How it ended, if it did.
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.life.state {
            State::Ended(Ended { how }) => Some(how),
            State::Queued(_) | State::Running(_) | State::WaitingUser(_) => None,
        }
    }

    /// Every question that came to its end, in order.
    #[must_use]
    pub fn history(&self) -> &[InteractionRecord] {
        &self.history
    }

    /// Why the last turn ended as it did.
    #[must_use]
    pub fn decision(&self) -> Option<Decision> {
        self.brief().map(Brief::told)
    }

    /// The same as it is kept.
    pub(crate) fn brief(&self) -> Option<&Brief> {
        self.life.decision.as_ref()
    }

    /// The decision that brought the run where it is; none if it has gone on since, or something else ended it.
    pub(crate) fn standing_decision(&self) -> Option<&Brief> {
        self.brief().filter(|decision| match (self.status(), self.outcome()) {
            (Status::Failed, Some(Outcome::Failed(error))) => decision.code() == Some(&error.code),
            (status, _) => status == decision.outcome().status(),
        })
    }

    /// The last good handle of the agent's session.
    #[must_use]
    pub fn session_handle(&self) -> Option<&str> {
        self.life.session_handle.as_deref()
    }

    /// When it was made.
    #[must_use]
    pub fn created_at(&self) -> Timestamp {
        self.life.created_at
    }

    /// When it last changed.
    #[must_use]
    pub fn updated_at(&self) -> Timestamp {
        self.life.updated_at
    }

    /// What the host still owes, from the run alone, except for the beginning of a turn, which may have happened (HOST-2).
    #[must_use]
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
        let (told, action) = match &self.life.state {
            State::Queued(queued) => (queued.asked, Action::AcquireSlot { slot_id: queued.slot_id.clone() }),
            State::Running(running) => (running.begun, self.begin_action(running)),
            State::WaitingUser(waiting) => {
                let interaction_id = waiting.pending.interaction_id;
                let (told, at) = waiting.timer.zip(waiting.pending.deadline_at)?;
                (told, Action::SetTimer { interaction_id, at })
            }
            State::Ended(_) => return None,
        };
        Some(Effect { action, id: told.id(&self.plan.run_id) })
    }

    /// What the run may still own.
    pub(crate) fn keep(&self) -> OwnedResources {
        match &self.life.state {
            State::Queued(queued) => {
                OwnedResources { slot_id: Some(queued.slot_id.clone()), ..OwnedResources::default() }
            }
            State::Running(running) => OwnedResources {
                slot_id: Some(running.slot_id.clone()),
                process: Some(running.slot_id.clone()),
                timer: None,
            },
            State::WaitingUser(waiting) => {
                let deadline = waiting.timer.zip(waiting.pending.deadline_at);
                let (slot_id, process) = (waiting.kept_slot.clone(), waiting.kept_slot.clone());
                OwnedResources { slot_id, timer: deadline.map(|_| waiting.pending.interaction_id), process }
            }
            State::Ended(_) => OwnedResources::default(),
        }
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
        match &self.life.state {
            State::WaitingUser(waiting) if waiting.kept_slot.is_some() => {
                waiting.pending.deadline_at.is_some_and(|deadline| deadline <= now).then_some(waiting)
            }
            _ => None,
        }
    }

    /// LIFE-1: a turn that was never started cannot have been late.
    fn check_attempt(&self, event: &Event) -> Result<(), EventRejected> {
        let reported = match event {
            Event::TurnFinished(report) => report.attempt_number,
            Event::TurnDecided(turn) => turn.attempt_number,
            _ => return Ok(()),
        };
        let last = self.life.attempt_number;
        if (1..=last).contains(&reported) {
            return Ok(());
        }
        let message = format!("attempt {reported} was never started; the last one that was is {last}");
        Err(EventRejected { code: Code::EventUnknownAttempt, message, receipt: None })
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
            receipt: kind,
            code: None,
            interaction_id: None,
            pending_interaction_id: None,
            resolved: None,
            status: self.status(),
            revision: self.revision(),
        }
    }

    /// What the run itself has to tell, beside its decisions.
    pub(crate) fn own_diagnostics(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        if self.life.clock_went_backwards {
            let message = "the host's clock went backwards; the latest time was used";
            notes.push(Note::new(Code::ClockWentBackwards, message));
        }
        if self.life.time_in_seconds {
            let message = "a time was given in seconds instead of milliseconds; the latest time was used";
            notes.push(Note::new(Code::TimeInSeconds, message));
        }
        notes
    }
}
