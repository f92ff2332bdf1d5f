//! Answers to "why" and "why not" (GATE-9).

use serde::{Serialize, Serializer};

use crate::admission::plan::Plan;
use crate::inspect::views::QuestionView;
use crate::lifecycle::run::Run;
use crate::turn::evidence;
use crate::turn::gate::{self, Position};
use crate::types::codes::Note;
use crate::types::decision::{Check, Decision, Evaluation, Evidence, Gate, Marker, OutputState, Verdict, Violation};
use crate::types::event::TurnReport;
use crate::types::plan::{Profile, SoftCompletion};
use crate::types::state::{Outcome, Status};

/// Why a run is where it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// Where it is.
    pub status: Status,
    /// Why, in a sentence.
    pub reason: String,
    /// The code, if it ended without success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Why its last turn ended as it did.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "explained")]
    #[cfg_attr(feature = "json-schema", schemars(with = "Option<Explained>"))]
    pub decision: Option<Decision>,
}

/// What keeps a run from a status.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct WhyNot {
    /// The status that was asked for.
    pub target: Status,
    /// Whether the run has it already.
    pub reached: bool,
    /// What is missing or in the way, one thing each.
    pub reasons: Vec<String>,
    /// Where the output does not fit the schema.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Violation>,
}

/// Evaluates one turn by itself, as if it were the given attempt of a run of this plan.
pub fn evaluate_turn(plan: &Plan, report: &TurnReport) -> Evaluation {
    let position = Position { attempt_number: report.attempt_number, interactions: 0 };
    #[cfg(feature = "streams")]
    if report.stream.is_some() {
        let mut report = report.clone();
        report.decode_stream();
        return gate::evaluate(plan, position, &report);
    }
    gate::evaluate(plan, position, report)
}

/// A decision with all that follows from it, for users: its rule, code, message, warnings, and a sentence for each check.
#[derive(Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub(super) struct Explained<'d> {
    outcome: Verdict,
    rule: Gate,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'d str>,
    message: String,
    evidence: &'d Evidence,
    warnings: Vec<Note>,
    diagnostics: &'d [Note],
    checks: Vec<ExplainedCheck<'d>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
struct ExplainedCheck<'d> {
    #[serde(flatten)]
    check: &'d Check,
    detail: String,
}

impl<'d> From<&'d Decision> for Explained<'d> {
    fn from(decision: &'d Decision) -> Explained<'d> {
        let explain = |check: &'d Check| ExplainedCheck { check, detail: check.reason.to_string() };
        Explained {
            outcome: decision.outcome,
            rule: decision.rule,
            code: decision.code(),
            message: decision.message(),
            evidence: &decision.evidence,
            warnings: decision.warnings(),
            diagnostics: &decision.diagnostics,
            checks: decision.checks.iter().map(explain).collect(),
        }
    }
}

#[expect(clippy::ref_option, reason = "serde hands over the field")]
pub(super) fn explained<S: Serializer>(decision: &Option<Decision>, serializer: S) -> Result<S::Ok, S::Error> {
    decision.as_ref().map(Explained::from).serialize(serializer)
}

impl Evaluation {
    /// The evaluation with all that follows from its decision, for users: its rule, code, message, warnings, and a sentence
    /// for each check; and the question as clients see it.
    pub fn explain(&self) -> impl Serialize + '_ {
        #[derive(Serialize)]
        struct ExplainedEvaluation<'e> {
            decision: Explained<'e>,
            #[serde(skip_serializing_if = "Option::is_none")]
            data_text: Option<&'e str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            question: Option<QuestionView>,
        }

        ExplainedEvaluation {
            decision: Explained::from(&self.decision),
            data_text: self.data_text.as_deref(),
            question: self.question.as_deref().map(QuestionView::from),
        }
    }
}

/// How many bytes were looked at to read a turn: the measure by which the tests show that work is linear.
#[doc(hidden)]
pub fn reading_steps(plan: &Plan, report: &TurnReport) -> u64 {
    evidence::read(plan, report).steps
}

impl Run {
    /// Why the run is where it is.
    pub fn explain(&self) -> Explanation {
        let code = self.outcome().and_then(Outcome::error).map(|error| error.code.clone());
        Explanation { status: self.status(), reason: self.reason(), code, decision: self.decision().cloned() }
    }

