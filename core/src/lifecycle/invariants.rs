//! What is true of every run that the machine makes: checked on everything that comes back from outside.

use crate::admission::plan::Plan;
use crate::json;
use crate::lifecycle::run::Run;
use crate::lifecycle::wait::{SlotWhileWaiting, WaitRule};
use crate::schema::Check;
use crate::turn::gate::FALLBACK_PROMPT;
use crate::types::codes::Code;
use crate::types::decision::{Decision, Verdict};
use crate::types::effect::EffectRef;
use crate::types::interaction::ResolutionMode;
use crate::types::limits::Limits;
use crate::types::plan::{InterruptedTurn, MAX_SESSION_TIMEOUT_SEC, Profile};
use crate::types::state::{Answer, BegunBy, Outcome, Queued, Running, State, WaitingUser};

/// A run that the machine cannot have made.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) place: &'static str,
    pub(crate) message: &'static str,
}

/// Checks every invariant; returns the first that does not hold.
pub(crate) fn check(run: &Run) -> Result<(), Broken> {
    plan(run.plan())?;
    history(run)?;
    check_life(run)
}

/// Checks what a step changes, in a run whose plan and history have been checked.
pub(crate) fn check_life(run: &Run) -> Result<(), Broken> {
    counters(run)?;
    match run.state() {
        State::Queued(turn) => queued(run, turn),
        State::Running(turn) => running(run, turn),
        State::WaitingUser(wait) => waiting(run, wait),
        State::Ended(_) => ended(run),
    }
}

fn ensure(holds: bool, place: &'static str, message: &'static str) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(Broken { place, message }) }
}

/// Checks what admission sees to.
pub(crate) fn plan(plan: &Plan) -> Result<(), Broken> {
    ensure(crate::admission::is_run_id(&plan.run_id), "plan.run_id", "not a run id")?;
    ensure(!plan.engine.trim().is_empty(), "plan.engine", "an engine is needed")?;
    let timeouts = 1..=MAX_SESSION_TIMEOUT_SEC;
    ensure(timeouts.contains(&plan.session_timeout_sec), "plan.session_timeout_sec", "is out of range")?;
    ensure(plan.max_attempt != Some(0), "plan.max_attempt", "must be at least 1")?;
    limits(plan)
}

pub(crate) fn limits(plan: &Plan) -> Result<(), Broken> {
    ensure(plan.limits.problems().is_empty(), "plan.limits", "a limit makes no sense")
}

fn history(run: &Run) -> Result<(), Broken> {
    let mut previous = None;
    for (index, record) in run.history().iter().enumerate() {
        ensure(record.interaction_id == index as u64 + 1, "history", "interaction ids are 1, 2, 3 …")?;
        ensure(record.asked_at <= record.resolved_at, "history", "a question is asked before it is resolved")?;
        ensure(record.resolved_at <= run.updated_at(), "history", "a record is later than the run")?;
        ensure(record.asked_at >= run.created_at(), "history", "a record is earlier than the run")?;
        ensure(record.revision <= run.revision(), "history", "a record is newer than the run")?;
        // Each turn asks one question, and each answer leads to the next turn.
        ensure(u64::from(record.attempt_number) == record.interaction_id, "history", "records are in order")?;
        if let Some((revision, resolved_at)) = previous {
            let in_order = record.revision > revision && record.asked_at >= resolved_at;
            ensure(in_order, "history", "records are in order")?;
        }
        let answered = matches!(record.resolution_mode, ResolutionMode::UserReply | ResolutionMode::AutoDecideTimeout);
        ensure(answered == record.response.is_some(), "history", "an answer belongs to an answered question")?;
        ensure(answered || index + 1 == run.history().len(), "history", "a question closed by the end is the last")?;
        let keyed = record.idempotency_key.is_some();
        ensure(!keyed || record.resolution_mode == ResolutionMode::UserReply, "history", "only a reply has a key")?;
        previous = Some((record.revision, record.resolved_at));
    }
    let questions = run.history().len() as u64 + u64::from(run.pending().is_some());
    let is_within = run.plan().limits.interactions.is_none_or(|limit| questions <= limit);
    ensure(is_within, "history", "questions are within the plan's limit")?;
    ensure(run.plan().is_interactive() || run.history().is_empty(), "history", "an auto run asks nobody")?;
    ensure(run.resolved().has_each_key_once(), "history", "an idempotency key stands for one reply")
}

fn counters(run: &Run) -> Result<(), Broken> {
    let life = run.life();
    ensure(life.revision >= 1, "life.revision", "must be at least 1")?;
    ensure(life.revision <= MOST_EVENTS, "life.revision", "is more than can be counted")?;
    ensure(life.created_at <= life.updated_at, "life.updated_at", "a run changes after it was made")?;
    ensure(life.slots_requested >= 1, "life.slots_requested", "must be at least 1")?;
    ensure(life.slots_requested <= life.revision, "life.slots_requested", "is more than the events that led here")?;
    let max = run.plan().max_attempt.filter(|_| run.plan().is_interactive());
    ensure(max.is_none_or(|max| life.attempt_number <= max), "life.attempt_number", "passes max_attempt")?;
    // Every answer leads to one more turn, once that turn has started.
    let answered = run.resolved().answered;
    let attempts = u64::from(life.attempt_number);
    let retry = run.plan().interrupted_turn == InterruptedTurn::Retry;
    let expected = match run.state() {
        State::Queued(_) if retry => attempts == answered || attempts == answered + 1,
        State::Queued(_) => attempts == answered,
        State::Running(_) | State::WaitingUser(_) => attempts == answered + 1,
        State::Ended(_) => attempts == answered || attempts == answered + 1,
    };
    ensure(expected, "life.attempt_number", "does not follow from the history")?;
    ensure(life.revision >= fewest_events(run), "life.revision", "is less than the events that lead here")
}

