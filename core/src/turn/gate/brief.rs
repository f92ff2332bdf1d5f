//! A decision as a run keeps it: what the gates said, not the sentences. Most decisions are one of few, and a million
//! waiting runs keep theirs in a few bytes each; it is told in full when somebody asks.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Decision, GateCheck, GateResult, Verdict};
use crate::turn::evidence::{Evidence, Marker, OutputState, Source};
use crate::types::codes::{Code, Note};

/// A decision that can be told in full.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Brief {
    Plain(Plain),
    /// A failure, or a decision with diagnostics or violations; also one from outside, whatever it says.
    Full(Arc<Decision>),
}

/// What the gates said of a turn about which nothing else is to be noted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plain {
    pub(super) outcome: Verdict,
    marker: Marker,
    output: OutputState,
    source: Option<Source>,
    asks: bool,
    said: [Option<Said>; MOST_SAID],
    /// The attempt and how many there may be, for [`Said::AttemptsLeft`].
    pub(super) attempt: (u32, u32),
}

impl Brief {
    /// The same decision, as small as it can be.
    pub(crate) fn of(decision: Decision) -> Brief {
        match Plain::read(&decision).filter(|plain| plain.told() == decision) {
            Some(plain) => Brief::Plain(plain),
            None => Brief::Full(decision.into()),
        }
    }

    pub(crate) fn told(&self) -> Decision {
        match self {
            Brief::Plain(plain) => plain.told(),
            Brief::Full(decision) => Decision::clone(decision),
        }
    }

    pub(crate) fn outcome(&self) -> Verdict {
        match self {
            Brief::Plain(plain) => plain.outcome,
            Brief::Full(decision) => decision.outcome,
        }
    }

    pub(crate) fn rule(&self) -> Cow<'static, str> {
        match self {
            Brief::Plain(plain) => plain.rule().into(),
            Brief::Full(decision) => decision.rule.clone(),
        }
    }

    pub(crate) fn code(&self) -> Option<&String> {
        self.full().and_then(|decision| decision.code.as_ref())
    }

    pub(crate) fn message(&self) -> Cow<'static, str> {
        match self {
            Brief::Plain(plain) => plain.message(),
            Brief::Full(decision) => decision.message.clone().into(),
        }
    }

    pub(crate) fn warnings(&self) -> Vec<Note> {
        match self {
            Brief::Plain(plain) => plain.warnings(),
            Brief::Full(decision) => decision.warnings.clone(),
        }
    }

    pub(crate) fn diagnostics(&self) -> &[Note] {
        self.full().map_or(&[], |decision| &decision.diagnostics)
    }

    fn full(&self) -> Option<&Decision> {
        match self {
            Brief::Plain(_) => None,
            Brief::Full(decision) => Some(decision),
        }
    }
}

impl Plain {
    /// Nothing has been said of it yet.
    pub(super) fn of(evidence: &Evidence) -> Plain {
        let Evidence { marker, output, source, asks, .. } = *evidence;
        let outcome = Verdict::Failed;
        Plain { outcome, marker, output, source, asks, said: [None; MOST_SAID], attempt: (0, 0) }
    }

    pub(super) fn say(&mut self, said: Said) {
        if let Some(place) = self.said.iter_mut().find(|place| place.is_none()) {
            *place = Some(said);
        }
    }

    pub(super) fn told(&self) -> Decision {
        let checks = self.said().map(|said| GateCheck {
            gate: said.words().0.into(),
            result: GateResult::Passed,
            detail: self.detail(said),
        });
        let mut decision = Decision {
            outcome: self.outcome,
            rule: self.rule().into(),
            code: None,
            message: self.message().into_owned(),
            evidence: Evidence {
                marker: self.marker,
                output: self.output,
                source: self.source,
                asks: self.asks,
                violations: Vec::new(),
            },
            warnings: self.warnings(),
            diagnostics: Vec::new(),
            checks: checks.collect(),
        };
        if let Some(last) = decision.checks.last_mut().filter(|_| self.outcome != Verdict::Failed) {
            last.result = GateResult::Decided;
        }
        decision
    }

