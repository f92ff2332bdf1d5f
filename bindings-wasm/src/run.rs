//! Runs by their handle.

use std::cell::RefCell;
use std::rc::Rc;

use turnlatch::{
    Applied, Effect, Event, Found, JournalEntry, Rejected, Run, Status, Step, Value, Writable, Writer, json_text,
    push_json,
};
use wasm_bindgen::prelude::*;

use crate::convert::{first_line, read_json, read_list, text, time};
use crate::errors::{Failed, misuse, not_loaded, rejected};
use crate::table::{PLANS, RUNS};
use crate::{desk, effects};

/// Tells what came of an event. As numbers: the revision, or 0 if the event was absorbed; the handle of a new run; how
/// many effects there are, and then the effects themselves, or -1. As text, a line each: effects that are not told as
/// numbers, the receipt, what is worth measuring, and how a turn was judged. JSON text has no line breaks; a line is empty
/// if there is nothing, and the last two are read only when somebody asks.
fn tell(handle: u32, run_id: &str, applied: &Applied, told: &mut String) {
    let Applied { effects, receipt, entry, .. } = applied;
    #[expect(clippy::cast_precision_loss, reason = "no run lives to see so many events, nor so many effects")]
    let has_numbers = desk::with_numbers(|numbers| match numbers {
        [revision, new_run, count, places @ .., _] => {
            let written = effects::write(effects, run_id, places);
            *revision = entry.as_ref().map_or(0.0, |entry| entry.revision as f64);
            *new_run = f64::from(handle);
            *count = if written { effects.len() as f64 } else { -1.0 };
            written
        }
        _ => false,
    });
    if !has_numbers {
        push_json(told, effects);
    }
    told.push('\n');
    if let Some(receipt) = receipt {
        push_json(told, receipt);
    }
    told.push('\n');
    #[cfg(feature = "observe")]
    if let Some(observed) = &applied.observed {
        push_json(told, observed);
    }
    told.push('\n');
    tell_judged(entry.as_ref(), told);
}

/// What a turn was judged to be, in parts, of which `js/judged.ts` makes JSON text when somebody asks: a line with the
/// decision or, if it has one, its number; a line with what is asked; and the output as it is. The last number is the
/// decision's too, or -1.
fn tell_judged(entry: Option<&JournalEntry>, told: &mut String) {
    let judged = entry.and_then(JournalEntry::judged_parts);
    let number = judged.as_ref().and_then(|judged| judged.number);
    desk::with_numbers(|numbers| {
        if let [.., decision] = numbers {
            *decision = number.and_then(effects::exact).unwrap_or(-1.0);
        }
    });
    let Some(judged) = judged else { return };
    match &number {
        Some(number) => push_json(told, number),
        None => push_json(told, judged.decision),
    }
    told.push('\n');
    if let Some(question) = judged.question {
        push_json(told, question);
    }
    told.push('\n');
    told.push_str(judged.data_text.unwrap_or_default());
}

/// The run's last decision, of which JavaScript has been told the number.
#[wasm_bindgen]
#[must_use]
pub fn run_decision(run: u32) -> i32 {
    desk::tell(|| told_of(run, |run| json_text(&run.decision())))
}

pub(crate) fn keep(run: Run) -> u32 {
    RUNS.with(|runs| runs.add(Rc::new(RefCell::new(run))))
}

fn find(run: u32) -> Result<Rc<RefCell<Run>>, Failed> {
    RUNS.with(|runs| runs.get(run))
}

/// What there is to tell of a run. One function for all questions that are asked with nothing but a handle.
fn told_of(run: u32, tell: fn(&Run) -> String) -> Result<String, Failed> {
    Ok(tell(&find(run)?.borrow()))
}

/// Makes a run of an admitted plan.
#[wasm_bindgen]
#[must_use]
pub fn run_create(plan: u32, now: f64) -> i32 {
    desk::answer(0, &mut |_, told| {
        let plan = PLANS.with(|plans| plans.get(plan))?;
        let (run, applied) = Run::create(plan.clone(), time(now)?);
        tell(keep(run), &plan.run_id, &applied, told);
        Ok(())
    })
}