    fn reason(&self) -> String {
        let attempt = self.attempt_number();
        match (self.status(), self.outcome(), self.decision()) {
            (Status::Queued, _, _) if attempt == 0 => "the run waits for its first slot".to_owned(),
            (Status::Queued, _, _) => format!("the run waits for a slot after attempt {attempt}"),
            (Status::Running, _, _) => format!("attempt {attempt} is under way"),
            (Status::WaitingUser, _, Some(decision)) => {
                let until = match self.pending().and_then(|pending| pending.deadline_at) {
                    Some(at) => format!("until {}", at.as_millis()),
                    None => "without a deadline".to_owned(),
                };
                format!("{}: {}; {until}", decision.rule, decision.message())
            }
            (_, Some(Outcome::Failed(error)), Some(decision)) if decision.code() == Some(error.code.as_str()) => {
                format!("{}: {}", decision.rule, error.message)
            }
            (_, Some(Outcome::Failed(error) | Outcome::Canceled(error)), _) => error.message.clone(),
            (_, _, Some(decision)) => format!("{}: {}", decision.rule, decision.message()),
            (_, _, None) => "nothing has been decided yet".to_owned(),
        }
    }

    /// What keeps the run from a status.
    pub fn why_not(&self, target: Status) -> WhyNot {
        let reached = self.status() == target;
        let mut answer = WhyNot { target, reached, reasons: Vec::new(), violations: Vec::new() };
        if reached {
            return answer;
        }
        if self.status().is_end() {
            answer.reasons.push(format!("the run has ended: {}", self.reason()));
        }
        match target {
            Status::Succeeded => self.why_not_succeeded(&mut answer),
            Status::WaitingUser if !self.plan().is_interactive() => {
                answer.reasons.push("the run is in mode `auto`; it never waits".to_owned());
            }
            Status::WaitingUser if self.status().is_end() => {}
            Status::WaitingUser => answer.reasons.push("no question is open".to_owned()),
            Status::Failed => answer.reasons.push("nothing has failed".to_owned()),
            Status::Canceled => answer.reasons.push("nobody has canceled the run".to_owned()),
            Status::Queued => answer.reasons.push("the run needs no new slot".to_owned()),
            Status::Running => answer.reasons.push(self.why_not_running().to_owned()),
        }
        answer
    }

    fn why_not_succeeded(&self, answer: &mut WhyNot) {
        let Some(decision) = self.decision() else {
            answer.reasons.push("no turn has finished yet".to_owned());
            return;
        };
        let evidence = &decision.evidence;
        if self.plan().is_interactive() && evidence.marker != Marker::Found {
            let declined = evidence.marker == Marker::Declined;
            let reason = if declined { "the agent says it is not done" } else { "the last turn has no done marker" };
            answer.reasons.push(reason.to_owned());
        }
        let (has_schema, output) = (self.plan().output_schema.is_some(), evidence.output);
        match output {
            OutputState::Missing if has_schema => answer.reasons.push("the last turn has no output object".to_owned()),
            OutputState::Unparsable if has_schema => {
                answer.reasons.push("the last turn's output cannot be read".to_owned());
            }
            OutputState::Invalid => {
                answer.reasons.push("the last turn's output does not fit the schema".to_owned());
                answer.violations.clone_from(&evidence.violations);
            }
            OutputState::Valid if evidence.asks => answer.reasons.push("the last turn asks the user".to_owned()),
            OutputState::Valid if self.plan().soft_completion == SoftCompletion::Never => {
                answer.reasons.push("soft completion is switched off".to_owned());
            }
            OutputState::Missing | OutputState::Unparsable | OutputState::Valid | OutputState::Unchecked => {}
        }
        let is_known = self.status() == Status::Failed;
        if let Some(code) = decision.code().filter(|_| !is_known) {
            answer.reasons.push(format!("{}: {} ({code})", decision.rule, decision.message()));
        }
    }

    fn why_not_running(&self) -> &'static str {
        match (self.status(), self.plan().profile) {
            (Status::Queued, _) => "no slot has been granted yet",
            (Status::WaitingUser, Profile::Resumable) => "a reply, then a slot, must come first",
            (Status::WaitingUser, Profile::StickyProcess) => "a reply must come first",
            _ => "no turn is under way",
        }
    }
}