    /// What a decision would be made of if it is plain.
    fn read(decision: &Decision) -> Option<Plain> {
        let mut plain = Plain { outcome: decision.outcome, ..Plain::of(&decision.evidence) };
        for check in &decision.checks {
            let said = Said::read(check)?;
            if said == Said::AttemptsLeft {
                let (attempt, max) = check.detail.strip_prefix(ATTEMPT)?.split_once(OF)?;
                plain.attempt = (number(attempt)?, number(max)?);
            }
            plain.say(said);
        }
        Some(plain)
    }

    /// They follow from where the output was found and from what the gates said.
    fn warnings(&self) -> Vec<Note> {
        let mut warnings = Vec::new();
        if matches!(self.source, Some(Source::JsonFence | Source::Fence | Source::Prose)) {
            warnings.push(Note::new(Code::OutputRepairedGeneric, REPAIRED));
        }
        if self.outcome == Verdict::Succeeded && self.said().any(Said::is_soft) {
            warnings.push(Note::new(Code::InteractiveCompletedWithoutDoneMarker, UNMARKED));
        }
        warnings
    }

    fn said(&self) -> impl DoubleEndedIterator<Item = Said> {
        self.said.into_iter().flatten()
    }

    /// The gate that spoke last decided.
    fn rule(&self) -> &'static str {
        self.said().next_back().map_or("", |said| said.words().0)
    }

    fn message(&self) -> Cow<'static, str> {
        match self.outcome {
            Verdict::WaitingUser => self.detail(Said::Waits),
            Verdict::Succeeded | Verdict::Failed => "the run is complete".into(),
        }
    }

    fn detail(&self, said: Said) -> Cow<'static, str> {
        match said {
            Said::AttemptsLeft => format!("{ATTEMPT}{}{OF}{}", self.attempt.0, self.attempt.1).into(),
            Said::Waits => {
                let missing = self.said().find(|said| said.words().0 == "GATE-5").map_or("", |said| said.words().1);
                format!("the run waits for the user: {missing}").into()
            }
            said => said.words().1.into(),
        }
    }
}

impl Serialize for Brief {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Brief::Plain(plain) => plain.told().serialize(serializer),
            Brief::Full(decision) => decision.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Brief {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Brief, D::Error> {
        Decision::deserialize(deserializer).map(Brief::of)
    }
}

/// The gates' sentences: a name, the gate, and its words.
macro_rules! sentences {
    ($($name:ident $gate:literal $words:literal)+) => {
        /// What a gate says.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Said {
            $($name,)+
        }

        impl Said {
            const ALL: &[Said] = &[$(Said::$name),+];

            /// The gate and its words; empty where they depend on the run.
            const fn words(self) -> (&'static str, &'static str) {
                match self {
                    $(Said::$name => ($gate, $words),)+
                }
            }
        }
    };
}

sentences! {
    EndedWell "GATE-1" "the process ended well"
    AutoFits "GATE-2" "the output fits the schema"
    AutoUnchecked "GATE-2" "the process ended well and there is no schema to check"
    DoneAndFits "GATE-3" "the agent says it is done and the output fits the schema"
    DoneUnchecked "GATE-3" "the agent says it is done and there is no schema to check"
    DoneWithoutOutput "GATE-3" "the agent says it is done, but there is no valid output"
    NotStrong "GATE-3" "no done marker"
    NotStrongDeclined "GATE-3" "the agent says it is not done"
    NotBad "GATE-4" "no done marker"
    NotBadDeclined "GATE-4" "the agent says it is not done"
    SoftFits "GATE-5" "the output fits the schema"
    NoObject "GATE-5" "no done marker, and there is no output object"
    NotJson "GATE-5" "no done marker, and the output is not JSON that can be taken"
    NotFitting "GATE-5" "no done marker, and the output does not fit the schema"
    NoSchema "GATE-5" "no done marker, and there is an output, but no schema to check it with"
    SoftIsOff "GATE-5" "the output fits the schema, but soft completion is switched off"
    FitsButAsks "GATE-5" "the output fits the schema, but the same turn asks the user"
    FitsButDeclined "GATE-5" "the output fits the schema, but the agent says it is not done"
    FitsButNoObject "GATE-5" "the output fits the schema, but it is not an object"
    AttemptsUnlimited "GATE-6" "attempts are not limited"
    AttemptsLeft "GATE-6" ""
    LastAttemptFits "GATE-6" "no attempt is left and the output fits the schema"
    Waits "GATE-7" ""
    ArtifactsExist "GATE-8" "every required artifact exists"
}

