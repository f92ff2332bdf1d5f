//! Mistakes a design could make, put in by hand, to see that the search would notice them.

use crate::gate::Output;
use crate::lifecycle;
use crate::words::{Effect, Event, FOREIGN_SLOT, Late, Outcome, Phase, Resolution, Run, Settings, Status};

/// One mistake in the design of the lifecycle or of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A grant is taken for the answer to the newest request, whatever request it answers.
    GrantWithoutId,
    /// A grant that comes twice gives back the slot in which the turn runs.
    RepeatedGrantGivenBack,
    /// A slot that nobody wants any more is kept.
    UnwantedGrantKept,
    /// A resumable run waits with its slot.
    SlotKeptOverWait,
    /// An end gives no slot back.
    SlotKeptAtEnd,
    /// An end leaves the process running.
    ProcessLeftAlone,
    /// The slot goes back before the process in it has ended.
    SlotBeforeProcess,
    /// A timer that decided is not cancelled, although it may have been set again.
    DecidingTimerLeftArmed,
    /// A wait that has a deadline sets no timer.
    TimerForgotten,
    /// A strict, resumable wait sets a timer.
    TimerWithoutDeadline,
    /// The timer of an old question decides a newer one.
    AnyTimerDecides,
    /// The deadline of a strict, sticky wait goes on instead of failing.
    StrictDeadlineGoesOn,
    /// A report of another turn is taken for the current one's.
    StaleTurnTaken,
    /// The marker completes a turn whose output is not valid.
    InvalidOutputCompletes,
    /// A completion without the marker does not warn.
    WarningForgotten,
    /// A run fails without saying why.
    CodeForgotten,
    /// An auto run asks somebody.
    AutoAsks,
    /// `max_attempt` is not looked at.
    AttemptsUnlimited,
    /// A retried turn counts as another attempt.
    RetryCounts,
    /// A retried turn begins to count from one.
    RetryStartsOver,
    /// A second question has the number of the first.
    QuestionNumberReused,
    /// A reply to an old question answers the new one.
    StaleReplyTaken,
    /// A sticky wait takes a reply after its deadline, because no timer was delivered.
    LateReplyTaken,
    /// A reply that was accepted is not recorded.
    ReplyForgotten,
    /// A reply is recorded twice.
    ReplyRecordedTwice,
    /// A question that ends with the run is not recorded.
    QuestionForgotten,
    /// A new record changes an old one.
    HistoryRewritten,
    /// A run that has succeeded can be cancelled.
    EndedIsCanceled,
    /// A request that is refused leaves a trace.
    RefusalLeavesTrace,
    /// The host does not note that a turn is begun before it begins it.
    BeginNotNoted,
    /// The host performs effects without asking whether they are still due.
    DueNotAsked,
    /// After a restart the host gives back nothing.
    NothingGivenBack,
    /// After a restart the host gives the slots of living processes to others.
    SlotsNotHeldAgain,
    /// After a restart no effect is performed that was owed.
    OwedForgotten,
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 34] = [
        Fault::GrantWithoutId,
        Fault::RepeatedGrantGivenBack,
        Fault::UnwantedGrantKept,
        Fault::SlotKeptOverWait,
        Fault::SlotKeptAtEnd,
        Fault::ProcessLeftAlone,
        Fault::SlotBeforeProcess,
        Fault::DecidingTimerLeftArmed,
        Fault::TimerForgotten,
        Fault::TimerWithoutDeadline,
        Fault::AnyTimerDecides,
        Fault::StrictDeadlineGoesOn,
        Fault::StaleTurnTaken,
        Fault::InvalidOutputCompletes,
        Fault::WarningForgotten,
        Fault::CodeForgotten,
        Fault::AutoAsks,
        Fault::AttemptsUnlimited,
        Fault::RetryCounts,
        Fault::RetryStartsOver,
        Fault::QuestionNumberReused,
        Fault::StaleReplyTaken,
        Fault::LateReplyTaken,
        Fault::ReplyForgotten,
        Fault::ReplyRecordedTwice,
        Fault::QuestionForgotten,
        Fault::HistoryRewritten,
        Fault::EndedIsCanceled,
        Fault::RefusalLeavesTrace,
        Fault::BeginNotNoted,
        Fault::DueNotAsked,
        Fault::NothingGivenBack,
        Fault::SlotsNotHeldAgain,
        Fault::OwedForgotten,
    ];
}

/// The step of the lifecycle, with a mistake in it: the step is right, but sees or says something wrong.
#[must_use]
pub fn step(fault: Option<Fault>, settings: &Settings, run: &Run, event: Event) -> Outcome {
    let Some(fault) = fault else { return lifecycle::step(settings, run, event) };
    let (seen_settings, seen_event) = misread(fault, *settings, run, event);
    let mut outcome = lifecycle::step(&seen_settings, run, seen_event);
    misspeak(fault, settings, run, event, &mut outcome);
    outcome
}

