//! What a run does when something happens to it: sections 3, 5 and 6 of the spec, in small numbers instead of words.

use crate::gate::{self, Report, Verdict};
use crate::replies::{self, Receipt, Reply, Revision};
use crate::words::{Begin, Code, Effect, Event, Late, Outcome, Phase, Record, Resolution, Run, Settings, Status};

/// The arrows of section 3.
#[must_use]
pub fn step(settings: &Settings, run: &Run, event: Event) -> Outcome {
    match (run.phase, event) {
        // LIFE-1: a turn that was never started cannot be late.
        (_, Event::TurnFinished { attempt, .. } | Event::Late(Late::TurnFinished { attempt, .. }))
            if attempt == 0 || attempt > run.started =>
        {
            Outcome { rejected: Some(Code("EVENT_UNKNOWN_ATTEMPT")), ..unmoved(run, "LIFE-1 unknown") }
        }
        (Phase::Waiting { slot: Some(_), .. }, Event::Late(late)) => after_deadline(settings, run, late),
        (_, Event::Late(late)) => step(settings, run, late.into()),
        // Another question's timer comes after the deadline too.
        (Phase::Waiting { slot: Some(_), .. }, Event::TimerFired { due: true, .. }) => pass_deadline(settings, run),
        (Phase::Queued { slot: asked, attempt }, Event::SlotGranted { slot }) if slot == asked => {
            let answers = (attempt > 1).then(|| run.history.last().map_or(0, |record| record.question));
            let phase = Phase::Running { slot, attempt, begun_by: Begin::Start };
            moved(&started(run, attempt), phase, vec![Effect::StartTurn { attempt, slot, answers }], "ARROW-2")
        }
        // LIFE-2: the slot now held is not given back, any other is.
        (_, Event::SlotGranted { slot }) if run.slot() == Some(slot) => unmoved(run, "LIFE-2 repeated"),
        (_, Event::SlotGranted { slot }) => {
            Outcome { effects: vec![Effect::ReleaseSlot { slot }], ..unmoved(run, "LIFE-2 unwanted") }
        }
        (Phase::Running { slot: own, attempt: current, .. }, Event::TurnFinished { attempt, slot, report })
            if attempt == current && slot.is_none_or(|slot| slot == own) =>
        {
            finish(settings, run, own, attempt, report)
        }
        (Phase::Running { slot: own, attempt: current, .. }, Event::ProcessLost { attempt, slot })
            if slot.map_or(attempt == current, |slot| slot == own) =>
        {
            lose(settings, run, own, current)
        }
        (Phase::Waiting { slot: Some(own), attempt: current, .. }, Event::ProcessLost { attempt, slot })
            if slot.map_or(attempt == current, |slot| slot == own) =>
        {
            let code = Some(Code("INTERACTION_PROCESS_LOST"));
            end_wait(settings, run, Status::Failed, code, Resolution::Canceled, "ARROW-9")
        }
        (Phase::Waiting { question: pending, .. }, Event::TimerFired { question, due }) if question == pending => {
            match (settings.has_deadline(), due) {
                (true, true) => pass_deadline(settings, run),
                (true, false) => rearm(run, question),
                (false, _) => unmoved(run, "WAIT-1"),
            }
        }
        (_, Event::Reply(reply)) => answer(settings, run, &reply),
        (Phase::Ended { .. }, Event::Cancel) => {
            Outcome { receipt: Some(Receipt::ALREADY_ENDED), ..unmoved(run, "LIFE-3") }
        }
        (_, Event::Cancel) => Outcome { receipt: Some(Receipt::CANCELED), ..cancel(settings, run) },
        // LIFE-1: a fact that comes late or twice is absorbed.
        (_, Event::TurnFinished { .. } | Event::ProcessLost { .. } | Event::TimerFired { .. }) => {
            unmoved(run, "LIFE-1")
        }
    }
}