impl Said {
    /// Whether a valid output was there, but the same turn asked or declined the marker.
    pub(super) fn holds_back(self) -> bool {
        matches!(self, Said::FitsButAsks | Said::FitsButDeclined)
    }

    /// Whether a valid output completes the run without the marker.
    fn is_soft(self) -> bool {
        matches!(self, Said::SoftFits | Said::LastAttemptFits)
    }

    fn read(check: &GateCheck) -> Option<Said> {
        let is_it = |said: &Said| said.words() == (&*check.gate, &*check.detail);
        Said::ALL.iter().copied().find(is_it).or(match &*check.gate {
            "GATE-6" => Some(Said::AttemptsLeft),
            "GATE-7" => Some(Said::Waits),
            _ => None,
        })
    }
}

fn number(text: &str) -> Option<u32> {
    text.parse::<u64>().ok()?.try_into().ok()
}

const REPAIRED: &str = "the output was found inside other text";
const UNMARKED: &str = "the output fits the schema, but the agent did not say it was done";
const ATTEMPT: &str = "attempt ";
const OF: &str = " of ";
/// The longest way through the gates: 1, 3, 4, 5, 6 and 7.
const MOST_SAID: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting() -> Plain {
        let mut plain = Plain { outcome: Verdict::WaitingUser, attempt: (2, 5), ..Plain::of(&Evidence::default()) };
        for said in [Said::EndedWell, Said::NotStrong, Said::NotBad, Said::NoObject, Said::AttemptsLeft, Said::Waits] {
            plain.say(said);
        }
        plain
    }

    #[test]
    fn what_is_told_is_read_back_as_it_was_kept() {
        let decision = waiting().told();
        let [.., attempts, last] = decision.checks.as_slice() else { panic!("every gate is told") };
        assert_eq!((&*attempts.detail, attempts.result), ("attempt 2 of 5", GateResult::Passed));
        assert_eq!((&*last.detail, last.result), (decision.message.as_str(), GateResult::Decided));
        assert_eq!(decision.rule, "GATE-7");
        assert_eq!(Brief::of(decision), Brief::Plain(waiting()));
    }

    #[test]
    fn warnings_are_read_back_too() {
        let mut plain =
            Plain { outcome: Verdict::Succeeded, source: Some(Source::Prose), ..Plain::of(&Evidence::default()) };
        plain.say(Said::SoftFits);
        let mut decision = plain.told();
        assert_eq!(decision.warnings.len(), 2);
        assert_eq!(Brief::of(decision.clone()), Brief::Plain(plain));
        decision.warnings.reverse();
        assert_eq!(Brief::of(decision.clone()), Brief::Full(decision.clone().into()));
        assert_eq!(Brief::of(decision.clone()).warnings(), decision.warnings);
    }

    #[test]
    fn a_decision_in_other_words_is_kept_as_it_is() {
        for (gate, detail) in [("GATE-6", "attempt 02 of 5"), ("GATE-7", "somebody is asked"), ("GATE-99", "")] {
            let mut decision = waiting().told();
            decision.checks.push(GateCheck { gate: gate.into(), result: GateResult::Passed, detail: detail.into() });
            assert_eq!(Brief::of(decision.clone()), Brief::Full(decision.clone().into()));
            assert_eq!(Brief::of(decision.clone()).told(), decision);
        }
    }
}
