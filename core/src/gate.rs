//! The completion gates: what a finished turn means (GATE-1 to GATE-9).
//!
//! The gates are asked in order and the first that answers decides. Every question and answer is kept in the decision.

use std::borrow::Cow;

use crate::ask_user;
use crate::codes::{Code, Note};
use crate::event::TurnReport;
use crate::evidence::{self, Evidence, Found, Marker, OutputState, Source};
use crate::interaction::Question;
use crate::plan::{RunPlan, SoftCompletion};
use crate::state::Status;
use crate::text;
use crate::wire::{names, record};

/// Why a turn ended as it did.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What the run becomes.
    pub outcome: Verdict,
    /// The rule that decided.
    pub rule: Cow<'static, str>,
    /// The failure's code.
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

record!(Decision { outcome, rule, code, message, evidence, warnings, diagnostics, checks });

/// What a finished turn makes of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The run is complete.
    Succeeded,
    /// The run has failed.
    Failed,
    /// The run waits for a person.
    WaitingUser,
}

names!(Verdict { "succeeded" => Succeeded, "failed" => Failed, "waiting_user" => WaitingUser });

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateCheck {
    /// The rule's id.
    pub gate: Cow<'static, str>,
    /// Whether it decided.
    pub result: GateResult,
    /// What it saw.
    pub detail: Cow<'static, str>,
}

record!(GateCheck { gate, result, detail });

/// Whether a gate decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateResult {
    /// It did not; the next one is asked.
    Passed,
    /// It did.
    Decided,
}

names!(GateResult { "passed" => Passed, "decided" => Decided });

/// A decision and what the run goes on with.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The decision.
    pub decision: Decision,
    /// The result's JSON text, if the run succeeded with one.
    pub data_text: Option<String>,
    /// What to ask, if the run waits.
    pub question: Option<Question>,
}

record!(Judged { decision, data_text, question });

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

/// Where a run is when its turn is judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    /// The number of the turn.
    pub(crate) attempt_number: u32,
    /// Questions asked before.
    pub(crate) interactions: u64,
}

/// Judges a finished turn. The same plan, position and report give the same judgement, everywhere.
pub(crate) fn judge(plan: &RunPlan, position: Position, report: &TurnReport) -> Judged {
    judge_found(plan, position, report, evidence::read(plan, report))
}

/// The gates alone, on evidence that has been read.
pub(crate) fn judge_found(plan: &RunPlan, position: Position, report: &TurnReport, found: Found) -> Judged {
    let mut bench = Bench { plan, report, found, warnings: Vec::new(), checks: Vec::with_capacity(7) };
    if matches!(bench.found.evidence.source, Some(Source::JsonFence | Source::Fence | Source::Prose)) {
        bench.warn(Code::OutputRepairedGeneric, "the output was found inside other text");
    }
    let ruling = bench.rule(position);
    bench.judgement(ruling)
}

/// What a gate said when it decided.
enum Ruling {
    Complete { rule: &'static str },
    Fail { rule: &'static str, code: String, message: String },
    Wait { rule: &'static str, message: &'static str },
}

/// What keeps a turn from completing the run, and the sentence of a run that waits for it.
struct Missing {
    detail: &'static str,
    so_waits: &'static str,
}

macro_rules! missing {
    ($detail:literal) => {
        Missing { detail: $detail, so_waits: concat!("the run waits for the user: ", $detail) }
    };
}

struct Bench<'p> {
    plan: &'p RunPlan,
    report: &'p TurnReport,
    found: Found,
    warnings: Vec<Note>,
    checks: Vec<GateCheck>,
}

impl Bench<'_> {
    /// The table of section 4, top to bottom.
    fn rule(&mut self, position: Position) -> Ruling {
        let Evidence { marker, output, asks, .. } = self.found.evidence;
        let has_schema = self.plan.output_schema.is_some();

        if let Some(reason) = self.report.failure().map(str::to_owned) {
            return self.process_failed(reason, marker);
        }
        self.passed("GATE-1", "the process ended well");

        if !self.plan.is_interactive() {
            return match output {
                OutputState::Valid => self.complete("GATE-2", "the output fits the schema"),
                _ if !has_schema => self.complete("GATE-2", "the process ended well and there is no schema to check"),
                _ => self.bad_output("GATE-2"),
            };
        }

        if marker == Marker::Found {
            return match output {
                OutputState::Valid => {
                    self.complete("GATE-3", "the agent says it is done and the output fits the schema")
                }
                _ if !has_schema => {
                    self.complete("GATE-3", "the agent says it is done and there is no schema to check")
                }
                _ => {
                    self.passed("GATE-3", "the agent says it is done, but there is no valid output");
                    self.bad_output("GATE-4")
                }
            };
        }
        let no_marker = if marker == Marker::Declined { "the agent says it is not done" } else { "no done marker" };
        self.passed("GATE-3", no_marker);
        self.passed("GATE-4", no_marker);

        let missing = match self.soft_completion(output, asks, marker) {
            Ok(ruling) => return ruling,
            Err(missing) => missing,
        };
        self.passed("GATE-5", missing.detail);
        if let Some(ruling) = self.out_of_attempts(position) {
            return ruling;
        }
        self.decided("GATE-7", missing.so_waits);
        Ruling::Wait { rule: "GATE-7", message: missing.so_waits }
    }