/// Reads a snapshot back.
#[wasm_bindgen]
pub fn run_restore(snapshot: &[u8]) -> Result<u32, Failed> {
    Run::restore(text(snapshot)?).map(keep).map_err(|error| not_loaded(&error))
}

/// Applies one event.
///
/// The run changes when the answer has been written: whatever breaks on the way, the table still holds it as it was.
#[wasm_bindgen]
#[must_use]
pub fn run_apply(run: u32, form: u32, length: usize, now: f64) -> i32 {
    desk::answer(length, &mut |given, told| {
        // A time that is none is told before an event that is none (BAD-7).
        let (run, now) = (find(run)?, time(now)?);
        let prepared = read_event(form, given).and_then(|event| run.borrow().prepare(event, now));
        let prepared = prepared.map_err(|error| rejected(&error))?;
        tell(0, &run.borrow().plan().run_id, prepared.applied(), told);
        run.borrow_mut().commit(prepared);
        Ok(())
    })
}

/// An event in one of the forms of `js/event.ts`: JSON text, and behind it in lines of its own what is too long for that,
/// the turn's text or what its program printed.
pub(crate) fn read_event(form: u32, given: &str) -> Result<Event, Rejected> {
    if form == 0 {
        return Event::from_json(given);
    }
    let (report, words) = first_line(given);
    match form {
        1 => Event::from_json(report).and_then(|event| event.with_text(words)),
        2 => Event::from_json_and_stdout(report, words),
        _ => Ok(Event::Created {}),
    }
}

/// What is worth measuring of an event that was rejected. A time that cannot be read is no reason to tell nothing.
#[cfg(feature = "observe")]
#[wasm_bindgen]
#[must_use]
pub fn run_observe_rejected(run: u32, event: &str, code: &str, now: f64) -> i32 {
    desk::tell(|| Ok(json_text(&find(run)?.borrow().observe_rejected(event, code, time(now).unwrap_or_default()))))
}

struct Begun {
    handle: u32,
    step: Step,
}

impl Writable for Begun {
    fn write(&self, out: &mut Writer) {
        out.object(|out| {
            out.member("handle", &self.handle);
            out.member("step", &self.step);
        });
    }
}

/// Makes a run again from its plan and the first line of its journal.
#[wasm_bindgen]
#[must_use]
pub fn run_first(plan: u32, line: &[u8]) -> i32 {
    desk::tell(|| {
        let plan = PLANS.with(|plans| plans.get(plan))?;
        let (run, step) = Run::first(plan, text(line)?).map_err(|error| not_loaded(&error))?;
        Ok(json_text(&Begun { handle: keep(run), step }))
    })
}

/// Does what the next line of the journal says; on a copy, so that whatever breaks on the way, the run is as it was.
#[wasm_bindgen]
#[must_use]
pub fn run_follow(run: u32, line: &[u8]) -> i32 {
    desk::tell(|| {
        let run = find(run)?;
        let mut next = run.borrow().clone();
        let step = next.follow(text(line)?).map_err(|error| not_loaded(&error))?;
        run.replace(next);
        Ok(json_text(&step))
    })
}

/// The plan that the run was made of.
#[wasm_bindgen]
pub fn run_plan(run: u32) -> Result<u32, Failed> {
    let plan = find(run)?.borrow().plan().clone();
    Ok(PLANS.with(|plans| plans.add(plan)))
}

/// A run of its own in the same state.
#[wasm_bindgen]
pub fn run_copy(run: u32) -> Result<u32, Failed> {
    let copy = find(run)?.borrow().clone();
    Ok(keep(copy))
}

/// Gives a run's memory back.
#[wasm_bindgen]
pub fn run_free(run: u32) {
    RUNS.with(|runs| runs.remove(run));
}

/// The handles of all runs.
#[wasm_bindgen]
#[must_use]
pub fn live_runs() -> Vec<u32> {
    RUNS.with(crate::table::Table::handles)
}

/// The run as canonical JSON text.
#[wasm_bindgen]
pub fn run_snapshot(run: u32) -> Result<String, Failed> {
    told_of(run, Run::snapshot)
}

/// The run's id.
#[wasm_bindgen]
#[must_use]
pub fn run_id(run: u32) -> i32 {
    desk::tell(|| told_of(run, |run| run.plan().run_id.clone()))
}