/// ARROW-3, 4 and 5.
fn finish(settings: &Settings, run: &Run, slot: u8, attempt: u8, report: Report) -> Outcome {
    let asked = u8::try_from(run.history.len()).unwrap_or(u8::MAX);
    let (status, code, soft, rule) = match gate::judge(settings, attempt, asked, &report) {
        Verdict::Complete { soft, rule } => (Status::Succeeded, None, soft, rule),
        Verdict::Fail { code, rule } => (Status::Failed, Some(code), false, rule),
        Verdict::Wait => {
            let question = asked + 1;
            let kept = settings.sticky.then_some(slot);
            let mut effects = Vec::new();
            effects.extend((!settings.sticky).then_some(Effect::ReleaseSlot { slot }));
            effects.extend(settings.has_deadline().then_some(Effect::SetTimer { question }));
            return moved(run, Phase::Waiting { slot: kept, attempt, question }, effects, "GATE-7");
        }
    };
    let mut effects = Vec::new();
    // A resumable process has exited with its turn; a sticky one lives on.
    effects.extend(settings.sticky.then_some(Effect::TerminateProcess { attempt, slot }));
    effects.push(Effect::ReleaseSlot { slot });
    moved(run, Phase::Ended { attempt, status, code, soft }, effects, rule)
}

/// ARROW-10; LIFE-7: the lost process is ended before its slot is given back.
fn lose(settings: &Settings, run: &Run, slot: u8, attempt: u8) -> Outcome {
    let effects = vec![Effect::TerminateProcess { attempt, slot }, Effect::ReleaseSlot { slot }];
    if settings.retry {
        return ask_for_slot(run, attempt, effects, "ARROW-10 retry");
    }
    let code = Some(Code("ORCHESTRATOR_RESTART_INTERRUPTED"));
    moved(run, Phase::Ended { attempt, status: Status::Failed, code, soft: false }, effects, "ARROW-10 fail")
}

/// Section 7, and ARROW-6 or ARROW-7 if the reply is accepted.
fn answer(settings: &Settings, run: &Run, reply: &Reply) -> Outcome {
    let (receipt, rule) = replies::receipt(settings, run, reply);
    let outcome = if receipt == Receipt::ACCEPTED {
        go_on(settings, run, Resolution::UserReply { key: reply.key, answer: reply.answer }, rule)
    } else {
        unmoved(run, rule)
    };
    Outcome { receipt: Some(receipt), ..outcome }
}

/// ARROW-8: the last column of the table in section 6.
fn pass_deadline(settings: &Settings, run: &Run) -> Outcome {
    match (settings.sticky, settings.strict) {
        (false, _) => go_on(settings, run, Resolution::AutoDecideTimeout, "WAIT-2"),
        (true, false) => go_on(settings, run, Resolution::AutoDecideTimeout, "WAIT-4"),
        (true, true) => {
            let code = Some(Code("INTERACTION_WAIT_TIMEOUT"));
            end_wait(settings, run, Status::Failed, code, Resolution::Expired, "WAIT-3")
        }
    }
}

/// TIME-4: in a sticky wait the clock decides; what comes then meets the run that the deadline made.
fn after_deadline(settings: &Settings, run: &Run, late: Late) -> Outcome {
    let passed = pass_deadline(settings, run);
    let event = match late {
        // The revision that its sender has seen is the one before the deadline.
        Late::Reply(reply) if reply.revision == Revision::Current => {
            Event::Reply(Reply { revision: Revision::Another, ..reply })
        }
        late => late.into(),
    };
    let taken = step(settings, &passed.run, event);
    let deadline = Some((passed.run.status(), passed.effects.len()));
    let mut effects = passed.effects;
    for effect in taken.effects {
        // A repeated grant of the slot that the deadline has just released is not released again.
        if !effects.contains(&effect) {
            effects.push(effect);
        }
    }
    Outcome { effects, deadline, rule: "TIME-4", ..taken }
}

