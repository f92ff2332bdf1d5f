//! What a finished turn means: section 4 of the spec.

use crate::words::{Code, Settings};

/// What a turn shows of itself, each part apart from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Report {
    /// How the process ended.
    pub process: Process,
    /// What the output says of the marker.
    pub marker: Marker,
    /// What there is of an output.
    pub output: Output,
    /// Whether a well-formed question stands beside it.
    pub asks: bool,
}

/// How a turn's process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Process {
    Succeeded,
    ExitedWithError,
    TimedOut,
}

/// What a turn says of the marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Marker {
    Absent,
    True,
    False,
}

/// What a turn has for an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Output {
    Valid,
    Invalid,
    Missing,
    Unparsable,
}

/// The policy `soft_completion`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Soft {
    UnlessAsking,
    Always,
    Never,
}

/// What the gates say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Complete { soft: bool, rule: &'static str },
    Fail { code: Code, rule: &'static str },
    Wait,
}

impl Report {
    /// An honest end: the marker and a valid output.
    pub const DONE: Report =
        Report { process: Process::Succeeded, marker: Marker::True, output: Output::Valid, asks: false };
    /// A question and nothing else.
    pub const QUESTION: Report = Report { marker: Marker::Absent, output: Output::Missing, asks: true, ..Report::DONE };
    /// A valid output without the marker.
    pub const SOFT: Report = Report { marker: Marker::Absent, ..Report::DONE };
    /// The marker beside an output that is not valid.
    pub const DONE_INVALID: Report = Report { output: Output::Invalid, ..Report::DONE };
    /// A process that failed although it said that it was done.
    pub const BROKEN: Report = Report { process: Process::ExitedWithError, ..Report::DONE };

    /// Every report that can be written down without saying two things at once.
    #[must_use]
    pub fn all() -> Vec<Report> {
        let mut all = Vec::new();
        for process in [Process::Succeeded, Process::ExitedWithError, Process::TimedOut] {
            for marker in [Marker::Absent, Marker::True, Marker::False] {
                for output in [Output::Valid, Output::Invalid, Output::Missing, Output::Unparsable] {
                    for asks in [false, true] {
                        // The key with the value `false` stands in an output; without one there is nothing to say it.
                        let can_be_said = marker != Marker::False || matches!(output, Output::Valid | Output::Invalid);
                        // A failed process is judged before anything else is looked at: a few of these are enough.
                        let looked_at = process == Process::Succeeded || (output == Output::Valid && !asks);
                        all.extend((can_be_said && looked_at).then_some(Report { process, marker, output, asks }));
                    }
                }
            }
        }
        all
    }
}

/// The gates in their order; the first that answers decides.
#[must_use]
pub fn judge(settings: &Settings, attempt: u8, asked: u8, report: &Report) -> Verdict {
    match report.process {
        Process::Succeeded => {}
        Process::ExitedWithError => return Verdict::Fail { code: Code("PROCESS_FAILED"), rule: "GATE-1" },
        Process::TimedOut => return Verdict::Fail { code: Code("TIMEOUT"), rule: "GATE-1" },
    }
    if !settings.interactive {
        return if settings.schema { by_output(report.output, "GATE-2") } else { complete("GATE-2") };
    }
    if report.marker == Marker::True {
        // GATE-10: without a schema the marker alone completes.
        return match (settings.schema, report.output) {
            (false, _) => complete("GATE-10"),
            (true, Output::Valid) => complete("GATE-3"),
            (true, output) => by_output(output, "GATE-4"),
        };
    }
    let is_last = settings.max_attempt.is_some_and(|max| attempt >= max);
    if settings.schema && report.output == Output::Valid {
        let holds_back = report.asks || report.marker == Marker::False;
        match settings.soft {
            Soft::Always => return Verdict::Complete { soft: true, rule: "GATE-5" },
            Soft::UnlessAsking if !holds_back => return Verdict::Complete { soft: true, rule: "GATE-5" },
            // No further turn could use an answer.
            Soft::UnlessAsking if is_last => return Verdict::Complete { soft: true, rule: "GATE-6 soft" },
            Soft::UnlessAsking | Soft::Never => {}
        }
    }
    if is_last {
        return Verdict::Fail { code: Code("INTERACTIVE_MAX_ATTEMPT_EXCEEDED"), rule: "GATE-6" };
    }
    if settings.question_limit.is_some_and(|limit| asked >= limit) {
        return Verdict::Fail { code: Code("INTERACTION_LIMIT_EXCEEDED"), rule: "GATE-11" };
    }
    Verdict::Wait
}

fn complete(rule: &'static str) -> Verdict {
    Verdict::Complete { soft: false, rule }
}

fn by_output(output: Output, rule: &'static str) -> Verdict {
    let code = match output {
        Output::Valid => return complete(rule),
        Output::Invalid => "OUTPUT_SCHEMA_INVALID",
        Output::Missing => "OUTPUT_MISSING",
        Output::Unparsable => "OUTPUT_UNPARSABLE",
    };
    Verdict::Fail { code: Code(code), rule }
}
