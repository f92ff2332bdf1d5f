//! Wire types that the core reads member by member, because it reports every problem of them at once: here they are described
//! as the structs that they would be. They are never made.
#![expect(dead_code, reason = "only their schemas are looked at")]

use schemars::JsonSchema;
use serde_json::Value;
use turnlatch::types::{InterruptedTurn, Mode, Profile, SoftCompletion};

/// A skill's `runner.json`: which runs it may have, and what the core has to know about its results.
///
/// Other members are the skill's own business and are ignored.
#[derive(JsonSchema)]
pub(super) struct RunnerManifest {
    /// The modes it may run in; `auto` alone if absent.
    execution_modes: Option<Vec<Mode>>,
    /// The engines that may run it; all of the host's if absent.
    engines: Option<Vec<String>>,
    /// The engines that must not run it.
    unsupported_engines: Option<Vec<String>>,
    /// How many turns an interactive run may take; not limited if absent.
    #[schemars(range(min = 1))]
    max_attempt: Option<u32>,
    /// Paths in the run's folder that must exist for the run to succeed.
    required_artifacts: Option<Vec<String>>,
    /// Whether `format` in its schemas is asserted; true if absent.
    #[schemars(extend("default" = true))]
    assert_formats: Option<bool>,
    /// The JSON Schema of an output.
    output_schema: Option<Value>,
    /// The JSON Schema of a request's `input`.
    input_schema: Option<Value>,
    /// The JSON Schema of a request's `parameter`.
    parameter_schema: Option<Value>,
}

/// What happens to the agent's process while a run waits.
#[derive(JsonSchema)]
pub(super) struct InteractiveProfile {
    /// Whether it ends or stays alive.
    #[schemars(default)]
    kind: Profile,
}

/// How a run behaves; everything has a default.
#[derive(JsonSchema)]
pub(super) struct RuntimeOptions {
    /// Strict: only a reply of the user continues a waiting run. Otherwise the run decides for itself after
    /// `session_timeout_sec`.
    #[schemars(extend("default" = true))]
    interactive_require_user_reply: Option<bool>,
    /// How many seconds a wait lasts where it has a deadline.
    #[schemars(range(min = 1, max = 315_360_000), extend("default" = 1200))]
    session_timeout_sec: Option<u64>,
    /// What happens to the agent's process while the run waits; `resumable` if absent.
    interactive_profile: Option<InteractiveProfile>,
    /// When a valid output without a marker completes an interactive run.
    #[schemars(extend("default" = "unless_asking"))]
    soft_completion: Option<SoftCompletion>,
    /// What happens to a turn whose process was lost.
    #[schemars(extend("default" = "fail"))]
    interrupted_turn: Option<InterruptedTurn>,
}

/// A request for a run of a skill.
#[derive(JsonSchema)]
pub(super) struct RunRequest {
    /// The run's id: 1 to 128 of the characters `A-Z a-z 0-9 . _ : -`, the first a letter or digit.
    run_id: String,
    /// The engine that runs the turns, by the host's name of it.
    engine: String,
    /// Whether the user may be asked.
    #[schemars(extend("default" = "auto"))]
    execution_mode: Option<Mode>,
    /// What the skill works on; checked against its input schema.
    input: Option<Value>,
    /// How the skill works; checked against its parameter schema.
    parameter: Option<Value>,
    #[schemars(flatten)]
    options: RuntimeOptions,
}

/// The body of a request for a new run, which a job service takes.
#[derive(JsonSchema)]
pub(super) struct NewJob {
    /// The name of a skill that the service has.
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"))]
    skill: String,
    /// The engine that runs the turns.
    engine: String,
    /// Whether the user may be asked.
    #[schemars(extend("default" = "auto"))]
    execution_mode: Option<Mode>,
    /// What the skill works on; checked against its input schema.
    input: Option<Value>,
    /// How the skill works; checked against its parameter schema.
    parameter: Option<Value>,
    /// How the run behaves.
    runtime_options: Option<RuntimeOptions>,
    /// The run's id, if the client chooses it.
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$"))]
    run_id: Option<String>,
}

/// A client's request for a new run: the skill's name, the run's id, and the rest as text for `admit`.
#[derive(JsonSchema)]
pub(super) struct Job {
    /// The skill's name, not looked up yet.
    skill: String,
    /// The run's id: the client's, or else the service's.
    run_id: String,
    /// The JSON text of a `RunRequest`.
    request: String,
}

/// The body of a cancel, which a job service takes.
#[derive(JsonSchema)]
pub(super) struct CancelBody {
    /// Why, in their words.
    #[schemars(length(max = 4096))]
    reason: Option<String>,
}

/// What an agent said just now, in a turn that is under way.
#[derive(JsonSchema)]
pub(super) struct Said {
    /// The run's id.
    run_id: String,
    /// The turn that is under way.
    attempt_number: u32,
    /// What was said, in order.
    pieces: Vec<turnlatch::agents::Piece>,
}

/// A decision and what the run continues with.
#[derive(JsonSchema)]
pub(super) struct Evaluation {
    /// The decision.
    decision: Value,
    /// The result's JSON text, if the run succeeded with one.
    #[schemars(skip_serializing_if = "Option::is_none")]
    data_text: Option<String>,
    /// What to ask, if the run waits.
    #[schemars(skip_serializing_if = "Option::is_none")]
    question: Option<turnlatch::inspect::QuestionView>,
}
