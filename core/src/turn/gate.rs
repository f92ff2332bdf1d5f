//! The completion gates: what a finished turn means (GATE-1 to GATE-9).
//!
//! The gates are asked in order and the first that answers decides. Every question and answer is kept in the decision.

mod brief;

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub(crate) use self::brief::Brief;
use self::brief::{Plain, Said};
use crate::admission::plan::Plan;
use crate::text;
use crate::turn::evidence::{self, Evidence, Found, Marker, OutputState};
use crate::turn::question;
use crate::types::codes::{Code, Note};
use crate::types::event::TurnReport;
use crate::types::interaction::Question;
use crate::types::plan::SoftCompletion;
use crate::types::state::Status;

/// Why a turn ended as it did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// What the run becomes.
    pub outcome: Verdict,
    /// The rule that decided.
    pub rule: Cow<'static, str>,
    /// The failure's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The decision in a sentence.
    pub message: String,
    /// What the turn showed.
    pub evidence: Evidence,
    /// What a person should look at.
    pub warnings: Vec<Note>,
    /// Details.
    pub diagnostics: Vec<Note>,
    /// Every gate that was asked, in order, and what it answered.
    pub checks: Vec<GateCheck>,
}

/// What a finished turn makes of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The run is complete.
    Succeeded,
    /// The run has failed.
    Failed,
    /// The run waits for a person.
    WaitingUser,
}

impl Verdict {
    /// The status of a run that was judged so.
    #[must_use]
    pub const fn status(self) -> Status {
        match self {
            Verdict::Succeeded => Status::Succeeded,
            Verdict::Failed => Status::Failed,
            Verdict::WaitingUser => Status::WaitingUser,
        }
    }
}

/// One gate's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateCheck {
    /// The rule's id.
    pub gate: Cow<'static, str>,
    /// Whether it decided.
    pub result: GateResult,
    /// What it saw.
    pub detail: Cow<'static, str>,
}

/// Whether a gate decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateResult {
    /// It did not; the next one is asked.
    Passed,
    /// It did.
    Decided,
}

/// A decision and what the run goes on with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// The decision.
    pub decision: Decision,
    /// The result's JSON text, if the run succeeded with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_text: Option<String>,
    /// What to ask, if the run waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
}

impl Judged {
    /// Whether the parts belong together; a recorded one comes from outside.
    pub(crate) fn is_coherent(&self) -> bool {
        let fails = self.decision.code.as_ref().is_some_and(|code| !code.is_empty());
        let (asks, has_data) = (self.question.is_some(), self.data_text.is_some());
        match self.decision.outcome {
            Verdict::Succeeded => !fails && !asks,
            Verdict::Failed => fails && !asks && !has_data,
            Verdict::WaitingUser => !fails && asks && !has_data,
        }
    }
}

/// The same as long as nobody reads it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Judgement {
    pub(crate) decision: Brief,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) question: Option<Arc<Question>>,
}

impl Judgement {
    pub(crate) fn of(judged: Judged) -> Judgement {
        let Judged { decision, data_text, question } = judged;
        Judgement { decision: Brief::of(decision), data_text, question: question.map(Arc::new) }
    }

    pub(crate) fn told(self) -> Judged {
        let Judgement { decision, data_text, question } = self;
        Judged { decision: decision.told(), data_text, question: question.map(Arc::unwrap_or_clone) }
    }
}

/// Where a run is when its turn is judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    /// The number of the turn.
    pub(crate) attempt_number: u32,
    /// Questions asked before.
    pub(crate) interactions: u64,
}

/// Judges a finished turn. The same plan, position and report give the same judgement, everywhere.
pub(crate) fn judge(plan: &Plan, position: Position, report: &TurnReport) -> Judgement {
    let found = evidence::read(plan, report);
    let mut bench = Bench { plain: Plain::of(&found.evidence), plan, report, found };
    let ruling = bench.rule(position);
    bench.judgement(ruling)
}

/// What a gate said when it decided.
enum Ruling {
    Complete,
    Fail(Failure),
    Wait,
}

struct Failure {
    rule: &'static str,
    code: String,
    message: String,
    detail: String,
}

struct Bench<'p> {
    plan: &'p Plan,
    report: &'p TurnReport,
    found: Found<'p>,
    plain: Plain,
}

