//! What is true of every run, and of every step: written from the spec, through the public interface only.

use serde_json::{Value, json};
use turnlatch::types::Observation;
use turnlatch::types::{Outcome, ReceiptKind, ResolutionMode};
use turnlatch::{Action, Code, EventRejected, Mode, Plan, Profile, Receipt, Run, Status, Transition};

/// What is true of a run wherever it is.
///
/// # Panics
/// If something is not.
pub fn assert_state(run: &Run) {
    let (plan, status, keep) = (run.plan(), run.status(), run.outstanding().keep);
    let waiting = status == Status::WaitingUser;
    let sticky = plan.profile == Profile::StickyProcess;
    assert_eq!(run.pending().is_some(), waiting, "a question is pending exactly while waiting");
    assert!(!waiting || plan.execution_mode == Mode::Interactive, "auto never waits");
    assert_eq!(run.outcome().is_some(), status.is_end(), "an outcome belongs to an end");
    assert_error_belongs_to_a_bad_end(run);

    let owns_slot = matches!(status, Status::Queued | Status::Running) || (waiting && sticky);
    assert_eq!(keep.slot_id.is_some(), owns_slot, "a slot is asked for or held exactly where it is needed");
    let has_process = status == Status::Running || (waiting && sticky);
    assert_eq!(keep.process, keep.slot_id.clone().filter(|_| has_process), "a process lives in the slot that is held");
    let has_deadline = waiting && (sticky || !plan.require_user_reply);
    assert_eq!(keep.timer.is_some(), has_deadline, "a timer is set exactly where section 6 says so");
    assert_eq!(keep.timer.is_some(), run.pending().is_some_and(|pending| pending.deadline_at.is_some()));

    assert_attempts(run);
    for (index, record) in run.history().iter().enumerate() {
        assert_eq!(record.interaction_id, index as u64 + 1, "each question is resolved once, in order");
        let closed = matches!(record.resolution_mode, ResolutionMode::Canceled | ResolutionMode::Expired);
        assert_eq!(closed, record.response.is_none(), "only a question closed by the end has no answer");
        assert!(!closed || (status.is_end() && index + 1 == run.history().len()), "such a question is the last");
    }
    if let Some(pending) = run.pending() {
        assert_eq!(pending.interaction_id, run.history().len() as u64 + 1, "the pending question is the next one");
        assert_eq!(pending.attempt_number, run.attempt_number(), "the last turn asked it");
    }
}

/// The attempt follows from the answers: each leads to one more turn, once that has started.
fn assert_attempts(run: &Run) {
    let (plan, attempts) = (run.plan(), run.attempt_number() as usize);
    if plan.execution_mode == Mode::Auto {
        assert!(attempts <= 1, "auto takes one turn");
    } else if let Some(max) = plan.max_attempt {
        assert!(run.attempt_number() <= max, "attempt {attempts} of {max}");
    }
    let answers = run.history().iter().filter(|record| record.response.is_some()).count();
    match run.status() {
        Status::Running | Status::WaitingUser | Status::Succeeded => assert_eq!(attempts, answers + 1),
        Status::Queued | Status::Failed | Status::Canceled => {
            assert!(attempts == answers || attempts == answers + 1, "attempt {attempts} after {answers} answers");
        }
    }
}

/// An error code belongs to a bad end, and to nothing else.
///
/// # Panics
/// If it does not.
pub fn assert_error_belongs_to_a_bad_end(run: &Run) {
    let view = run.status_view();
    let bad_end = matches!(run.status(), Status::Failed | Status::Canceled);
    assert_eq!(view.error.is_some(), bad_end, "{:?} while {}", view.error, run.status().as_str());
    if let Some(Outcome::Failed(error) | Outcome::Canceled(error)) = run.outcome() {
        assert!(!error.code.is_empty(), "a bad end has a code");
        let canceled = run.status() == Status::Canceled;
        assert_eq!(canceled, error.code == "CANCELED_BY_USER", "{} while {}", error.code, run.status().as_str());
    }
}

