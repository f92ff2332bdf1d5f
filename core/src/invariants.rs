//! What is true of every run that the machine makes: checked on everything that comes back from outside.

use crate::interaction::ResolutionMode;
use crate::plan::{InterruptedTurn, Profile};
use crate::run::Run;
use crate::state::{BegunBy, Outcome, State};
use crate::wait::{SlotWhileWaiting, WaitRule};

/// A run that the machine cannot have made.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) place: &'static str,
    pub(crate) message: &'static str,
}

/// Checks every invariant; the first that does not hold is told.
pub(crate) fn check(run: &Run) -> Result<(), Broken> {
    plan(run)?;
    history(run)?;
    counters(run)?;
    match run.state() {
        State::Queued(_) => queued(run),
        State::Running(_) => running(run),
        State::WaitingUser(_) => waiting(run),
        State::Ended(_) => ended(run),
    }
}

fn ensure(holds: bool, place: &'static str, message: &'static str) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(Broken { place, message }) }
}

fn plan(run: &Run) -> Result<(), Broken> {
    let plan = run.plan();
    ensure(crate::admission::is_run_id(&plan.run_id), "plan.run_id", "not a run id")?;
    ensure(!plan.engine.trim().is_empty(), "plan.engine", "an engine is needed")?;
    ensure(plan.session_timeout_sec >= 1, "plan.session_timeout_sec", "must be positive")?;
    ensure(plan.max_attempt != Some(0), "plan.max_attempt", "must be at least 1")?;
    ensure(plan.limits.problem().is_none(), "plan.limits", "a limit makes no sense")
}

fn history(run: &Run) -> Result<(), Broken> {
    let mut previous = None;
    for (index, record) in run.history().iter().enumerate() {
        ensure(record.interaction_id == index as u64 + 1, "history", "interaction ids are 1, 2, 3 …")?;
        ensure(record.asked_at <= record.resolved_at, "history", "a question is asked before it is resolved")?;
        ensure(record.resolved_at <= run.updated_at(), "history", "a record is later than the run")?;
        ensure(record.asked_at >= run.created_at(), "history", "a record is earlier than the run")?;
        ensure(record.revision <= run.revision(), "history", "a record is newer than the run")?;
        if let Some((attempt_number, revision, resolved_at)) = previous {
            let in_order =
                record.attempt_number > attempt_number && record.revision > revision && record.asked_at >= resolved_at;
            ensure(in_order, "history", "records are in order")?;
        }
        let answered = matches!(record.resolution_mode, ResolutionMode::UserReply | ResolutionMode::AutoDecideTimeout);
        ensure(answered == record.response.is_some(), "history", "an answer belongs to an answered question")?;
        ensure(answered || index + 1 == run.history().len(), "history", "a question closed by the end is the last")?;
        let keyed = record.idempotency_key.is_some();
        ensure(!keyed || record.resolution_mode == ResolutionMode::UserReply, "history", "only a reply has a key")?;
        previous = Some((record.attempt_number, record.revision, record.resolved_at));
    }
    ensure(run.plan().is_interactive() || run.history().is_empty(), "history", "an auto run asks nobody")?;
    let keys = run.history().iter().filter(|record| record.idempotency_key.is_some()).count();
    ensure(keys == run.reply_key_count(), "history", "an idempotency key stands for one reply")
}

fn counters(run: &Run) -> Result<(), Broken> {
    let life = run.life();
    ensure(life.revision >= 1, "life.revision", "must be at least 1")?;
    ensure(life.created_at <= life.updated_at, "life.updated_at", "a run changes after it was made")?;
    ensure(life.slots_requested >= 1, "life.slots_requested", "must be at least 1")?;
    let max = run.plan().max_attempt.filter(|_| run.plan().is_interactive());
    ensure(max.is_none_or(|max| life.attempt_number <= max), "life.attempt_number", "passes max_attempt")?;
    // Every answer leads to one more turn, once that turn has started.
    let answered = run.history().iter().filter(|record| record.response.is_some()).count() as u64;
    let attempts = u64::from(life.attempt_number);
    let retry = run.plan().interrupted_turn == InterruptedTurn::Retry;
    let expected = match run.state() {
        State::Queued(_) if retry => attempts == answered || attempts == answered + 1,
        State::Queued(_) => attempts == answered,
        State::Running(_) | State::WaitingUser(_) => attempts == answered + 1,
        State::Ended(_) => attempts == answered || attempts == answered + 1,
    };
    ensure(expected, "life.attempt_number", "does not follow from the history")
}