impl Bench<'_> {
    /// The table of section 4, top to bottom.
    fn rule(&mut self, position: Position) -> Ruling {
        let Evidence { marker, output, asks, .. } = self.found.evidence;
        let has_schema = self.plan.output_schema.is_some();

        if let Some(reason) = self.report.failure().map(str::to_owned) {
            return self.process_failed(reason, marker);
        }
        self.say(Said::EndedWell);

        if !self.plan.is_interactive() {
            return match output {
                OutputState::Valid => self.complete(Said::AutoFits),
                _ if !has_schema => self.complete(Said::AutoUnchecked),
                _ => self.bad_output("GATE-2"),
            };
        }

        if marker == Marker::Found {
            return match output {
                OutputState::Valid => self.complete(Said::DoneAndFits),
                _ if !has_schema => self.complete(Said::DoneUnchecked),
                _ => {
                    self.say(Said::DoneWithoutOutput);
                    self.bad_output("GATE-4")
                }
            };
        }
        let unmarked = match marker {
            Marker::Declined => [Said::NotStrongDeclined, Said::NotBadDeclined],
            Marker::Absent | Marker::Found => [Said::NotStrong, Said::NotBad],
        };
        for said in unmarked {
            self.say(said);
        }

        let missing = match self.soft_completion(output, asks, marker) {
            Ok(ruling) => return ruling,
            Err(missing) => missing,
        };
        self.say(missing);
        if let Some(ruling) = self.out_of_attempts(position, missing) {
            return ruling;
        }
        self.say(Said::Waits);
        Ruling::Wait
    }

    /// GATE-5, or what keeps the turn from it.
    fn soft_completion(&mut self, output: OutputState, asks: bool, marker: Marker) -> Result<Ruling, Said> {
        match output {
            OutputState::Missing => return Err(Said::NoObject),
            OutputState::Unparsable => return Err(Said::NotJson),
            OutputState::Invalid => return Err(Said::NotFitting),
            OutputState::Unchecked => return Err(Said::NoSchema),
            OutputState::Valid => {}
        }
        match self.plan.soft_completion {
            SoftCompletion::Never => return Err(Said::SoftIsOff),
            SoftCompletion::UnlessAsking if asks => return Err(Said::FitsButAsks),
            SoftCompletion::UnlessAsking if marker == Marker::Declined => return Err(Said::FitsButDeclined),
            _ if !self.found.has_output_object => return Err(Said::FitsButNoObject),
            SoftCompletion::UnlessAsking | SoftCompletion::Always => {}
        }
        Ok(self.complete(Said::SoftFits))
    }

    /// GATE-6, and the limit of questions in one run. `missing` is what kept the turn from GATE-5.
    fn out_of_attempts(&mut self, position: Position, missing: Said) -> Option<Ruling> {
        match self.plan.max_attempt {
            // Nobody can answer any more, so a question or a declined marker must not throw a valid result away.
            Some(max) if position.attempt_number >= max && missing.holds_back() && self.found.has_output_object => {
                return Some(self.complete(Said::LastAttemptFits));
            }
            Some(max) if position.attempt_number >= max => {
                let message =
                    format!("attempt {} of {max} ended without evidence of completion", position.attempt_number);
                return Some(fail("GATE-6", Code::InteractiveMaxAttemptExceeded, message));
            }
            Some(max) => {
                self.plain.attempt = (position.attempt_number, max);
                self.say(Said::AttemptsLeft);
            }
            None => self.say(Said::AttemptsUnlimited),
        }
        if self.plan.limits.interactions.is_some_and(|limit| position.interactions >= limit) {
            let message = format!("questions asked: {}, as many as the limit allows", position.interactions);
            return Some(fail("GATE-11", Code::InteractionLimitExceeded, message));
        }
        None
    }

    fn process_failed(&mut self, reason: String, marker: Marker) -> Ruling {
        if marker == Marker::Found {
            self.found.diagnostics.push(Note::new(
                Code::DoneMarkerProcessFailureConflict,
                "the agent says it is done, but its process failed",
            ));
        }
        let message = match self.report.exit_code {
            Some(code) if code != 0 => format!("the turn failed with exit code {code}"),
            _ => "the turn failed".to_owned(),
        };
        let detail = format!("{message}: {reason}");
        Ruling::Fail(Failure { rule: "GATE-1", code: reason, message, detail })
    }

    /// A success, unless an artifact is missing (GATE-8).
    fn complete(&mut self, said: Said) -> Ruling {
        let required = &self.plan.required_artifacts;
        let missing = required.iter().filter(|path| !self.report.artifacts.contains(path));
        let missing: Vec<_> = missing.map(String::as_str).collect();
        if missing.is_empty() {
            if !required.is_empty() {
                self.say(Said::ArtifactsExist);
            }
            self.say(said);
            return Ruling::Complete;
        }
        self.say(said);
        fail("GATE-8", Code::ArtifactMissing, format!("missing: {}", text::quoted_list(&missing)))
    }

    fn bad_output(&self, rule: &'static str) -> Ruling {
        let (code, message) = match self.found.evidence.output {
            OutputState::Missing => (Code::OutputMissing, "there is no output object"),
            OutputState::Unparsable => (Code::OutputUnparsable, "the output is not JSON that can be taken"),
            OutputState::Invalid => (Code::OutputSchemaInvalid, "the output does not fit the schema"),
            OutputState::Valid => (Code::OutputSchemaInvalid, "the output fits the schema"),
            OutputState::Unchecked => (Code::OutputSchemaInvalid, "there is an output, but no schema to check it with"),
        };
        fail(rule, code, message.to_owned())
    }

    fn judgement(mut self, ruling: Ruling) -> Judgement {
        self.plain.outcome = match &ruling {
            Ruling::Complete => Verdict::Succeeded,
            Ruling::Fail(_) => Verdict::Failed,
            Ruling::Wait => Verdict::WaitingUser,
        };
        let question = matches!(ruling, Ruling::Wait).then(|| Arc::new(self.question()));
        let data_text = if matches!(ruling, Ruling::Complete) { self.found.data_text.take() } else { None };
        Judgement { decision: self.decision(ruling), data_text, question }
    }

    fn decision(self, ruling: Ruling) -> Brief {
        let Found { evidence, diagnostics, .. } = self.found;
        let is_plain = diagnostics.is_empty() && evidence.violations.is_empty();
        if is_plain && !matches!(ruling, Ruling::Fail(_)) {
            return Brief::Plain(self.plain);
        }
        let mut decision = Decision { evidence, diagnostics, ..self.plain.told() };
        if let Ruling::Fail(Failure { rule, code, message, detail }) = ruling {
            decision.checks.push(GateCheck { gate: rule.into(), result: GateResult::Decided, detail: detail.into() });
            (decision.rule, decision.code, decision.message) = (rule.into(), Some(code), message);
        }
        Brief::Full(decision.into())
    }

    /// The baseline (PEND-2), enriched by what the agent offered (PEND-3).
    fn question(&mut self) -> Question {
        let words = self.found.last_words;
        let (kept, bytes) = (words.len(), self.found.last_words_bytes);
        let baseline = Question {
            prompt: if words.is_empty() { FALLBACK_PROMPT } else { words }.to_owned(),
            default_decision_policy: DEFAULT_DECISION_POLICY.into(),
            ..Question::default()
        };
        if bytes > kept && !self.found.evidence.asks {
            let message = format!("the assistant's last text had {bytes} bytes, the last {kept} are kept");
            self.found.diagnostics.push(Note::new(Code::PromptTruncated, message));
        }
        match self.found.question.take() {
            Some(fields) => question::enrich(baseline, &fields, &self.plan.limits, &mut self.found.diagnostics),
            None => baseline,
        }
    }

    fn say(&mut self, said: Said) {
        self.plain.say(said);
    }
}

fn fail(rule: &'static str, code: Code, message: String) -> Ruling {
    let detail = format!("{message}: {code}");
    Ruling::Fail(Failure { rule, code: code.as_str().to_owned(), message, detail })
}

/// The question of a turn that said nothing.
pub(crate) const FALLBACK_PROMPT: &str = "The agent is waiting for your input.";
/// What an automatic decision goes by unless the agent said otherwise.
const DEFAULT_DECISION_POLICY: &str = "engine_judgement";