/// What is true of every step.
///
/// # Panics
/// If something is not.
pub fn assert_step(before: &Run, result: &Result<Transition, EventRejected>, after: &Run) {
    match result {
        Ok(Transition { entry: Some(entry), effects, observation: Some(observed), .. }) => {
            assert_observation(after.plan(), observed);
            let left = Some(before.status()).filter(|status| *status != after.status());
            assert_eq!(observed.left, left, "what is left is told exactly when the run is somewhere else");
            assert_eq!(observed.lasted_ms.is_some(), left.is_some(), "and with it, how long it was there");
            assert_eq!(after.revision(), before.revision() + 1, "a change counts one");
            assert_eq!(entry.revision, after.revision(), "the journal counts with the run");
            assert!(!effects.is_empty(), "every change has something to tell");
            for (index, effect) in effects.iter().enumerate() {
                let id = format!("{}/{}/{}", after.plan().run_id, after.revision(), index + 1);
                assert_eq!(effect.id, id, "an effect's id says where it was told");
            }
        }
        Ok(Transition { effects, observation, receipt, .. }) => {
            let refused = receipt.as_ref().and_then(|receipt| receipt.code);
            assert_eq!(observation.as_ref().and_then(|observed| observed.rejected), refused.map(Code::as_str));
            assert_eq!(observation.is_some(), refused.is_some(), "only steps and refusals are observed");
            assert!(effects.is_empty(), "what leaves no trace has no effects: {effects:?}");
            assert!(before == after, "an ignored event changes nothing");
        }
        Err(rejected) => {
            assert!(!rejected.code().is_empty(), "a rejection has a code");
            assert!(before == after, "a rejected event changes nothing");
        }
    }
    result.iter().filter_map(|transition| transition.receipt.as_ref()).for_each(assert_receipt);
    assert!(after.attempt_number() >= before.attempt_number(), "an attempt's number never falls");
    assert!(after.attempt_number() <= before.attempt_number() + 1, "and never skips one");
    assert!(after.updated_at() >= before.updated_at(), "time never goes back");
    assert_eq!(after.history().get(..before.history().len()), Some(before.history()), "history is append-only");
    assert!(after.history().len() <= before.history().len() + 1, "a step resolves at most one question");
    if before.status().is_end() {
        assert_eq!(after.status(), before.status(), "an end is an end");
        assert_eq!(after.outcome(), before.outcome(), "and stays the same one");
        assert_eq!(after.history(), before.history(), "and so does what was said");
        for effect in result.iter().flat_map(|applied| &applied.effects) {
            let gives_back = matches!(effect.action, Action::ReleaseSlot { .. });
            assert!(gives_back, "an ended run only gives slots back: {effect:?}");
        }
    }
}

/// Section 7, the last column: what a receipt is told with.
fn assert_receipt(receipt: &Receipt) {
    let expected = match receipt.kind {
        ReceiptKind::Accepted | ReceiptKind::Duplicate | ReceiptKind::Canceled => 200,
        ReceiptKind::NotInteractive => 400,
        ReceiptKind::TooLarge => 413,
        ReceiptKind::Conflict
        | ReceiptKind::Stale
        | ReceiptKind::NotWaiting
        | ReceiptKind::Unknown
        | ReceiptKind::AlreadyEnded => 409,
    };
    assert_eq!(receipt.http_status(), expected, "{receipt:?}");
    assert_eq!(receipt.code.is_some(), expected != 200, "a refusal has a code");
    assert_eq!(receipt.message.is_some(), expected != 200, "and a sentence");
}

/// OBS-2: beside the run's id and the host's name of the engine, an observation says only words of short lists.
///
/// # Panics
/// If it says another one.
pub fn assert_observation(plan: &Plan, observed: &Observation) {
    let found = (&observed.run_id, &observed.engine, observed.execution_mode);
    assert_eq!(found, (&plan.run_id, &plan.engine, plan.execution_mode));
    let mut rest = json!(observed);
    for owned in ["run_id", "engine"] {
        rest[owned] = Value::Null;
    }
    assert_words(&rest);
}

fn assert_words(value: &Value) {
    match value {
        Value::String(word) => assert!(
            WORDS.contains(&word.as_str()) || word.starts_with("GATE-") || Code::from_text(word).is_some(),
            "an observation says `{word}`"
        ),
        Value::Array(items) => items.iter().for_each(assert_words),
        Value::Object(members) => members.values().for_each(assert_words),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[rustfmt::skip]
const WORDS: [&str; 24] = [
    "created", "slot_granted", "turn_finished", "reply", "timer_fired", "process_lost", "cancel", "unknown",
    "user", "agent", "timer", "host", "auto", "interactive",
    "queued", "running", "waiting_user", "succeeded", "failed", "canceled",
    "user_reply", "auto_decide_timeout", "expired", "OTHER",
];
