//! The machine: one pure function from a run and an event to what comes next. The only code that moves state.

use std::sync::Arc;

use crate::lifecycle::replies;
use crate::lifecycle::run::Run;
use crate::lifecycle::wait::{Expiry, SlotWhileWaiting, WaitRule};
use crate::text::display_text;
use crate::turn::gate::{self, Position};
use crate::types::codes::Code;
use crate::types::decision::{Evaluation, Verdict};
use crate::types::effect::{Action, Effect, EffectRef, Notification, ResumeFrom};
use crate::types::event::{Event, Reply};
use crate::types::interaction::{InteractionRecord, PendingInteraction, Question, ResolutionMode};
use crate::types::plan::{InterruptedTurn, Profile};
use crate::types::receipt::{Receipt, ReceiptKind};
use crate::types::state::{Answer, BegunBy, Ended, Outcome, Queued, RunError, Running, State, Status, WaitingUser};
use crate::types::time::Timestamp;

/// What an event does to a run; nothing at all if it is ignored or refused.
#[derive(Debug, Default)]
pub(crate) struct Step {
    /// What the run becomes; `None` if nothing happened.
    pub(crate) next: Option<Next>,
    pub(crate) effects: Vec<Effect>,
    /// The answer to a request.
    pub(crate) receipt: Option<Receipt>,
}

/// The parts of a run that a step replaces or adds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Next {
    pub(crate) state: Option<State>,
    pub(crate) attempt_number: u32,
    pub(crate) slots_requested: u64,
    pub(crate) session_handle: Option<String>,
    pub(crate) evaluation: Option<Box<Evaluation>>,
    pub(crate) record: Option<InteractionRecord>,
}

/// Decides what an event does to a run. Pure and total: the run is only read, and every pair has an answer. A request that
/// is refused has a receipt that says why; late and repeated facts are ignored.
pub(crate) fn step(run: &Run, event: &Event, now: Timestamp) -> Step {
    let mut draft = Draft { run, now, revision: run.revision().saturating_add(1), step: Step::default() };
    let Some(waiting) = run.overdue(now) else {
        take(event, &mut draft);
        return draft.step;
    };
    // TIME-4: the deadline is applied first, in the same step, and the event meets the run that comes of it.
    draft.deadline(waiting);
    let Some(next) = draft.step.next.clone() else { return draft.step };
    let run = run.after(next, now);
    let mut draft = Draft { run: &run, ..draft };
    take(event, &mut draft);
    draft.step
}

/// One arm per arrow of the diagram.
fn take(event: &Event, draft: &mut Draft) {
    let run = draft.run;
    match (run.state(), event) {
        (State::Queued(queued), Event::SlotGranted { slot_id }) if *slot_id == queued.slot_id => {
            draft.start_turn(queued);
        }
        // A repeated grant of the slot now held: giving it back would free the running turn's slot.
        (state, Event::SlotGranted { slot_id }) if state.held_slot() == Some(slot_id) => {}
        // Any other grant is not wanted, or not any more.
        (_, Event::SlotGranted { slot_id }) => draft.give_back(slot_id),

        (State::Running(running), Event::TurnFinished(report))
            if run.is_current_turn(report.attempt_number, report.slot_id.as_deref(), running) =>
        {
            let evaluation = Box::new(gate::evaluate(run.plan(), position(run), report));
            draft.finish_turn(running, evaluation, report.session_handle.as_deref());
        }
        (State::Running(running), Event::TurnDecided(turn))
            if run.is_current_turn(turn.attempt_number, turn.slot_id.as_deref(), running) =>
        {
            draft.finish_turn(running, turn.evaluation.clone(), turn.session_handle.as_deref());
        }
        (State::Running(running), Event::ProcessLost { attempt_number, slot_id })
            if run.is_current_process(*attempt_number, slot_id.as_ref()) =>
        {
            draft.lose_turn(running);
        }

        (State::WaitingUser(waiting), Event::ProcessLost { attempt_number, slot_id })
            if waiting.kept_slot.is_some() && run.is_current_process(*attempt_number, slot_id.as_ref()) =>
        {
            draft.lose_waiting_process(waiting);
        }
        (State::WaitingUser(waiting), Event::TimerFired { interaction_id })
            if *interaction_id == waiting.pending.interaction_id =>
        {
            draft.deadline(waiting);
        }
        (state, Event::Reply(reply)) => match (replies::examine(run, reply), state) {
            (Some(receipt), _) => draft.step.receipt = Some(receipt),
            (None, State::WaitingUser(waiting)) => draft.take_reply(waiting, reply),
            // `examine` lets a reply through only while its question is pending.
            (None, State::Queued(_) | State::Running(_) | State::Ended(_)) => {}
        },

        (State::Ended(_), Event::Cancel { .. }) => draft.step.receipt = Some(already_ended(run)),
        (State::Queued(_) | State::Running(_) | State::WaitingUser(_), Event::Cancel { reason }) => {
            draft.cancel(reason.as_deref());
        }

        // Any other late or repeated fact is ignored.
        (
            _,
            Event::Created {}
            | Event::TurnFinished(_)
            | Event::TurnDecided(_)
            | Event::TimerFired { .. }
            | Event::ProcessLost { .. },
        ) => {}
    }
}