/// Where the run is.
#[wasm_bindgen]
#[must_use]
pub fn run_status(run: u32) -> i32 {
    desk::tell(|| told_of(run, |run| run.status().as_str().to_owned()))
}

/// Whether nothing can happen to it any more.
#[wasm_bindgen]
pub fn run_ended(run: u32) -> Result<bool, Failed> {
    Ok(find(run)?.borrow().status().is_end())
}

/// How many events have changed it; far below 2^53.
#[wasm_bindgen]
#[expect(clippy::cast_precision_loss, reason = "it counts events one by one and never comes near 2^53")]
pub fn run_revision(run: u32) -> Result<f64, Failed> {
    Ok(find(run)?.borrow().revision() as f64)
}

/// The number of the last turn that started.
#[wasm_bindgen]
pub fn run_attempt_number(run: u32) -> Result<u32, Failed> {
    Ok(find(run)?.borrow().attempt_number())
}

/// The last good handle of the agent's session.
#[wasm_bindgen]
pub fn run_session_handle(run: u32) -> Result<Option<String>, Failed> {
    Ok(find(run)?.borrow().session_handle().map(str::to_owned))
}

/// The run as a client sees it.
#[wasm_bindgen]
#[must_use]
pub fn run_status_view(run: u32) -> i32 {
    desk::tell(|| told_of(run, |run| json_text(&run.status_view())))
}

/// The pending question as a client sees it.
#[wasm_bindgen]
#[must_use]
pub fn run_pending_view(run: u32) -> i32 {
    desk::tell(|| told_of(run, |run| json_text(&run.pending_view())))
}

/// Every question that came to its end.
#[wasm_bindgen]
#[must_use]
pub fn run_history(run: u32) -> i32 {
    desk::tell(|| told_of(run, |run| json_text(&run.history())))
}

/// What the host still owes.
#[wasm_bindgen]
#[must_use]
pub fn run_outstanding(run: u32) -> i32 {
    desk::tell(|| told_of(run, |run| json_text(&run.outstanding())))
}

/// Whether an effect is still to be performed; `failed` is the JSON text of a list of effects.
#[wasm_bindgen]
#[must_use]
pub fn run_due(run: u32, effect: &[u8], failed: &[u8]) -> i32 {
    desk::tell(|| {
        let effect = read_effect(read_json(effect)?)?;
        let mut others = Vec::new();
        for effect in read_list(failed)? {
            others.push(read_effect(effect)?);
        }
        Ok(json_text(&find(run)?.borrow().due(&effect, &others)))
    })
}

/// What becomes of an effect that failed too often.
#[wasm_bindgen]
#[must_use]
pub fn run_given_up(run: u32, effect: &[u8], begun: bool) -> i32 {
    desk::tell(|| {
        let effect = read_effect(read_json(effect)?)?;
        Ok(json_text(&find(run)?.borrow().given_up(&effect, begun)))
    })
}

/// How to go on after a restart.
#[wasm_bindgen]
#[must_use]
pub fn run_after_restart(run: u32, process_alive: bool, begun: bool, slot_lost: bool) -> i32 {
    desk::tell(|| Ok(json_text(&find(run)?.borrow().after_restart(Found { process_alive, begun, slot_lost }))))
}

fn read_effect(effect: Value) -> Result<Effect, Failed> {
    Effect::from_value(effect).map_err(|error| rejected(&error))
}

/// Why the run is where it is.
#[wasm_bindgen]
#[must_use]
pub fn run_explain(run: u32) -> i32 {
    desk::tell(|| told_of(run, |run| json_text(&run.explain())))
}

/// What keeps the run from a status.
#[wasm_bindgen]
#[must_use]
pub fn run_why_not(run: u32, target: &str) -> i32 {
    desk::tell(|| {
        let known = Status::ALL.into_iter().find(|status| status.as_str() == target);
        let target = known.ok_or_else(|| misuse("expected the name of a status"))?;
        Ok(json_text(&find(run)?.borrow().why_not(target)))
    })
}

/// The requests that would be taken now.
#[wasm_bindgen]
#[must_use]
pub fn run_allowed(run: u32, now: f64) -> i32 {
    desk::tell(|| Ok(json_text(&find(run)?.borrow().allowed(time(now)?))))
}
