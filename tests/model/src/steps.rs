//! What must hold of every step of a run: the decision tables of the spec, row by row, as post-conditions.

use crate::gate::{Marker, Output, Process, Report, Soft};
use crate::hosting;
use crate::lifecycle;
use crate::replies::Receipt;
use crate::words::{Effect, Event, Late, Outcome, Phase, Resolution, Run, Settings, Status};

/// What a step must keep to. The search looks at states, so a world remembers the first rule that a step has broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Ended states absorb, and the only effect they tell is to give back a late slot.
    EndedAbsorbs,
    /// A rejected event changes nothing and tells nothing.
    RejectedChangesNothing,
    /// A step adds to the history at most one record and changes none.
    HistoryAppendOnly,
    /// An accepted reply is recorded once, as it was given; nothing else is recorded as one.
    ReplyRecordedOnce,
    /// A reply is accepted only for the pending question.
    ReplyOnlyForPending,
    /// Attempts never fall, and rise by one at most.
    AttemptNeverFalls,
    /// Facts about other turns, slots and questions move nothing; a slot that is not wanted goes back.
    OthersFactsAbsorbed,
    /// A question that is left is recorded, and nothing else is.
    QuestionResolvedOnce,
    /// A timer is set for a question that has a deadline, and cancelled when the question is left.
    TimerFollowsQuestion,
    /// The completion table, row by row.
    CompletionTable,
    /// The table of waits, row by row.
    WaitTable,
    /// In a sticky wait the clock decides, and what comes after the deadline meets the run that it made.
    DeadlineByClock,
    /// No turn is begun twice, and so no reply is handed over twice.
    TurnBegunTwice,
    /// No turn is begun without its slot.
    TurnWithoutSlot,
}

/// The first rule that a step breaks.
#[must_use]
pub fn broken_by(settings: &Settings, before: &Run, event: Event, outcome: &Outcome) -> Option<Rule> {
    if let Event::Late(late) = event {
        return broken_late(settings, before, late, outcome);
    }
    // After the deadline of a sticky wait any timer is as good as its own.
    let event = match (before.phase, event) {
        (Phase::Waiting { slot: Some(_), question, .. }, Event::TimerFired { due: true, .. }) => {
            Event::TimerFired { question, due: true }
        }
        (_, event) => event,
    };
    let after = &outcome.run;
    let is_unmoved = after == before;
    let only_releases = outcome.effects.iter().all(|effect| matches!(effect, Effect::ReleaseSlot { .. }));
    let is_refused = outcome.rejected.is_some() || outcome.receipt.is_some_and(|receipt| receipt.refused.is_some());
    let attempts = before.attempt()..=before.attempt() + 1;
    let checks = [
        (Rule::EndedAbsorbs, !before.has_ended() || (is_unmoved && only_releases)),
        (Rule::RejectedChangesNothing, !is_refused || (is_unmoved && outcome.effects.is_empty())),
        (Rule::HistoryAppendOnly, after.history.starts_with(&before.history)),
        (Rule::HistoryAppendOnly, after.history.len() <= before.history.len() + 1),
        (Rule::ReplyOnlyForPending, reply_is_for_the_pending_question(before, event, outcome)),
        (Rule::ReplyRecordedOnce, reply_is_recorded(before, event, outcome)),
        (Rule::AttemptNeverFalls, attempts.contains(&after.attempt())),
        (Rule::OthersFactsAbsorbed, others_facts_are_absorbed(settings, before, event, outcome)),
        (Rule::QuestionResolvedOnce, question_is_recorded(before, after)),
        (Rule::TimerFollowsQuestion, timer_follows_question(settings, before, outcome)),
        (Rule::CompletionTable, completion_fits(settings, before, event, after)),
        (Rule::WaitTable, wait_fits(settings, before, event, after)),
    ];
    checks.into_iter().find(|(_, holds)| !holds).map(|(rule, _)| rule)
}

