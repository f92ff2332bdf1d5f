//! Skills and requests made in Rust are checked as those of JSON text are.

use serde_json::{Value, json};
use turnlatch::admission::{SchemaTexts, describe_skill};
use turnlatch::schema::OutputSchema;
use turnlatch::types::{InterruptedTurn, SoftCompletion};
use turnlatch::{AdmissionError, Code, HostSettings, Limits, Mode, Plan, Profile, RunRequest, Skill, admit};

fn host() -> HostSettings {
    HostSettings::with_engines(["codex", "claude"])
}

fn skill() -> Skill {
    Skill::new()
        .modes([Mode::Auto, Mode::Interactive])
        .engines(["codex", "claude"])
        .unsupported_engines(["claude"])
        .max_attempt(5)
        .required_artifacts(["out/report.md"])
        .output_schema(json!({"type": "object", "required": ["file"]}))
        .input_schema(json!({"type": "object", "required": ["topic"]}))
        .parameter_schema(json!({"type": "object"}))
}

fn request() -> RunRequest {
    RunRequest::new("r1", "codex")
        .mode(Mode::Interactive)
        .require_user_reply(false)
        .session_timeout_sec(600)
        .profile(Profile::StickyProcess)
        .soft_completion(SoftCompletion::Never)
        .interrupted_turn(InterruptedTurn::Retry)
        .input(json!({"topic": "cats"}))
        .parameter(json!({"depth": 2}))
}

/// What was made in Rust, as it comes back from its own JSON text.
fn through_text(skill: &Skill, request: &RunRequest) -> (Skill, RunRequest) {
    let text = |data: Value| data.to_string();
    let skill = Skill::from_json(&text(json!(skill)), &Limits::DEFAULT);
    (skill, RunRequest::from_json(&text(json!(request))))
}

/// Admits both forms of the same and expects one answer.
fn admitted(skill: &Skill, request: &RunRequest) -> Result<Value, AdmissionError> {
    let document = |plan: &Plan| serde_json::to_value(plan).expect("a plan's document");
    let typed = admit(skill, request, &host()).map(|plan| document(&plan));
    let (skill, request) = through_text(skill, request);
    assert_eq!(admit(&skill, &request, &host()).map(|plan| document(&plan)), typed);
    typed
}

fn places(error: &AdmissionError) -> Vec<(&str, Code)> {
    error.problems.iter().map(|problem| (problem.path.as_str(), problem.code)).collect()
}

#[test]
fn a_skill_a_request_and_settings_are_written_and_read_by_serde() {
    let text = serde_json::to_string(&skill()).expect("a skill's text");
    assert_eq!(serde_json::from_str::<Skill>(&text).expect("a skill"), skill());
    let text = serde_json::to_string(&request()).expect("a request's text");
    assert_eq!(serde_json::from_str::<RunRequest>(&text).expect("a request"), request());
    let text = serde_json::to_string(&host()).expect("the text of settings");
    assert_eq!(serde_json::from_str::<HostSettings>(&text).expect("settings"), host());
    assert_eq!(through_text(&skill(), &request()), (skill(), request()));
    assert_eq!(json!(Skill::new()), json!({}));
    assert_eq!(json!(RunRequest::new("r1", "codex")), json!({"run_id": "r1", "engine": "codex"}));
}

