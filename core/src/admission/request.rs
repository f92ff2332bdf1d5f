//! What a client asks for (ADM-1, ADM-4, ADM-5).

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{PlanSettings, Problem, found, is_run_id, read_object};
use crate::json::{self, Map, Value};
use crate::text;
use crate::types::codes::{Code, Note};
use crate::types::limits::Limits;
use crate::types::plan::{
    DEFAULT_SESSION_TIMEOUT_SEC, InterruptedTurn, MAX_SESSION_TIMEOUT_SEC, Mode, Profile, SoftCompletion,
};
use crate::types::strict::from_value;

/// What a client asks for: the run's id, the engine and the options of the run. What is absent has its default.
///
/// It is the JSON object that a client sends, and is checked by [`admit`](crate::admit), which reports every problem of it
/// and of the skill at once, with its path.
///
/// ```
/// use turnlatch::{Mode, RunRequest};
///
/// let request = RunRequest::new("r1", "codex").mode(Mode::Interactive).session_timeout_sec(600);
/// let text = r#"{"run_id":"r1","engine":"codex","execution_mode":"interactive","session_timeout_sec":600}"#;
/// assert_eq!(request, RunRequest::from_json(text));
/// assert_eq!(serde_json::to_string(&request)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunRequest {
    members: Map,
    /// Why a text could not be read.
    #[serde(skip)]
    fault: Option<Box<Problem>>,
}

impl RunRequest {
    /// A request for a run in mode `auto`.
    pub fn new(run_id: impl Into<String>, engine: impl Into<String>) -> RunRequest {
        RunRequest::default().with("run_id", run_id.into().into()).with("engine", engine.into().into())
    }

    /// Reads the text of a request. If it cannot be read, [`admit`](crate::admit) says why.
    pub fn from_json(text: &str) -> RunRequest {
        match read_request(text) {
            Ok(members) => RunRequest { members, fault: None },
            Err(problem) => RunRequest { fault: Some(problem), ..RunRequest::default() },
        }
    }

    /// Whether the run may ask.
    pub fn mode(self, mode: Mode) -> RunRequest {
        self.with("execution_mode", json!(mode))
    }

    /// Strict: only a reply continues an interactive run. True if not set.
    pub fn require_user_reply(self, strict: bool) -> RunRequest {
        self.with("interactive_require_user_reply", strict.into())
    }

    /// How long a wait lasts where it has a deadline. 20 minutes if not set.
    pub fn session_timeout_sec(self, seconds: u64) -> RunRequest {
        self.with("session_timeout_sec", seconds.into())
    }

    /// What happens to the agent's process while the run waits.
    pub fn profile(self, kind: Profile) -> RunRequest {
        self.with("interactive_profile", json!({ "kind": kind }))
    }

    /// When a valid output without a marker completes an interactive run.
    pub fn soft_completion(self, when: SoftCompletion) -> RunRequest {
        self.with("soft_completion", json!(when))
    }

    /// What happens to a turn whose process was lost.
    pub fn interrupted_turn(self, then: InterruptedTurn) -> RunRequest {
        self.with("interrupted_turn", json!(then))
    }

    /// What the skill works on, for its input schema.
    pub fn input(self, input: Value) -> RunRequest {
        self.with("input", input)
    }

    /// How it works, for its parameter schema.
    pub fn parameter(self, parameter: Value) -> RunRequest {
        self.with("parameter", parameter)
    }

    fn with(mut self, name: &str, value: Value) -> RunRequest {
        self.members.insert(name.to_owned(), value);
        self
    }
}

/// The members of a request.
pub(crate) fn read_request(text: &str) -> Result<Map, Box<Problem>> {
    read_object(text, Limits::MAX_JSON_DEPTH, Code::RequestMalformed, "request", "request")
}

