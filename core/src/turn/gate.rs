//! The completion gates: what a finished turn means (GATE-1 to GATE-9).
//!
//! The gates are asked in order and the first that answers decides. Every gate asked and its reason are in the decision.

use std::sync::Arc;

use crate::admission::plan::Plan;
use crate::turn::evidence::{self, Found};
use crate::turn::question;
use crate::types::codes::{Code, Note};
use crate::types::decision::{
    Check, CheckResult, Decision, Evaluation, Evidence, Gate, Marker, OutputState, ProcessFailure, Reason, Verdict,
};
use crate::types::event::TurnReport;
use crate::types::interaction::Question;
use crate::types::plan::SoftCompletion;

/// Where a run is when its turn is evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    /// The number of the turn.
    pub(crate) attempt_number: u32,
    /// Questions asked before.
    pub(crate) interactions: u64,
}

/// Evaluates a finished turn. The same plan, position and report give the same evaluation, everywhere.
pub(crate) fn evaluate(plan: &Plan, position: Position, report: &TurnReport) -> Evaluation {
    let found = evidence::read(plan, report);
    // The longest way through the gates: 1, 3, 4, 5, 6 and 7.
    let mut gates = Gates { plan, report, position, found, checks: Vec::with_capacity(6) };
    let (rule, outcome) = gates.run();
    gates.evaluation(rule, outcome)
}

struct Gates<'p> {
    plan: &'p Plan,
    report: &'p TurnReport,
    position: Position,
    found: Found<'p>,
    checks: Vec<Check>,
}