/// What comes after the deadline of a sticky wait is two steps in one: the timer's, and its own.
fn broken_late(settings: &Settings, before: &Run, late: Late, outcome: &Outcome) -> Option<Rule> {
    let is_sticky_wait = settings.sticky && before.status() == Status::WaitingUser;
    let (Some(question), true, None) = (before.pending(), is_sticky_wait, outcome.rejected) else {
        return broken_by(settings, before, late.into(), outcome);
    };
    let Some((_, own)) = outcome.deadline else { return Some(Rule::DeadlineByClock) };
    let timer = Event::TimerFired { question, due: true };
    let passed = lifecycle::step(settings, before, timer);
    let (first, rest) = outcome.effects.split_at(own.min(outcome.effects.len()));
    if first != passed.effects {
        return Some(Rule::DeadlineByClock);
    }
    let mut effects = rest.to_vec();
    if let Late::SlotGranted { slot } = late {
        let release = Effect::ReleaseSlot { slot };
        effects.extend(first.contains(&release).then_some(release));
    }
    let taken = Outcome { effects, deadline: None, ..outcome.clone() };
    broken_by(settings, before, timer, &passed).or_else(|| broken_by(settings, &passed.run, late.into(), &taken))
}

fn reply_is_for_the_pending_question(before: &Run, event: Event, outcome: &Outcome) -> bool {
    let accepted = outcome.receipt == Some(Receipt::ACCEPTED);
    !accepted || matches!(event, Event::Reply(reply) if Some(reply.question) == before.pending())
}

fn reply_is_recorded(before: &Run, event: Event, outcome: &Outcome) -> bool {
    let added = outcome.run.history.get(before.history.len()..).unwrap_or_default();
    let is_reply = |resolution| matches!(resolution, Resolution::UserReply { .. });
    match event {
        Event::Reply(reply) if outcome.receipt == Some(Receipt::ACCEPTED) => {
            let given = Resolution::UserReply { key: reply.key, answer: reply.answer };
            matches!(added, [record] if record.resolution == given && record.question == reply.question)
        }
        _ => !added.iter().any(|record| is_reply(record.resolution)),
    }
}

fn question_is_recorded(before: &Run, after: &Run) -> bool {
    let added = after.history.get(before.history.len()..).unwrap_or_default().iter().map(|record| record.question);
    added.eq(before.pending().filter(|_| after.pending() != before.pending()))
}

fn timer_follows_question(settings: &Settings, before: &Run, outcome: &Outcome) -> bool {
    let (left, asked) = match (before.pending(), outcome.run.pending()) {
        (left, asked) if left == asked => return true,
        change => change,
    };
    let has_deadline = |_: &u8| settings.has_deadline();
    let set = outcome.effects.iter().filter_map(|effect| match effect {
        Effect::SetTimer { question } => Some(*question),
        _ => None,
    });
    let canceled = outcome.effects.iter().filter_map(|effect| match effect {
        Effect::CancelTimer { question } => Some(*question),
        _ => None,
    });
    set.eq(asked.filter(has_deadline)) && canceled.eq(left.filter(has_deadline))
}

fn others_facts_are_absorbed(settings: &Settings, before: &Run, event: Event, outcome: &Outcome) -> bool {
    let is_unmoved = outcome.run == *before;
    let leaves_no_trace = is_unmoved && outcome.effects.is_empty();
    let process = hosting::keep(settings, before).process;
    match event {
        Event::SlotGranted { slot } if before.slot() != Some(slot) => {
            is_unmoved && outcome.effects == [Effect::ReleaseSlot { slot }]
        }
        Event::SlotGranted { .. } => before.status() == Status::Queued || leaves_no_trace,
        Event::TurnFinished { attempt, slot, .. } => {
            let is_own = attempt == before.attempt() && slot.is_none_or(|slot| Some(slot) == process);
            (is_own && before.status() == Status::Running) || leaves_no_trace
        }
        Event::ProcessLost { attempt, slot } => {
            let is_own = slot.map_or(attempt == before.attempt(), |slot| Some(slot) == process);
            (is_own && process.is_some()) || leaves_no_trace
        }
        Event::TimerFired { question, .. } => before.pending() == Some(question) || leaves_no_trace,
        Event::Reply(_) | Event::Cancel | Event::Late(_) => true,
    }
}

/// What the rows of the completion table look at.
struct Seen<'a> {
    settings: &'a Settings,
    report: &'a Report,
    /// No further attempt, or no further question, is allowed.
    last: Option<&'static str>,
    is_last_attempt: bool,
}

impl Seen<'_> {
    fn is_judged_by_output(&self) -> bool {
        self.settings.schema && (!self.settings.interactive || self.report.marker == Marker::True)
    }

    /// Without the marker: whether a valid output alone is enough.
    fn is_soft(&self) -> bool {
        let holds_back = self.report.asks || self.report.marker == Marker::False;
        let may = match self.settings.soft {
            Soft::Always => true,
            Soft::UnlessAsking => !holds_back || self.is_last_attempt,
            Soft::Never => false,
        };
        self.settings.schema && self.report.output == Output::Valid && may
    }

    fn has_no_evidence(&self) -> bool {
        self.settings.interactive && self.report.marker != Marker::True && !self.is_soft()
    }
}