#[test]
fn both_forms_give_one_plan() {
    let plan = admitted(&skill(), &request()).expect("a plan");
    assert_eq!(plan["max_attempt"], 5);
    assert_eq!(plan["interactive_profile"], json!({"kind": "sticky_process"}));
    assert_eq!(plan["session_timeout_sec"], 600);
    assert_eq!(plan["output_schema"], r#"{"type":"object","required":["file"]}"#);
    let plan = admitted(&Skill::new(), &RunRequest::new("r1", " codex ")).expect("a plan");
    assert_eq!((&plan["engine"], &plan["session_timeout_sec"]), (&json!("codex"), &json!(1200)));
}

#[test]
fn both_forms_give_every_problem_with_its_path() {
    let skill = Skill::new()
        .modes([])
        .engines(["codex", "nobody"])
        .max_attempt(0)
        .required_artifacts(["../secret"])
        .output_schema(json!({"$ref": "https://example.org/schema"}));
    let request = RunRequest::new("a b", "").session_timeout_sec(0);
    let error = admitted(&skill, &request).expect_err("problems");
    assert_eq!(
        places(&error),
        [
            ("request/run_id", Code::RunIdInvalid),
            ("runner/execution_modes", Code::SkillManifestInvalid),
            ("runner/engines/1", Code::SkillManifestInvalid),
            ("runner/max_attempt", Code::SkillManifestInvalid),
            ("runner/required_artifacts/0", Code::SkillManifestInvalid),
            ("runner/output_schema/$ref", Code::SchemaRefForbidden),
            ("request/engine", Code::OptionInvalid),
            ("request/session_timeout_sec", Code::OptionInvalid),
        ]
    );
    let error = admitted(&self::skill(), &self::request().input(json!({}))).expect_err("an input without a topic");
    assert_eq!(places(&error), [("request/input", Code::InputInvalid)]);
}

#[test]
fn what_cannot_be_read_is_kept_and_reported() {
    let runner = json!({"name": "demo", "execution_modes": ["later"], "max_attempts": 3, "engines": null});
    let options = json!({"run_id": 7, "engine": "codex", "soft_completion": {"never": null}, "colour": 1});
    let skill = Skill::from_json(&runner.to_string(), &Limits::DEFAULT);
    let request = RunRequest::from_json(&options.to_string());
    assert_eq!((json!(skill), json!(request)), (runner, options));
    let error = admitted(&skill, &request).expect_err("problems");
    assert_eq!(
        places(&error),
        [
            ("request/run_id", Code::RunIdInvalid),
            ("runner/execution_modes/0", Code::SkillManifestInvalid),
            ("runner/engines", Code::SkillManifestInvalid),
            ("request/colour", Code::OptionUnknown),
            ("request/soft_completion", Code::OptionInvalid),
        ]
    );
    assert_eq!(describe_skill(&skill, &host()).warnings.len(), 1, "`max_attempts` is near a member's name");

    // What is set afterwards replaces what could not be read.
    let error = admit(&Skill::new(), &request.soft_completion(SoftCompletion::Always), &host()).expect_err("problems");
    assert_eq!(places(&error), [("request/run_id", Code::RunIdInvalid), ("request/colour", Code::OptionUnknown)]);
}

#[test]
fn texts_that_are_no_objects_are_reported_together() {
    let limits = Limits { manifest_bytes: 10, ..Limits::DEFAULT };
    for (runner, code) in [("{", Code::SkillManifestInvalid), ("{           }", Code::ManifestTooLarge)] {
        let texts = SchemaTexts { input_schema: Some("[]".to_owned()), ..SchemaTexts::default() };
        let skill = Skill::from_json(runner, &limits).schema_texts(texts);
        let error = admit(&skill, &RunRequest::from_json("[]"), &host()).expect_err("problems");
        assert_eq!(
            places(&error),
            [("request", Code::RequestMalformed), ("runner", code), ("input_schema", Code::SkillManifestInvalid),]
        );
    }
}

#[test]
fn a_schema_given_as_text_stays_that_text() {
    let with = |text: &str| {
        let texts = SchemaTexts { output_schema: Some(text.to_owned()), ..SchemaTexts::default() };
        admit(&Skill::new().schema_texts(texts), &RunRequest::new("r1", "codex"), &host())
    };
    let text = r#"{ "type" : "object" }"#;
    assert_eq!(with(text).expect("a plan").output_schema.as_ref().map(OutputSchema::text), Some(text));
    let error = with(r#"{"type": "object", "type": "object"}"#).expect_err("a member that stands twice");
    assert_eq!(places(&error), [("output_schema", Code::SkillManifestInvalid)]);
}

#[test]
fn a_plan_that_admission_cannot_have_made_is_not_read_back() {
    let plan = admit(&skill(), &request().input(json!({"topic": "x"})), &host()).expect("a plan");
    let document = serde_json::to_value(&*plan).expect("a plan's document");
    assert_eq!(Plan::from_json(&document.to_string()), Ok((*plan).clone()));
    for (member, value) in [
        ("run_id", json!("!")),
        ("engine", json!(" ")),
        ("session_timeout_sec", json!(0)),
        ("max_attempt", json!(0)),
        ("limits", json!({"json_depth": 0})),
    ] {
        let mut changed = document.clone();
        changed[member] = value;
        let error = Plan::from_json(&changed.to_string()).expect_err(member);
        assert_eq!((error.code(), error.place), ("SNAPSHOT_INVALID", format!("plan.{member}")));
    }
}