/// TIME-1: a timer that fires early is armed again for the rest.
fn rearm(run: &Run, question: u8) -> Outcome {
    Outcome { effects: vec![Effect::SetTimer { question }], ..unmoved(run, "TIME-1 early") }
}

/// The pending question is resolved and the next turn begins: in the same process, or in a new slot.
fn go_on(settings: &Settings, run: &Run, resolution: Resolution, rule: &'static str) -> Outcome {
    let Phase::Waiting { slot, attempt, question } = run.phase else { return unmoved(run, rule) };
    let resolved = resolve(run, question, resolution);
    let attempt = attempt + 1;
    let mut effects = Vec::from_iter(settings.has_deadline().then_some(Effect::CancelTimer { question }));
    match slot {
        Some(slot) => {
            effects.push(Effect::InjectReply { attempt, slot, question });
            moved(
                &started(&resolved, attempt),
                Phase::Running { slot, attempt, begun_by: Begin::Inject },
                effects,
                rule,
            )
        }
        None => ask_for_slot(&resolved, attempt, effects, rule),
    }
}

/// ARROW-11; LIFE-8: a request that was not granted is withdrawn.
fn cancel(settings: &Settings, run: &Run) -> Outcome {
    let (status, code) = (Status::Canceled, Some(Code("CANCELED_BY_USER")));
    let (attempt, effects) = match run.phase {
        Phase::Waiting { .. } => {
            return end_wait(settings, run, status, code, Resolution::Canceled, "ARROW-11 waiting");
        }
        Phase::Queued { slot, attempt } => (attempt, vec![Effect::ReleaseSlot { slot }]),
        Phase::Running { slot, attempt, .. } => {
            (attempt, vec![Effect::TerminateProcess { attempt, slot }, Effect::ReleaseSlot { slot }])
        }
        Phase::Ended { attempt, .. } => (attempt, Vec::new()),
    };
    moved(run, Phase::Ended { attempt, status, code, soft: false }, effects, "ARROW-11")
}

/// The run ends while it waits: timer, process and slot go, and the question is recorded (HIST-3).
fn end_wait(
    settings: &Settings,
    run: &Run,
    status: Status,
    code: Option<Code>,
    resolution: Resolution,
    rule: &'static str,
) -> Outcome {
    let Phase::Waiting { slot, attempt, question } = run.phase else { return unmoved(run, rule) };
    let mut effects = Vec::from_iter(settings.has_deadline().then_some(Effect::CancelTimer { question }));
    if let Some(slot) = slot {
        effects.extend([Effect::TerminateProcess { attempt, slot }, Effect::ReleaseSlot { slot }]);
    }
    let ended = Phase::Ended { attempt, status, code, soft: false };
    moved(&resolve(run, question, resolution), ended, effects, rule)
}

fn resolve(run: &Run, question: u8, resolution: Resolution) -> Run {
    let mut resolved = run.clone();
    resolved.history.push(Record { question, resolution });
    resolved
}

fn started(run: &Run, attempt: u8) -> Run {
    Run { started: attempt, ..run.clone() }
}

fn ask_for_slot(run: &Run, attempt: u8, mut effects: Vec<Effect>, rule: &'static str) -> Outcome {
    let slot = run.slots + 1;
    effects.push(Effect::AcquireSlot { slot });
    let outcome = moved(run, Phase::Queued { slot, attempt }, effects, rule);
    Outcome { run: Run { slots: slot, ..outcome.run }, ..outcome }
}

fn moved(run: &Run, phase: Phase, effects: Vec<Effect>, rule: &'static str) -> Outcome {
    Outcome { run: Run { phase, ..run.clone() }, effects, ..unmoved(run, rule) }
}

fn unmoved(run: &Run, rule: &'static str) -> Outcome {
    Outcome { run: run.clone(), effects: Vec::new(), receipt: None, rejected: None, deadline: None, rule }
}