fn queued(run: &Run) -> Result<(), Broken> {
    let State::Queued(queued) = run.state() else { return Ok(()) };
    let next = [run.attempt_number(), run.attempt_number().saturating_add(1)];
    ensure(next.contains(&queued.next_attempt) && queued.next_attempt >= 1, "life.state.next_attempt", "out of step")?;
    ensure(queued.asked.revision <= run.revision(), "life.state.asked", "newer than the run")?;
    let last_answer = run.history().last().map(|record| record.interaction_id);
    let answered = queued.answer.as_ref().map(|answer| answer.interaction_id);
    ensure(answered == last_answer, "life.state.answer", "is not the answer to the last question")?;
    last_slot(run, &queued.slot_id)
}

fn running(run: &Run) -> Result<(), Broken> {
    let State::Running(running) = run.state() else { return Ok(()) };
    ensure(running.begun.revision <= run.revision(), "life.state.begun", "newer than the run")?;
    let injected = running.begun_by == BegunBy::InjectReply;
    let sticky = run.plan().profile == Profile::StickyProcess;
    ensure(!injected || (sticky && running.answer.is_some()), "life.state.begun_by", "nothing can have been injected")?;
    let last_answer = run.history().last().map(|record| record.interaction_id);
    let answered = running.answer.as_ref().map(|answer| answer.interaction_id);
    ensure(answered == last_answer, "life.state.answer", "is not the answer to the last question")?;
    last_slot(run, &running.slot_id)
}

fn waiting(run: &Run) -> Result<(), Broken> {
    let State::WaitingUser(waiting) = run.state() else { return Ok(()) };
    let pending = &waiting.pending;
    let rule = WaitRule::of(run.plan());
    ensure(run.plan().is_interactive(), "life.state", "an auto run never waits")?;
    ensure(pending.interaction_id == run.next_interaction_id(), "life.state.pending", "is not the next question")?;
    ensure(pending.attempt_number == run.attempt_number(), "life.state.pending", "was asked by another turn")?;
    ensure(pending.asked_at <= run.updated_at(), "life.state.pending", "is later than the run")?;
    ensure(pending.asked_at >= run.created_at(), "life.state.pending", "is earlier than the run")?;
    let deadline = rule.expiry.map(|_| pending.asked_at.plus_seconds(run.plan().session_timeout_sec));
    ensure(pending.deadline_at == deadline, "life.state.pending.deadline_at", "is not the plan's")?;
    ensure(waiting.timer.is_some() == deadline.is_some(), "life.state.timer", "a timer belongs to a deadline")?;
    ensure(
        waiting.timer.is_none_or(|timer| timer.revision <= run.revision()),
        "life.state.timer",
        "newer than the run",
    )?;
    ensure(!pending.question.prompt.trim().is_empty(), "life.state.pending", "a question needs a prompt")?;
    match (rule.slot, &waiting.kept_slot) {
        (SlotWhileWaiting::Kept, Some(slot_id)) => last_slot(run, slot_id),
        (SlotWhileWaiting::Released, None) => Ok(()),
        (SlotWhileWaiting::Kept, None) | (SlotWhileWaiting::Released, Some(_)) => {
            ensure(false, "life.state.kept_slot", "does not fit the profile")
        }
    }
}

fn ended(run: &Run) -> Result<(), Broken> {
    let closed_by_end = run.history().last().is_some_and(|record| record.response.is_none());
    match run.outcome() {
        Some(Outcome::Succeeded { data_text }) => {
            ensure(run.attempt_number() >= 1, "life.state", "nothing succeeds without a turn")?;
            ensure(!closed_by_end, "history", "a run with an open question does not succeed")?;
            let readable = data_text
                .as_ref()
                .is_none_or(|text| crate::json::parse_value(text, crate::limits::Limits::MAX_JSON_DEPTH).is_ok());
            ensure(readable, "life.state.how.data_text", "is not JSON")
        }
        Some(Outcome::Failed(error) | Outcome::Canceled(error)) => {
            ensure(!error.code.is_empty(), "life.state.how.code", "an end without success has a code")
        }
        None => Ok(()),
    }
}

fn last_slot(run: &Run, slot_id: &str) -> Result<(), Broken> {
    let expected = crate::transition::slot_id(&run.plan().run_id, run.slots_requested());
    ensure(slot_id == expected, "life.state.slot_id", "is not the slot that was asked for last")
}