    /// GATE-5, or what keeps the turn from it.
    fn soft_completion(&mut self, output: OutputState, asks: bool, marker: Marker) -> Result<Ruling, Missing> {
        match output {
            OutputState::Missing => return Err(missing!("no done marker, and there is no output object")),
            OutputState::Unparsable => {
                return Err(missing!("no done marker, and the output is not JSON that can be taken"));
            }
            OutputState::Invalid => return Err(missing!("no done marker, and the output does not fit the schema")),
            OutputState::Unchecked => {
                return Err(missing!("no done marker, and there is an output, but no schema to check it with"));
            }
            OutputState::Valid => {}
        }
        let against = match self.plan.soft_completion {
            SoftCompletion::Never => Some(missing!("the output fits the schema, but soft completion is switched off")),
            SoftCompletion::UnlessAsking if asks => {
                Some(missing!("the output fits the schema, but the same turn asks the user"))
            }
            SoftCompletion::UnlessAsking if marker == Marker::Declined => {
                Some(missing!("the output fits the schema, but the agent says it is not done"))
            }
            _ if !self.found.has_output_object => Some(missing!("the output fits the schema, but it is not an object")),
            SoftCompletion::UnlessAsking | SoftCompletion::Always => None,
        };
        if let Some(reason) = against {
            return Err(reason);
        }
        let ruling = self.complete("GATE-5", "the output fits the schema");
        if matches!(ruling, Ruling::Complete { .. }) {
            self.warn(
                Code::InteractiveCompletedWithoutDoneMarker,
                "the output fits the schema, but the agent did not say it was done",
            );
        }
        Ok(ruling)
    }

