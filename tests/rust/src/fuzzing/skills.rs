//! What a skill's package and a client may send: admitted with a plan that holds, or refused with every problem told safely.

use serde_json::Value;
use turnlatch::admission::{SchemaTexts, describe_skill};
use turnlatch::json::parse_json;
use turnlatch::schema::{Check, OutputSchema};
use turnlatch::{HostSettings, Limits, Mode, Problem, Run, RunRequest, Skill, Timestamp, admit};

use super::{PART, assert_safe, choices, joined, text, vector_steps};
use crate::laws;

/// Holds a skill against the laws. A byte says which texts are there: the manifest, the output schema, the input schema,
/// the request and a value to check.
///
/// # Panics
/// If a law does not hold.
pub fn check(bytes: &[u8]) {
    let ([given], texts) = choices::<1>(bytes);
    let mut texts = texts.split(|byte| *byte == PART).map(text);
    let mut next = |bit: u8| texts.next().filter(|_| given & bit == 0).map(str::to_owned);
    let (runner, output_schema, input_schema) = (next(1), next(2), next(4));
    let (request, instance) = (next(8), next(16).and_then(|text| parse_json(&text)).unwrap_or_default());
    let texts = SchemaTexts { output_schema, input_schema, parameter_schema: None };
    let runner = runner.as_deref().unwrap_or(r#"{"execution_modes": ["auto", "interactive"]}"#);
    let skill = Skill::from_json(runner, &Limits::DEFAULT).schema_texts(texts.clone());
    let request = request.as_deref().unwrap_or(r#"{"run_id":"r1","engine":"codex","execution_mode":"interactive"}"#);
    assert_admission(&skill, &RunRequest::from_json(request));
    for schema in texts.output_schema.iter().chain(&texts.input_schema) {
        assert_schema(schema, &instance);
    }
}

/// The skills of the vectors, their requests, and what their agents put out.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let as_text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut seeds = Vec::new();
    for (given, step) in vector_steps() {
        let given = crate::expand(&Value::Object(given));
        let skill = &given["skill"];
        let parts = [&skill["runner"], &skill["output_schema"], &skill["input_schema"], &given["request"]];
        let missing =
            parts.iter().enumerate().filter(|(_, part)| part.is_null()).fold(0, |bits, (bit, _)| bits | 1 << bit);
        let output =
            [&step["turn"], &step["event"]].into_iter().find_map(|turn| turn.get("text").or(turn.get("output")));
        let request = Some(parts[3]).filter(|request| request.is_object()).cloned().map(|mut request| {
            for (key, value) in [("run_id", "r1"), ("engine", "codex"), ("execution_mode", "interactive")] {
                request.as_object_mut().map(|request| request.entry(key).or_insert(value.into()));
            }
            request
        });
        let request = request.as_ref().unwrap_or(parts[3]);
        let parts = [parts[0], parts[1], parts[2], request, output.unwrap_or(&Value::Null)].map(as_text);
        seeds.push(joined(&[missing], parts.iter().map(String::as_str)));
    }
    seeds
}

fn assert_admission(skill: &Skill, request: &RunRequest) {
    let host = HostSettings::with_engines(["codex", "claude"]);
    let admitted = admit(skill, request, &host);
    assert_eq!(admit(skill, request, &host), admitted, "the same answer to the same question");
    let described = describe_skill(skill, &host);
    described.problems.iter().for_each(assert_problem);
    match admitted {
        Err(refusal) => {
            let first = refusal.problems.first().expect("a refusal has a reason");
            assert_eq!((refusal.code, &refusal.message), (first.code, &first.message), "the first gives its code");
            refusal.problems.iter().for_each(assert_problem);
            for problem in &described.problems {
                assert!(refusal.problems.contains(problem), "what refuses all requests refuses this one: {problem:?}");
            }
        }
        Ok(plan) => {
            assert_eq!(described.problems, [], "a skill with a problem is never admitted");
            assert!(described.execution_modes.contains(&plan.execution_mode), "the mode is declared");
            assert!(described.engines.contains(&plan.engine) && host.engines.contains(&plan.engine));
            assert_ne!(plan.max_attempt, Some(0));
            assert!(plan.max_attempt.is_none() || plan.execution_mode == Mode::Interactive);
            assert!(plan.session_timeout_sec > 0);
            plan.warnings.iter().for_each(|note| assert_safe(&note.message));
            let (run, _) = Run::create(plan, Timestamp::default());
            laws::assert_state(&run);
            let restored = Run::restore(&run.snapshot());
            assert_eq!(restored.as_ref(), Ok(&run), "an admitted run can be stored");
        }
    }
}

fn assert_problem(problem: &Problem) {
    let place = problem.path.split('/').next().unwrap_or_default();
    let known = ["request", "runner", "output_schema", "input_schema", "parameter_schema", "limits"];
    assert!(known.contains(&place), "{problem:?}");
    assert!(!problem.message.is_empty(), "{problem:?}");
    assert_safe(&problem.message);
    assert_safe(&problem.path);
}

/// A schema's verdict has reasons, and is that of the same schema compiled again.
fn assert_schema(schema: &str, instance: &Value) {
    match OutputSchema::compile(schema, &Limits::default()) {
        Err(problems) => {
            assert!(!problems.is_empty(), "a refusal has a reason");
            problems.iter().for_each(|problem| assert_safe(&problem.message));
        }
        Ok(compiled) => {
            let check = compiled.check(instance);
            if let Check::Invalid(violations) = &check {
                assert!((1..=20).contains(&violations.len()), "{violations:?}");
                violations.iter().for_each(|violation| assert_safe(&violation.message));
            }
            assert_ne!(check, Check::NoValidator, "there is an engine");
            // White space makes another text of it, which is not found among the schemas in use.
            let again = OutputSchema::compile(&format!("{schema} "), &Limits::default()).expect("the same schema");
            assert_eq!(again.check(instance), check, "the same schema decides the same");
        }
    }
}