/// The creation, the grants, the report and the end of each question, and the run's own end: an effect's id that counted less
/// would be that of an earlier effect.
fn fewest_events(run: &Run) -> u64 {
    let attempts = u64::from(run.attempt_number());
    let sticky = run.plan().profile == Profile::StickyProcess;
    let grants = if sticky { attempts.min(1) } else { attempts };
    let ended_with_question = run.history().last().is_some_and(|record| {
        // An event after a sticky wait's deadline makes the automatic decision and may end the run in one step (TIME-4).
        record.response.is_none() || (sticky && record.resolution_mode == ResolutionMode::AutoDecideTimeout)
    });
    let last = match run.state() {
        State::WaitingUser(_) => 1,
        State::Ended(_) => u64::from(!ended_with_question),
        State::Queued(_) | State::Running(_) => 0,
    };
    1 + grants + 2 * run.history().len() as u64 + last
}

fn queued(run: &Run, queued: &Queued) -> Result<(), Broken> {
    // Whether it is new or retried, a turn's number is one more than the answers before it.
    let is_next = u64::from(queued.next_attempt) == run.history().len() as u64 + 1;
    ensure(is_next, "life.state.next_attempt", "does not follow from the history")?;
    was_emitted(run, queued.asked, "life.state.asked")?;
    last_answer(run, queued.answer.as_ref())?;
    last_slot(run, &queued.slot_id)
}

fn running(run: &Run, running: &Running) -> Result<(), Broken> {
    was_emitted(run, running.begun, "life.state.begun")?;
    let injected = running.begun_by == BegunBy::InjectReply;
    let sticky = run.plan().profile == Profile::StickyProcess;
    ensure(!injected || (sticky && running.answer.is_some()), "life.state.begun_by", "nothing can have been injected")?;
    last_answer(run, running.answer.as_ref())?;
    last_slot(run, &running.slot_id)
}

fn waiting(run: &Run, waiting: &WaitingUser) -> Result<(), Broken> {
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
    waiting.timer.map_or(Ok(()), |timer| was_emitted(run, timer, "life.state.timer"))?;
    ensure(decided(run, Verdict::WaitingUser), "life.decision", "does not say that the run waits")?;
    ensure(!pending.question.prompt.trim().is_empty(), "life.state.pending", "a question needs a prompt")?;
    let limits = &run.plan().limits;
    let most_bytes = limits.prompt_bytes.max(FALLBACK_PROMPT.len());
    ensure(pending.question.prompt.len() <= most_bytes, "life.state.pending", "a prompt is within the plan's limit")?;
    ensure(
        pending.question.options.len() <= limits.options,
        "life.state.pending",
        "options are within the plan's limit",
    )?;
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
            ensure(decided(run, Verdict::Succeeded), "life.decision", "does not say that the run succeeded")?;
            result(run, data_text.as_deref())
        }
        Some(Outcome::Failed(error)) => {
            let by_gate = decided(run, Verdict::Failed) && run.decision().and_then(Decision::code) == Some(&error.code);
            let by_event = FAILURES_WITHOUT_A_GATE.iter().any(|known| known.as_str() == error.code);
            ensure(by_gate || by_event, "life.state.how.code", "is not why the run failed")
        }
        Some(Outcome::Canceled(error)) => {
            ensure(error.code == Code::CanceledByUser.as_str(), "life.state.how.code", "is not that of a cancel")
        }
        None => Ok(()),
    }
}

fn decided(run: &Run, outcome: Verdict) -> bool {
    run.decision().is_some_and(|decision| decision.outcome == outcome)
}

fn result(run: &Run, data_text: Option<&str>) -> Result<(), Broken> {
    let document = data_text.map(|text| json::parse_document(text, Limits::MAX_JSON_DEPTH)).transpose();
    let Ok(document) = document else { return ensure(false, "life.state.how.data_text", "is not JSON") };
    let fits = match (&run.plan().output_schema, document) {
        (Some(schema), Some(document)) => !schema.can_check() || schema.check_document(&document) == Check::Valid,
        (Some(_), None) => false,
        (None, _) => true,
    };
    ensure(fits, "life.state.how.data_text", "does not fit the schema")
}

fn last_answer(run: &Run, answer: Option<&Answer>) -> Result<(), Broken> {
    let recorded = run.history().last().map(|record| (record.interaction_id, record.response.as_deref()));
    let carried = answer.map(|answer| (answer.interaction_id, Some(answer.response.as_str())));
    ensure(recorded == carried, "life.state.answer", "is not the answer to the last question")
}

/// An effect was emitted in a revision that there has been.
fn was_emitted(run: &Run, effect: EffectRef, place: &'static str) -> Result<(), Broken> {
    let exists = (1..=run.revision()).contains(&effect.revision) && effect.number >= 1;
    ensure(exists, place, "names an effect that was never told")
}

/// Why a run fails when it is not a turn that fails it.
const FAILURES_WITHOUT_A_GATE: [Code; 3] =
    [Code::OrchestratorRestartInterrupted, Code::InteractionProcessLost, Code::InteractionWaitTimeout];

fn last_slot(run: &Run, slot_id: &str) -> Result<(), Broken> {
    let expected = crate::lifecycle::transition::slot_id(&run.plan().run_id, run.slots_requested());
    ensure(slot_id == expected, "life.state.slot_id", "is not the slot that was asked for last")
}

/// The largest integer that every runtime holds.
const MOST_EVENTS: u64 = (1 << 53) - 1;