    /// GATE-6, and the limit of questions in one run.
    fn out_of_attempts(&mut self, position: Position) -> Option<Ruling> {
        match self.plan.max_attempt {
            Some(max) if position.attempt_number >= max => {
                let message =
                    format!("attempt {} of {max} ended without evidence of completion", position.attempt_number);
                return Some(self.fail("GATE-6", Code::InteractiveMaxAttemptExceeded, message));
            }
            Some(max) => self.passed("GATE-6", format!("attempt {} of {max}", position.attempt_number)),
            None => self.passed("GATE-6", "attempts are not limited"),
        }
        if position.interactions >= self.plan.limits.interactions {
            let message = format!("questions asked: {}, as many as the limit allows", position.interactions);
            return Some(self.fail("GATE-11", Code::InteractionLimitExceeded, message));
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
        self.decided("GATE-1", format!("{message}: {reason}"));
        Ruling::Fail { rule: "GATE-1", code: reason, message }
    }

    /// A success, unless an artifact is missing (GATE-8).
    fn complete(&mut self, rule: &'static str, detail: &'static str) -> Ruling {
        let missing: Vec<_> =
            self.plan.required_artifacts.iter().filter(|path| !self.report.artifacts.contains(path)).collect();
        if missing.is_empty() {
            if !self.plan.required_artifacts.is_empty() {
                self.passed("GATE-8", "every required artifact exists");
            }
            self.decided(rule, detail);
            return Ruling::Complete { rule };
        }
        let names = missing.iter().map(|path| text::quoted(path)).collect::<Vec<_>>().join(", ");
        self.passed(rule, detail);
        self.fail("GATE-8", Code::ArtifactMissing, format!("missing: {names}"))
    }

    fn bad_output(&mut self, rule: &'static str) -> Ruling {
        let output = self.found.evidence.output;
        let code = match output {
            OutputState::Missing => Code::OutputMissing,
            OutputState::Unparsable => Code::OutputUnparsable,
            OutputState::Invalid | OutputState::Valid | OutputState::Unchecked => Code::OutputSchemaInvalid,
        };
        self.fail(rule, code, describe_output(output).to_owned())
    }

    fn fail(&mut self, rule: &'static str, code: Code, message: String) -> Ruling {
        self.decided(rule, format!("{message}: {code}"));
        Ruling::Fail { rule, code: code.as_str().to_owned(), message }
    }

    fn judgement(mut self, ruling: Ruling) -> Judged {
        let (outcome, rule, code, message) = match ruling {
            Ruling::Complete { rule } => (Verdict::Succeeded, rule, None, "the run is complete".to_owned()),
            Ruling::Fail { rule, code, message } => (Verdict::Failed, rule, Some(code), message),
            Ruling::Wait { rule, message } => (Verdict::WaitingUser, rule, None, message.to_owned()),
        };
        let question = (outcome == Verdict::WaitingUser).then(|| self.question());
        let data_text = if outcome == Verdict::Succeeded { self.found.data_text.take() } else { None };
        let decision = Decision {
            outcome,
            rule: Cow::Borrowed(rule),
            code,
            message,
            evidence: self.found.evidence,
            warnings: self.warnings,
            diagnostics: self.found.diagnostics,
            checks: self.checks,
        };
        Judged { decision, data_text, question }
    }

    /// The baseline (PEND-2), enriched by what the agent offered (PEND-3).
    fn question(&mut self) -> Question {
        let words = std::mem::take(&mut self.found.last_words);
        let (kept, bytes) = (words.len(), self.found.last_words_bytes);
        let baseline = Question {
            prompt: if words.is_empty() { FALLBACK_PROMPT.to_owned() } else { words },
            default_decision_policy: DEFAULT_DECISION_POLICY.to_owned(),
            ..Question::default()
        };
        if bytes > kept && !self.found.evidence.asks {
            let message = format!("the assistant's last text had {bytes} bytes, the last {kept} are kept");
            self.found.diagnostics.push(Note::new(Code::PromptTruncated, message));
        }
        match self.found.question.take() {
            Some(fields) => ask_user::enrich(baseline, &fields, &self.plan.limits, &mut self.found.diagnostics),
            None => baseline,
        }
    }

    fn passed(&mut self, gate: &'static str, detail: impl Into<Cow<'static, str>>) {
        self.checks.push(GateCheck { gate: gate.into(), result: GateResult::Passed, detail: detail.into() });
    }

    fn decided(&mut self, gate: &'static str, detail: impl Into<Cow<'static, str>>) {
        self.checks.push(GateCheck { gate: gate.into(), result: GateResult::Decided, detail: detail.into() });
    }

    fn warn(&mut self, code: Code, message: &str) {
        self.warnings.push(Note::new(code, message));
    }
}

fn describe_output(output: OutputState) -> &'static str {
    match output {
        OutputState::Missing => "there is no output object",
        OutputState::Unparsable => "the output is not JSON that can be taken",
        OutputState::Invalid => "the output does not fit the schema",
        OutputState::Valid => "the output fits the schema",
        OutputState::Unchecked => "there is an output, but no schema to check it with",
    }
}

/// The question of a turn that said nothing.
pub(crate) const FALLBACK_PROMPT: &str = "The agent is waiting for your input.";
/// What an automatic decision goes by unless the agent said otherwise.
const DEFAULT_DECISION_POLICY: &str = "engine_judgement";