/// One row: whether it fits, and what becomes of the run.
type Row = (fn(&Seen) -> bool, Status, Option<&'static str>);

/// The decision table. Each turn of a process that succeeded fits exactly one row.
const COMPLETION: [Row; 9] = [
    (|seen| seen.is_judged_by_output() && seen.report.output == Output::Valid, Status::Succeeded, None),
    (
        |seen| seen.is_judged_by_output() && seen.report.output == Output::Invalid,
        Status::Failed,
        Some("OUTPUT_SCHEMA_INVALID"),
    ),
    (
        |seen| seen.is_judged_by_output() && seen.report.output == Output::Missing,
        Status::Failed,
        Some("OUTPUT_MISSING"),
    ),
    (
        |seen| seen.is_judged_by_output() && seen.report.output == Output::Unparsable,
        Status::Failed,
        Some("OUTPUT_UNPARSABLE"),
    ),
    (|seen| !seen.settings.interactive && !seen.settings.schema, Status::Succeeded, None),
    (
        |seen| seen.settings.interactive && !seen.settings.schema && seen.report.marker == Marker::True,
        Status::Succeeded,
        None,
    ),
    (
        |seen| seen.settings.interactive && seen.report.marker != Marker::True && seen.is_soft(),
        Status::Succeeded,
        Some("INTERACTIVE_COMPLETED_WITHOUT_DONE_MARKER"),
    ),
    (|seen| seen.has_no_evidence() && seen.last.is_some(), Status::Failed, None),
    (|seen| seen.has_no_evidence() && seen.last.is_none(), Status::WaitingUser, None),
];

fn completion_fits(settings: &Settings, before: &Run, event: Event, after: &Run) -> bool {
    let Event::TurnFinished { attempt, slot, report } = event else { return true };
    let Phase::Running { slot: own, attempt: current, .. } = before.phase else { return true };
    if attempt != current || slot.is_some_and(|slot| slot != own) {
        return true;
    }
    let (code, soft) = match after.phase {
        Phase::Ended { code, soft, .. } => (code.map(|code| code.0), soft),
        _ => (None, false),
    };
    match report.process {
        Process::Succeeded => {}
        Process::ExitedWithError => return after.status() == Status::Failed && code == Some("PROCESS_FAILED"),
        Process::TimedOut => return after.status() == Status::Failed && code == Some("TIMEOUT"),
    }
    let no_attempt =
        settings.max_attempt.is_some_and(|max| attempt >= max).then_some("INTERACTIVE_MAX_ATTEMPT_EXCEEDED");
    let no_question = settings.question_limit.is_some_and(|limit| before.history.len() >= usize::from(limit));
    let last = no_attempt.or(no_question.then_some("INTERACTION_LIMIT_EXCEEDED"));
    let seen = Seen { settings, report: &report, last, is_last_attempt: no_attempt.is_some() };
    let rows: Vec<&Row> = COMPLETION.iter().filter(|(fits, ..)| fits(&seen)).collect();
    let [(_, status, note)] = rows.as_slice() else { return false };
    let (error, warns) = match status {
        Status::Succeeded => (None, note.is_some()),
        Status::Failed => (note.or(last), false),
        _ => (None, false),
    };
    after.status() == *status && code == error && soft == warns
}

/// Section 6: what becomes of a wait whose deadline passes, by profile and strictness.
fn wait_fits(settings: &Settings, before: &Run, event: Event, after: &Run) -> bool {
    let Event::TimerFired { question, due: true } = event else { return true };
    if before.pending() != Some(question) {
        return true;
    }
    let resolution = after.history.last().map(|record| record.resolution);
    let decided = resolution == Some(Resolution::AutoDecideTimeout);
    match (settings.sticky, settings.strict) {
        (false, true) => after == before,
        (false, false) => after.status() == Status::Queued && decided,
        (true, false) => after.status() == Status::Running && decided,
        (true, true) => {
            let timed_out =
                matches!(after.phase, Phase::Ended { code: Some(code), .. } if code.0 == "INTERACTION_WAIT_TIMEOUT");
            after.status() == Status::Failed && resolution == Some(Resolution::Expired) && timed_out
        }
    }
}