impl Gates<'_> {
    /// The table of section 4, top to bottom.
    fn run(&mut self) -> (Gate, Verdict) {
        let Evidence { marker, output, .. } = self.found.evidence;
        let has_schema = self.plan.output_schema.is_some();

        if let Some(code) = self.report.failure().map(str::to_owned) {
            return self.process_failed(code, marker);
        }
        self.pass(Gate::Process, Reason::ProcessSucceeded);

        if !self.plan.is_interactive() {
            return match output {
                OutputState::Valid => self.complete(Gate::AutoOutput, Reason::OutputValid),
                _ if !has_schema => self.complete(Gate::AutoOutput, Reason::NoSchema),
                _ => self.fail(Gate::AutoOutput, invalid_output(output)),
            };
        }

        let no_marker = match marker {
            Marker::Found => {
                return match output {
                    OutputState::Valid => self.complete(Gate::DoneMarker, Reason::DoneWithValidOutput),
                    _ if !has_schema => self.complete(Gate::DoneMarker, Reason::DoneWithoutSchema),
                    _ => {
                        self.pass(Gate::DoneMarker, Reason::DoneWithoutValidOutput);
                        self.fail(Gate::DoneWithoutOutput, invalid_output(output))
                    }
                };
            }
            Marker::Declined => Reason::DoneMarkerDeclined,
            Marker::Absent => Reason::NoDoneMarker,
        };
        self.pass(Gate::DoneMarker, no_marker.clone());
        self.pass(Gate::DoneWithoutOutput, no_marker);

        let Some(held_back) = self.reason_against_soft_completion() else {
            return self.complete(Gate::SoftCompletion, Reason::OutputValid);
        };
        // On the last attempt no reply can follow, so a question or a declined marker must not discard a valid result.
        let is_valid_result =
            matches!(held_back, Reason::AsksUser | Reason::DoneMarkerDeclined) && self.found.has_output_object;
        self.pass(Gate::SoftCompletion, held_back);

        let attempt = self.position.attempt_number;
        match self.plan.max_attempt {
            Some(max_attempt) if attempt < max_attempt => {
                self.pass(Gate::Attempts, Reason::AttemptsLeft { attempt, max_attempt });
            }
            Some(_) if is_valid_result => return self.complete(Gate::Attempts, Reason::LastAttempt),
            Some(max_attempt) => {
                return self.fail(Gate::Attempts, Reason::AttemptsExhausted { attempt, max_attempt });
            }
            None => self.pass(Gate::Attempts, Reason::AttemptsUnlimited),
        }

        let interactions = self.position.interactions;
        if self.plan.limits.interactions.is_some_and(|limit| interactions >= limit) {
            return self.fail(Gate::InteractionLimit, Reason::InteractionLimitReached { interactions });
        }
        self.decide(Gate::Wait, Reason::WaitsForUser, Verdict::WaitingUser)
    }

    /// GATE-5: what keeps an unmarked turn from completing the run.
    fn reason_against_soft_completion(&self) -> Option<Reason> {
        let Evidence { marker, output, asks, .. } = self.found.evidence;
        Some(match (output, self.plan.soft_completion) {
            (OutputState::Missing | OutputState::Unparsable | OutputState::Invalid | OutputState::Unchecked, _) => {
                invalid_output(output)
            }
            (OutputState::Valid, SoftCompletion::Never) => Reason::SoftCompletionOff,
            (OutputState::Valid, SoftCompletion::UnlessAsking) if asks => Reason::AsksUser,
            (OutputState::Valid, SoftCompletion::UnlessAsking) if marker == Marker::Declined => {
                Reason::DoneMarkerDeclined
            }
            (OutputState::Valid, _) if !self.found.has_output_object => Reason::OutputNotObject,
            (OutputState::Valid, SoftCompletion::UnlessAsking | SoftCompletion::Always) => return None,
        })
    }

    fn process_failed(&mut self, code: String, marker: Marker) -> (Gate, Verdict) {
        if marker == Marker::Found {
            self.found.diagnostics.push(Note::new(
                Code::DoneMarkerProcessFailureConflict,
                "the agent says it is done, but its process failed",
            ));
        }
        let exit_code = self.report.exit_code.filter(|code| *code != 0);
        self.fail(Gate::Process, Reason::ProcessFailed(Box::new(ProcessFailure { code, exit_code })))
    }

    /// A success, unless an artifact is missing (GATE-8).
    fn complete(&mut self, gate: Gate, reason: Reason) -> (Gate, Verdict) {
        let required = &self.plan.required_artifacts;
        let missing: Vec<_> = required.iter().filter(|path| !self.report.artifacts.contains(path)).cloned().collect();
        if !missing.is_empty() {
            self.pass(gate, reason);
            return self.fail(Gate::Artifacts, Reason::ArtifactsMissing { paths: Box::new(missing) });
        }
        if !required.is_empty() {
            self.pass(Gate::Artifacts, Reason::ArtifactsPresent);
        }
        self.decide(gate, reason, Verdict::Succeeded)
    }

    fn fail(&mut self, gate: Gate, reason: Reason) -> (Gate, Verdict) {
        self.decide(gate, reason, Verdict::Failed)
    }

    fn pass(&mut self, gate: Gate, reason: Reason) {
        self.checks.push(Check { gate, result: CheckResult::Passed, reason });
    }

    fn decide(&mut self, gate: Gate, reason: Reason, outcome: Verdict) -> (Gate, Verdict) {
        self.checks.push(Check { gate, result: CheckResult::Decided, reason });
        (gate, outcome)
    }

    fn evaluation(mut self, rule: Gate, outcome: Verdict) -> Evaluation {
        let question = (outcome == Verdict::WaitingUser).then(|| Arc::new(self.question()));
        let Gates { found: Found { evidence, diagnostics, data_text, .. }, checks, .. } = self;
        let decision = Decision { outcome, rule, evidence, diagnostics, checks: checks.into() };
        Evaluation { decision, data_text: data_text.filter(|_| outcome == Verdict::Succeeded), question }
    }

    /// The baseline (PEND-2), enriched by what the agent offered (PEND-3).
    fn question(&mut self) -> Question {
        let words = self.found.last_words;
        let (kept, bytes) = (words.len() as u64, self.found.last_words_bytes);
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
}

/// Why an output is none that completes a run.
const fn invalid_output(output: OutputState) -> Reason {
    match output {
        OutputState::Valid => Reason::OutputValid,
        OutputState::Missing => Reason::OutputMissing,
        OutputState::Unparsable => Reason::OutputUnparsable,
        OutputState::Invalid => Reason::OutputInvalid,
        OutputState::Unchecked => Reason::NoSchema,
    }
}

/// The question of a turn that said nothing.
pub(crate) const FALLBACK_PROMPT: &str = "The agent is waiting for your input.";
/// What an automatic decision goes by unless the agent said otherwise.
const DEFAULT_DECISION_POLICY: &str = "engine_judgement";