/// The first step of every run: it asks for a slot.
pub(crate) fn first_request(run_id: &str) -> (Queued, Vec<Effect>) {
    let asked = EffectRef { revision: 1, number: 1 };
    let slot_id = slot_id(run_id, 1);
    let effects = vec![
        Effect { action: Action::AcquireSlot { slot_id: slot_id.clone() }, id: asked.id(run_id) },
        Effect {
            action: Action::Notify { what: Notification::StatusChanged, status: Status::Queued, interaction_id: None },
            id: EffectRef { revision: 1, number: 2 }.id(run_id),
        },
    ];
    (Queued { next_attempt: 1, slot_id, answer: None, asked }, effects)
}

/// What a turn continues from, as the host gets it.
pub(crate) fn resume_from(run: &Run, answer: Option<&Answer>) -> Option<ResumeFrom> {
    answer.map(|answer| ResumeFrom {
        session_handle: run.session_handle().map(str::to_owned),
        interaction_id: answer.interaction_id,
        response: answer.response.clone(),
    })
}

/// A step being written: effects get their ids as they are emitted.
struct Draft<'r> {
    run: &'r Run,
    now: Timestamp,
    revision: u64,
    step: Step,
}

impl Draft<'_> {
    /// Returns the pending changes, creating them on first use.
    fn next(&mut self) -> &mut Next {
        self.step.next.get_or_insert_with(|| Next {
            attempt_number: self.run.attempt_number(),
            slots_requested: self.run.slots_requested(),
            ..Next::default()
        })
    }

    // -- the arrows of the diagram --

    /// queued -> running
    fn start_turn(&mut self, queued: &Queued) {
        self.next().attempt_number = queued.next_attempt;
        let begun = self.emit(Action::StartTurn {
            attempt_number: queued.next_attempt,
            slot_id: queued.slot_id.clone(),
            resume: resume_from(self.run, queued.answer.as_ref()),
        });
        self.become_state(State::Running(Running {
            slot_id: queued.slot_id.clone(),
            answer: queued.answer.clone(),
            begun_by: BegunBy::StartTurn,
            begun,
        }));
    }

    /// running -> succeeded, failed or `waiting_user`
    fn finish_turn(&mut self, running: &Running, evaluation: Box<Evaluation>, session_handle: Option<&str>) {
        self.next().session_handle = session_handle.filter(|handle| !handle.trim().is_empty()).map(str::to_owned);
        let Evaluation { decision, data_text, question } = &*evaluation;
        let how = match decision.outcome {
            Verdict::WaitingUser => {
                let question = question.clone().unwrap_or_default();
                self.next().evaluation = Some(evaluation);
                return self.wait(running, question);
            }
            Verdict::Succeeded => Outcome::Succeeded { data_text: data_text.clone() },
            Verdict::Failed => Outcome::Failed(RunError {
                code: decision.code().unwrap_or(Code::ProcessFailed.as_str()).to_owned(),
                message: decision.message(),
            }),
        };
        self.next().evaluation = Some(evaluation);
        if self.run.plan().profile == Profile::StickyProcess {
            self.terminate(&running.slot_id);
        }
        self.release(&running.slot_id);
        self.end(how);
    }

    /// running -> `waiting_user`
    fn wait(&mut self, running: &Running, question: Arc<Question>) {
        let rule = WaitRule::of(self.run.plan());
        let kept_slot = match rule.slot {
            SlotWhileWaiting::Kept => Some(running.slot_id.clone()),
            SlotWhileWaiting::Released => {
                self.release(&running.slot_id);
                None
            }
        };
        let interaction_id = self.run.next_interaction_id();
        let deadline_at = rule.expiry.map(|_| self.now.plus_seconds(self.run.plan().session_timeout_sec));
        let timer = deadline_at.map(|at| self.emit(Action::SetTimer { interaction_id, at }));
        let attempt_number = self.run.attempt_number();
        let pending = PendingInteraction { interaction_id, attempt_number, asked_at: self.now, deadline_at, question };
        self.become_state(State::WaitingUser(WaitingUser { pending, kept_slot, timer }));
    }

    /// running -> failed, or queued again
    fn lose_turn(&mut self, running: &Running) {
        // Lost to the host is not dead: a retried turn must not run beside the first.
        self.terminate(&running.slot_id);
        self.release(&running.slot_id);
        match self.run.plan().interrupted_turn {
            InterruptedTurn::Fail => {
                self.fail(Code::OrchestratorRestartInterrupted, "the process was lost in the middle of a turn");
            }
            InterruptedTurn::Retry => {
                let same_attempt = self.run.attempt_number();
                self.queue(same_attempt, running.answer.clone());
            }
        }
    }

    /// `waiting_user` (sticky) -> failed
    fn lose_waiting_process(&mut self, waiting: &WaitingUser) {
        self.resolve(waiting, ResolutionMode::Canceled, None, None);
        self.end_kept(waiting);
        self.fail(Code::InteractionProcessLost, "the process that waited for the reply is gone");
    }

    /// `waiting_user` -> queued, running or failed; or the timer is armed again
    fn deadline(&mut self, waiting: &WaitingUser) {
        let interaction_id = waiting.pending.interaction_id;
        let (Some(deadline), Some(expiry)) = (waiting.pending.deadline_at, WaitRule::of(self.run.plan()).expiry) else {
            return;
        };
        if self.now < deadline {
            let timer = Some(self.emit(Action::SetTimer { interaction_id, at: deadline }));
            return self.stay(State::WaitingUser(WaitingUser { timer, ..waiting.clone() }));
        }
        match expiry {
            Expiry::AutoDecision => {
                let response = auto_decision(&waiting.pending.question.default_decision_policy);
                self.resolve(waiting, ResolutionMode::AutoDecideTimeout, Some(&response), None);
                self.resume(waiting, Answer { interaction_id, response });
            }
            Expiry::Failure => {
                self.resolve(waiting, ResolutionMode::Expired, None, None);
                self.end_kept(waiting);
                self.fail(Code::InteractionWaitTimeout, "nobody answered in time");
            }
        }
    }

    /// `waiting_user` -> queued or running
    fn take_reply(&mut self, waiting: &WaitingUser, reply: &Reply) {
        let response = reply.response_text();
        let key = reply.idempotency_key.clone();
        self.resolve(waiting, ResolutionMode::UserReply, Some(&response), key);
        let status = replies::status_after_reply(self.run.plan());
        self.step.receipt = Some(Receipt {
            interaction_id: Some(reply.interaction_id),
            status,
            revision: self.revision,
            ..self.run.receipt(ReceiptKind::Accepted)
        });
        self.resume(waiting, Answer { interaction_id: reply.interaction_id, response });
    }

    /// any state that has not ended -> canceled
    fn cancel(&mut self, reason: Option<&str>) {
        match self.run.state() {
            State::Queued(queued) => self.release(&queued.slot_id),
            State::Running(running) => {
                self.terminate(&running.slot_id);
                self.release(&running.slot_id);
            }
            State::WaitingUser(waiting) => {
                self.resolve(waiting, ResolutionMode::Canceled, None, None);
                self.end_kept(waiting);
            }
            State::Ended(_) => {}
        }
        self.step.receipt = Some(Receipt {
            status: Status::Canceled,
            revision: self.revision,
            ..self.run.receipt(ReceiptKind::Canceled)
        });
        let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
        let message = display_text(reason.unwrap_or("the run was canceled"));
        self.end(Outcome::Canceled(RunError {
            code: Code::CanceledByUser.as_str().to_owned(),
            message: message.into_owned(),
        }));
    }

    /// any state, unchanged: an unwanted slot goes back
    fn give_back(&mut self, slot_id: &str) {
        let release = |effect: &Effect| matches!(&effect.action, Action::ReleaseSlot { slot_id: id } if id == slot_id);
        // The deadline may just have released the slot that is granted again (TIME-4).
        if self.step.effects.iter().any(release) {
            return;
        }
        self.release(slot_id);
        // The run stays as it is, and has a step more all the same.
        self.next();
    }

    // -- what the arrows are made of --

    /// From the answer to the next turn: by a new slot, or into the process that waits.
    fn resume(&mut self, waiting: &WaitingUser, answer: Answer) {
        let next_attempt = self.run.attempt_number().saturating_add(1);
        let Some(slot_id) = waiting.kept_slot.clone() else {
            return self.queue(next_attempt, Some(answer));
        };
        self.next().attempt_number = next_attempt;
        let begun = self.emit(Action::InjectReply {
            attempt_number: next_attempt,
            slot_id: slot_id.clone(),
            interaction_id: answer.interaction_id,
            response: answer.response.clone(),
        });
        let answer = Some(answer);
        self.become_state(State::Running(Running { slot_id, answer, begun_by: BegunBy::InjectReply, begun }));
    }

    fn queue(&mut self, next_attempt: u32, answer: Option<Answer>) {
        let number = self.run.slots_requested().saturating_add(1);
        self.next().slots_requested = number;
        let slot_id = slot_id(&self.run.plan().run_id, number);
        let asked = self.emit(Action::AcquireSlot { slot_id: slot_id.clone() });
        self.become_state(State::Queued(Queued { next_attempt, slot_id, answer, asked }));
    }

    /// Writes the question's record and forgets its timer, also when the timer itself was the cause: a re-issued
    /// `set_timer` may still be on its way.
    fn resolve(&mut self, waiting: &WaitingUser, mode: ResolutionMode, response: Option<&str>, key: Option<String>) {
        let pending = &waiting.pending;
        if pending.deadline_at.is_some() {
            self.emit(Action::CancelTimer { interaction_id: pending.interaction_id });
        }
        self.next().record = Some(InteractionRecord {
            interaction_id: pending.interaction_id,
            attempt_number: pending.attempt_number,
            kind: pending.question.kind,
            prompt: pending.question.prompt.clone(),
            response: response.map(str::to_owned),
            resolution_mode: mode,
            asked_at: pending.asked_at,
            resolved_at: self.now,
            idempotency_key: key,
            revision: self.revision,
        });
    }

    fn terminate(&mut self, slot_id: &str) {
        let attempt_number = self.run.attempt_number();
        self.emit(Action::TerminateProcess { attempt_number, slot_id: slot_id.to_owned() });
    }

    fn release(&mut self, slot_id: &str) {
        self.emit(Action::ReleaseSlot { slot_id: slot_id.to_owned() });
    }

    /// Ends the process that waits, if one does, and gives its slot back.
    fn end_kept(&mut self, waiting: &WaitingUser) {
        if let Some(slot_id) = &waiting.kept_slot {
            self.terminate(slot_id);
            self.release(slot_id);
        }
    }

    fn fail(&mut self, code: Code, message: &str) {
        self.end(Outcome::Failed(RunError { code: code.as_str().to_owned(), message: message.to_owned() }));
    }

    fn end(&mut self, how: Outcome) {
        self.become_state(State::Ended(Ended { how }));
    }

    /// Enters a state and notifies observers.
    fn become_state(&mut self, state: State) {
        let interaction_id = match &state {
            State::WaitingUser(waiting) => Some(waiting.pending.interaction_id),
            State::Queued(_) | State::Running(_) | State::Ended(_) => None,
        };
        self.emit(Action::Notify { what: Notification::StatusChanged, status: state.status(), interaction_id });
        self.stay(state);
    }

    fn stay(&mut self, state: State) {
        self.next().state = Some(state);
    }

    fn emit(&mut self, action: Action) -> EffectRef {
        let number = u32::try_from(self.step.effects.len()).unwrap_or(u32::MAX).saturating_add(1);
        let emitted = EffectRef { revision: self.revision, number };
        self.step.effects.push(Effect { action, id: emitted.id(&self.run.plan().run_id) });
        emitted
    }
}

fn position(run: &Run) -> Position {
    Position { attempt_number: run.attempt_number(), interactions: run.history().len() as u64 }
}

fn already_ended(run: &Run) -> Receipt {
    let message = format!("the run has ended: {}", run.status().as_str());
    run.refusal(ReceiptKind::AlreadyEnded, Code::RunAlreadyEnded, message)
}

pub(crate) fn slot_id(run_id: &str, number: u64) -> String {
    format!("{run_id}/s{number}")
}

/// The reply that the core makes at the deadline (TIME-2).
fn auto_decision(policy: &str) -> String {
    format!("The user did not answer in time. Do not ask again; decide yourself and go on. Decision policy: {policy}")
}
