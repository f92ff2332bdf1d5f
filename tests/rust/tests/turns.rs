//! Properties of what an agent's words mean, over random outputs. `PROPTEST_CASES` raises the number of cases.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use serde_json::{Value, json};
use turnlatch::inspect::evaluate_turn;
use turnlatch::types::{DONE_MARKER, Evaluation, Marker, Verdict};
use turnlatch::{Plan, TurnReport};
use turnlatch_tests::hostile::plans;

fn config() -> ProptestConfig {
    let cases = ProptestConfig::default().cases.max(1_000);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn value() -> impl Strategy<Value = Value> {
    let words = prop_oneof![".{0,12}", Just(format!("{{\"{DONE_MARKER}\": true, \"")), Just("```\n> \"".to_owned())];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i32>().prop_map(|number| Value::from(f64::from(number) / 64.0)),
        words.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![vec(inner.clone(), 0..4).prop_map(Value::from), vec(inner, 0..4).prop_map(object)]
    })
}

/// Members whose names mean nothing to the core.
fn object(values: Vec<Value>) -> Value {
    values.into_iter().enumerate().map(|(number, value)| (format!("k{number}"), value)).collect()
}

/// An output as an agent writes it, and where in it the marker's value ends.
fn output() -> impl Strategy<Value = (String, usize)> {
    (vec(value(), 0..3), vec(value(), 1..4), any::<bool>()).prop_map(|(before, behind, pretty)| {
        let written = |value: &Value| if pretty { format!("{value:#}") } else { value.to_string() };
        let mut members = json!({"a": before, DONE_MARKER: true, "z": behind});
        let whole = written(&members);
        members.as_object_mut().expect("an object").retain(|name, _| name == "a" || name == DONE_MARKER);
        // Without what follows the marker, and without the end of the object.
        let end = written(&members).trim_end_matches('}').trim_end().len();
        (whole, end)
    })
}

fn plan() -> &'static Arc<Plan> {
    let asks =
        plans().iter().find(|(setting, plan)| setting.interactive && setting.schema && plan.max_attempt.is_none());
    &asks.expect("a plan").1
}

fn judged(text: &str) -> Evaluation {
    evaluate_turn(plan(), &TurnReport::with_text(1, text))
}

fn cuts(text: &str) -> impl Iterator<Item = usize> {
    (0..text.len()).filter(|cut| text.is_char_boundary(*cut))
}

proptest! {
    #![proptest_config(config())]

    /// MARK-6: wherever the output is cut off, its marker counts from its end on.
    #[test]
    fn an_output_that_is_cut_off_behind_its_marker_fails_the_run((output, marker) in output()) {
        assert_eq!(judged(&output).decision.evidence.marker, Marker::Found, "{output}");
        for cut in cuts(&output) {
            let decision = judged(&format!("It is done.\n\n{}", &output[..cut])).decision;
            let expected = if cut < marker {
                (Verdict::WaitingUser, "GATE-7", None)
            } else {
                (Verdict::Failed, "GATE-4", Some("OUTPUT_UNPARSABLE"))
            };
            let rule = decision.rule.to_string();
            assert_eq!((decision.outcome, &*rule, decision.code()), expected, "{:?}", &output[..cut]);
        }
    }

    /// What quotes an unfinished output, or goes on behind it, never fails the run.
    #[test]
    fn an_output_that_is_cut_off_and_quoted_waits((output, marker) in output()) {
        for cut in cuts(&output).filter(|cut| *cut >= marker) {
            let unfinished = &output[..cut];
            let quoted = ["> ", "- ", "`", "\"", "\t", "    ", "Then: ", "> He wrote\n", "`\n", "Say \"\n", "[\n", "~~~\n", "```json\n"];
            let quotations = quoted.map(|before| format!("{before}{unfinished}"));
            let sentences = ["\n\nShall I go on?", "\n> and so on", "\n- and so on"].map(|behind| format!("{unfinished}{behind}"));
            for text in quotations.iter().chain(&sentences) {
                let decision = judged(text).decision;
                let found = (decision.outcome, decision.evidence.marker);
                assert_eq!(found, (Verdict::WaitingUser, Marker::Absent), "{text:?}");
            }
        }
    }
}