fn misread(fault: Fault, mut settings: Settings, run: &Run, mut event: Event) -> (Settings, Event) {
    match (fault, &mut event) {
        (Fault::GrantWithoutId, Event::SlotGranted { slot }) if *slot != FOREIGN_SLOT => {
            if let Phase::Queued { slot: asked, .. } = run.phase {
                *slot = asked;
            }
        }
        (Fault::AnyTimerDecides, Event::TimerFired { question, .. }) => *question = run.pending().unwrap_or(*question),
        (Fault::StrictDeadlineGoesOn, Event::TimerFired { .. }) if settings.sticky => settings.strict = false,
        (Fault::StaleTurnTaken, Event::TurnFinished { attempt, slot, .. }) => {
            (*attempt, *slot) = (run.attempt(), None);
        }
        (Fault::InvalidOutputCompletes, Event::TurnFinished { report, .. }) if report.output == Output::Invalid => {
            report.output = Output::Valid;
        }
        (Fault::AutoAsks, Event::TurnFinished { .. }) => settings.interactive = true,
        (Fault::AttemptsUnlimited, _) => settings.max_attempt = None,
        (Fault::LateReplyTaken, Event::Late(Late::Reply(reply))) => event = Event::Reply(*reply),
        (Fault::StaleReplyTaken, Event::Reply(reply)) => reply.question = run.pending().unwrap_or(reply.question),
        _ => {}
    }
    (settings, event)
}

fn misspeak(fault: Fault, settings: &Settings, before: &Run, event: Event, outcome: &mut Outcome) {
    let has_ended = outcome.run.has_ended() && !before.has_ended();
    let has_asked = outcome.run.pending().is_some() && before.pending().is_none();
    let effects = &mut outcome.effects;
    let is_release = |effect: &Effect| matches!(effect, Effect::ReleaseSlot { .. });
    let is_termination = |effect: &Effect| matches!(effect, Effect::TerminateProcess { .. });
    match (fault, &mut outcome.run.phase) {
        (Fault::RepeatedGrantGivenBack, _) => {
            if let Event::SlotGranted { slot } = event
                && before.slot() == Some(slot)
                && outcome.run == *before
            {
                effects.push(Effect::ReleaseSlot { slot });
            }
        }
        (Fault::UnwantedGrantKept, _) if matches!(event, Event::SlotGranted { .. }) => {
            effects.retain(|effect| !is_release(effect));
        }
        (Fault::SlotKeptOverWait, _) if has_asked => effects.retain(|effect| !is_release(effect)),
        (Fault::SlotKeptAtEnd, _) if has_ended => effects.retain(|effect| !is_release(effect)),
        (Fault::ProcessLeftAlone, _) => effects.retain(|effect| !is_termination(effect)),
        (Fault::SlotBeforeProcess, _) => effects.sort_by_key(|effect| u8::from(is_termination(effect))),
        (Fault::DecidingTimerLeftArmed, _) if matches!(event, Event::TimerFired { .. }) => {
            effects.retain(|effect| !matches!(effect, Effect::CancelTimer { .. }));
        }
        (Fault::TimerForgotten, _) if has_asked => {
            effects.retain(|effect| !matches!(effect, Effect::SetTimer { .. }));
        }
        (Fault::TimerWithoutDeadline, Phase::Waiting { question, .. }) if has_asked && !settings.has_deadline() => {
            effects.push(Effect::SetTimer { question: *question });
        }
        (Fault::WarningForgotten, Phase::Ended { soft, .. }) => *soft = false,
        (Fault::CodeForgotten, Phase::Ended { code, .. }) => *code = None,
        (Fault::RetryCounts, Phase::Queued { attempt, .. }) if matches!(event, Event::ProcessLost { .. }) => {
            *attempt += u8::from(before.status() == Status::Running);
        }
        (Fault::RetryStartsOver, Phase::Queued { attempt, .. }) if matches!(event, Event::ProcessLost { .. }) => {
            *attempt = 1;
        }
        (Fault::QuestionNumberReused, Phase::Waiting { question, .. }) => *question = 1,
        (Fault::EndedIsCanceled, Phase::Ended { status, .. }) if event == Event::Cancel => *status = Status::Canceled,
        _ => misremember(fault, before, outcome),
    }
}

fn misremember(fault: Fault, before: &Run, outcome: &mut Outcome) {
    let is_new = outcome.run.history.len() > before.history.len();
    match fault {
        Fault::ReplyForgotten if is_new && !outcome.run.has_ended() => outcome.run.history.clone_from(&before.history),
        Fault::ReplyRecordedTwice if is_new => outcome.run.history.extend(outcome.run.history.last().copied()),
        Fault::QuestionForgotten if is_new && outcome.run.has_ended() => {
            outcome.run.history.clone_from(&before.history)
        }
        Fault::HistoryRewritten if is_new && !before.history.is_empty() => {
            outcome.run.history[0].resolution = Resolution::Expired
        }
        Fault::RefusalLeavesTrace if outcome.receipt.is_some_and(|receipt| receipt.refused.is_some()) => {
            outcome.run.slots += 1;
        }
        _ => {}
    }
}