/// A request as far as it could be read.
pub(super) struct Options {
    pub(super) run_id: String,
    /// `None` where there is a problem.
    pub(super) execution_mode: Option<Mode>,
    /// What the request says of the plan; the engine is empty where there is none.
    pub(super) settings: PlanSettings,
    pub(super) input: Option<Value>,
    pub(super) parameter: Option<Value>,
    /// Problems of single options: they come after those of the skill, which matter more.
    pub(super) settings_problems: Vec<Problem>,
}

impl Options {
    /// Nothing where the request is no object at all.
    pub(super) fn read(request: &RunRequest, problems: &mut Vec<Problem>) -> Option<Options> {
        if let Some(problem) = request.fault.as_deref() {
            problems.push(problem.clone());
            return None;
        }
        let members = &request.members;
        let mut reader = Reader { members, problems: Vec::new(), warnings: Vec::new() };
        reader.unknown_options();
        let (run_id, execution_mode) = (reader.run_id(problems), reader.execution_mode(problems));
        let settings = PlanSettings {
            engine: members.get("engine").and_then(Value::as_str).map(str::trim).unwrap_or_default().to_owned(),
            execution_mode: execution_mode.unwrap_or_default(),
            require_user_reply: reader.choice("interactive_require_user_reply", "true or false", true),
            session_timeout_sec: reader.session_timeout_sec(),
            profile: reader.profile(),
            soft_completion: reader.choice("soft_completion", "`unless_asking`, `always` or `never`", <_>::default()),
            interrupted_turn: reader.choice("interrupted_turn", "`fail` or `retry`", <_>::default()),
            warnings: reader.warnings,
            ..PlanSettings::default()
        };
        let (input, parameter) = (members.get("input").cloned(), members.get("parameter").cloned());
        Some(Options { run_id, execution_mode, settings, input, parameter, settings_problems: reader.problems })
    }
}

struct Reader<'a> {
    members: &'a Map,
    /// Those of single options.
    problems: Vec<Problem>,
    warnings: Vec<Note>,
}

impl Reader<'_> {
    fn run_id(&self, problems: &mut Vec<Problem>) -> String {
        let run_id = self.members.get("run_id").and_then(Value::as_str).unwrap_or_default();
        if !is_run_id(run_id) {
            let message = format!(
                "expected 1 to 128 of the characters A-Z a-z 0-9 . _ : - beginning with a letter or digit, {}",
                found(self.members.get("run_id").unwrap_or(&Value::Null))
            );
            problems.push(Problem::new(Code::RunIdInvalid, "request/run_id", message));
        }
        run_id.to_owned()
    }

    fn execution_mode(&self, problems: &mut Vec<Problem>) -> Option<Mode> {
        let Some(value) = self.members.get("execution_mode") else { return Some(Mode::default()) };
        let mode = from_value(value.clone()).ok();
        if mode.is_none() {
            let message = format!("expected `auto` or `interactive`, {}", found(value));
            problems.push(Problem::new(Code::ExecutionModeInvalid, "request/execution_mode", message));
        }
        mode
    }

    /// The new spelling wins; of the older ones the first that is there. All of them must make sense.
    fn session_timeout_sec(&mut self) -> u64 {
        let mut chosen = None;
        for name in TIMEOUT_SPELLINGS {
            let Some(value) = self.members.get(name) else { continue };
            if name != SESSION_TIMEOUT {
                let message = format!("`{name}` is an older spelling of `{SESSION_TIMEOUT}`");
                self.warnings.push(Note::new(Code::DeprecatedOption, message));
            }
            let seconds = json::whole_number(value).filter(|seconds| (1..=MAX_SESSION_TIMEOUT_SEC).contains(seconds));
            if seconds.is_none() {
                let expected = format!("a whole number of seconds from 1 to {MAX_SESSION_TIMEOUT_SEC}");
                self.invalid(name, &expected, value);
            }
            chosen = chosen.or(seconds);
        }
        chosen.unwrap_or(DEFAULT_SESSION_TIMEOUT_SEC)
    }

    fn profile(&mut self) -> Profile {
        let Some(value) = self.members.get("interactive_profile") else { return Profile::default() };
        let Value::Object(members) = value else {
            self.invalid("interactive_profile", "an object with `kind`", value);
            return Profile::default();
        };
        for name in members.keys().filter(|name| *name != "kind") {
            self.problems.push(unknown_option("request/interactive_profile", name, &["kind"]));
        }
        let kind = members.get("kind");
        self.read("interactive_profile/kind", kind, "`resumable` or `sticky_process`", Profile::default())
    }

    fn choice<T: DeserializeOwned>(&mut self, name: &str, expected: &str, default: T) -> T {
        self.read(name, self.members.get(name), expected, default)
    }

    fn read<T: DeserializeOwned>(&mut self, place: &str, given: Option<&Value>, expected: &str, default: T) -> T {
        let Some(value) = given else { return default };
        from_value(value.clone()).unwrap_or_else(|_| {
            self.invalid(place, expected, value);
            default
        })
    }

    fn unknown_options(&mut self) {
        for name in self.members.keys().filter(|name| !KNOWN_OPTIONS.contains(&name.as_str())) {
            self.problems.push(unknown_option("request", name, &KNOWN_OPTIONS));
        }
    }

    fn invalid(&mut self, option: &str, expected: &str, value: &Value) {
        let message = format!("expected {expected}, {}", found(value));
        self.problems.push(Problem::new(Code::OptionInvalid, format!("request/{option}"), message));
    }
}

fn unknown_option(parent: &str, name: &str, known: &[&str]) -> Problem {
    let hint = nearest(name, known).map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default();
    let message = format!("{} is not an option{hint}", text::quoted(name));
    Problem::new(Code::OptionUnknown, format!("{parent}/{}", text::pointer_step(name)), message)
}

/// The known name that is the fewest changes away, if it is near enough to be meant.
pub(super) fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    if name.len() > 64 {
        return None;
    }
    let near = |candidate: &&'k str| (distance(name, candidate), *candidate);
    known
        .iter()
        .map(near)
        .min()
        .filter(|(changes, _)| *changes <= 2.max(name.len() / 3))
        .map(|(_, candidate)| candidate)
}

/// How many characters must be put in, taken out or replaced to make one name of the other.
fn distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.chars().count()).collect();
    for (index, left) in left.chars().enumerate() {
        let mut corner = index;
        let mut beside = index + 1;
        for (cell, right) in row.iter_mut().skip(1).zip(right.chars()) {
            let above = *cell;
            let replaced = corner + usize::from(left != right);
            beside = replaced.min(above + 1).min(beside + 1);
            corner = above;
            *cell = beside;
        }
        if let Some(first) = row.first_mut() {
            *first = index + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

const SESSION_TIMEOUT: &str = "session_timeout_sec";
/// The current spelling, and the older ones in the order in which they are read.
const TIMEOUT_SPELLINGS: [&str; 4] =
    [SESSION_TIMEOUT, "interactive_wait_timeout_sec", "hard_wait_timeout_sec", "wait_timeout_sec"];
const KNOWN_OPTIONS: [&str; 13] = {
    let [a, b, c, d, e, f, g, h, i, j] = RUNTIME_OPTIONS;
    ["run_id", a, b, c, d, e, f, g, h, i, j, "input", "parameter"]
};
/// Options that cannot be meant otherwise where a manifest has them. `run_id`, `input` and `parameter` can.
pub(super) const RUNTIME_OPTIONS: [&str; 10] = [
    "engine",
    "execution_mode",
    "interactive_require_user_reply",
    "session_timeout_sec",
    "interactive_wait_timeout_sec",
    "hard_wait_timeout_sec",
    "wait_timeout_sec",
    "interactive_profile",
    "soft_completion",
    "interrupted_turn",
];

#[cfg(test)]
mod tests;
