//! What a client asks for (ADM-1, ADM-4, ADM-5).

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Problem, found, is_run_id, members, read_object, setters, typed_members};
use crate::json::strict::from_value;
use crate::json::{self, Map, Value};
use crate::text;
use crate::types::codes::{Code, Note};
use crate::types::limits::Limits;
use crate::types::plan::{InterruptedTurn, MAX_SESSION_TIMEOUT_SEC, Mode, Profile, SoftCompletion};

/// What a client asks for: the run's id, the engine and the options of the run. What is absent has its default.
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunRequest {
    /// Members of a text that are no option, or whose value is invalid. They come first, so that the fields replace them.
    #[serde(flatten, skip_deserializing)]
    pub(super) unread: Map,
    /// Why a text could not be read at all.
    #[serde(skip)]
    fault: Option<Box<Problem>>,
    /// The run's id: 1 to 128 of the characters A-Z a-z 0-9 . _ : - beginning with a letter or digit.
    #[serde(deserialize_with = "run_id", skip_serializing_if = "String::is_empty")]
    pub run_id: String,
    /// The engine that runs the turns.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub engine: String,
    /// Whether the run may ask; auto if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_mode: Option<Mode>,
    /// Strict: only a reply continues an interactive run; true if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactive_require_user_reply: Option<bool>,
    /// How long a wait lasts where it has a deadline; 20 minutes if absent.
    #[serde(deserialize_with = "session_timeout", skip_serializing_if = "Option::is_none")]
    pub session_timeout_sec: Option<u64>,
    /// What happens to the agent's process while the run waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactive_profile: Option<InteractiveProfile>,
    /// When a valid output without a marker completes an interactive run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soft_completion: Option<SoftCompletion>,
    /// What happens to a turn whose process was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupted_turn: Option<InterruptedTurn>,
    /// What the skill works on, for its input schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// How it works, for its parameter schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<Value>,
}

/// The option `interactive_profile`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InteractiveProfile {
    /// What happens to the agent's process while the run waits.
    pub kind: Profile,
}

impl RunRequest {
    /// A request for a run in auto mode.
    #[must_use]
    pub fn new(run_id: impl Into<String>, engine: impl Into<String>) -> RunRequest {
        RunRequest { run_id: run_id.into(), engine: engine.into(), ..RunRequest::default() }
    }

    /// Reads the text of a request.
    ///
    /// What cannot be read is kept, so that [`admit`](crate::admit) reports every problem of the request and of the skill at
    /// once.
    #[must_use]
    pub fn from_json(text: &str) -> RunRequest {
        match read_request(text) {
            Ok(members) => RunRequest::read(members),
            Err(problem) => RunRequest { fault: Some(problem), ..RunRequest::default() },
        }
    }

    fn read(members: Map) -> RunRequest {
        let (request, unread) = typed_members(members);
        RunRequest { unread, ..request }
    }

    setters! {
        mode(mode: Mode) => execution_mode = mode;
        require_user_reply(strict: bool) => interactive_require_user_reply = strict;
        session_timeout_sec(seconds: u64) => session_timeout_sec = seconds;
        profile(kind: Profile) => interactive_profile = InteractiveProfile { kind };
        soft_completion(when: SoftCompletion) => soft_completion = when;
        interrupted_turn(then: InterruptedTurn) => interrupted_turn = then;
        input(input: Value) => input = input;
        parameter(parameter: Value) => parameter = parameter;
    }

    /// The request with its fields checked as those of a text are: what is invalid is in `unread`. None if it is no object.
    pub(super) fn checked(&self, problems: &mut Vec<Problem>) -> Option<RunRequest> {
        if let Some(problem) = self.fault.as_deref() {
            problems.push(problem.clone());
            return None;
        }
        let request = RunRequest::read(members(self));
        if request.run_id.is_empty() {
            let given = request.unread.get("run_id").unwrap_or(&Value::Null);
            problems.push(invalid(Code::RunIdInvalid, "run_id", RUN_ID, given));
        }
        if let Some(given) = request.unread.get("execution_mode") {
            problems.push(invalid(Code::ExecutionModeInvalid, "execution_mode", "`auto` or `interactive`", given));
        }
        Some(request)
    }

    /// What is wrong with single options of a checked request. These problems come after those of the skill, which matter more.
    pub(super) fn check_options(&self, problems: &mut Vec<Problem>) {
        for name in self.unread.keys().filter(|name| !options().any(|option| option == *name)) {
            problems.push(unknown_option("request", name, options()));
        }
        for (name, expected) in SETTINGS {
            match self.unread.get(*name) {
                Some(Value::Object(members)) if *name == "interactive_profile" => check_profile(members, problems),
                Some(given) if !(OLDER_TIMEOUTS.contains(name) && seconds(given).is_some()) => {
                    problems.push(invalid(Code::OptionInvalid, name, expected, given));
                }
                _ => {}
            }
        }
    }

    /// The new spelling wins; of the older ones the first that is there.
    pub(super) fn timeout(&self, warnings: &mut Vec<Note>) -> Option<u64> {
        let mut chosen = self.session_timeout_sec;
        for name in OLDER_TIMEOUTS {
            let Some(given) = self.unread.get(name) else { continue };
            let message = format!("`{name}` is an older spelling of `session_timeout_sec`");
            warnings.push(Note::new(Code::DeprecatedOption, message));
            chosen = chosen.or(seconds(given));
        }
        chosen
    }
}

/// The members of a request.
pub(crate) fn read_request(text: &str) -> Result<Map, Box<Problem>> {
    read_object(text, Limits::MAX_JSON_DEPTH, Code::RequestMalformed, "request", "request")
}

fn check_profile(members: &Map, problems: &mut Vec<Problem>) {
    for name in members.keys().filter(|name| *name != "kind") {
        problems.push(unknown_option("request/interactive_profile", name, ["kind"]));
    }
    if let Some(kind) = members.get("kind").filter(|kind| from_value::<Profile>((*kind).clone()).is_err()) {
        problems.push(invalid(
            Code::OptionInvalid,
            "interactive_profile/kind",
            "`resumable` or `sticky_process`",
            kind,
        ));
    }
}

fn invalid(code: Code, option: &str, expected: &str, given: &Value) -> Problem {
    Problem::new(code, format!("request/{option}"), format!("expected {expected}, {}", found(given)))
}

fn unknown_option<'k>(parent: &str, name: &str, known: impl IntoIterator<Item = &'k str>) -> Problem {
    let hint = nearest(name, known).map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default();
    let message = format!("{} is not an option{hint}", text::quoted(name));
    Problem::new(Code::OptionUnknown, format!("{parent}/{}", text::pointer_step(name)), message)
}

fn run_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let run_id = String::deserialize(deserializer)?;
    if is_run_id(&run_id) { Ok(run_id) } else { Err(D::Error::custom(format!("must be {RUN_ID}"))) }
}

fn session_timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let seconds = seconds(&Value::deserialize(deserializer)?);
    seconds.map(Some).ok_or_else(|| D::Error::custom(format!("must be {SECONDS}")))
}

fn seconds(value: &Value) -> Option<u64> {
    json::whole_number(value).filter(|seconds| (1..=MAX_SESSION_TIMEOUT_SEC).contains(seconds))
}

/// The known name that is the fewest changes away, if it is near enough to be meant.
pub(super) fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if name.len() > 64 {
        return None;
    }
    let near = |candidate: &'k str| (distance(name, candidate), candidate);
    known
        .into_iter()
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

/// The names of all options.
fn options() -> impl Iterator<Item = &'static str> {
    ["run_id", "input", "parameter"].into_iter().chain(runtime_options())
}

/// Options that cannot be meant otherwise where a manifest has them. `run_id`, `input` and `parameter` can.
pub(super) fn runtime_options() -> impl Iterator<Item = &'static str> {
    ["engine", "execution_mode"].into_iter().chain(SETTINGS.iter().map(|(name, _)| *name))
}

const RUN_ID: &str = "1 to 128 of the characters A-Z a-z 0-9 . _ : - beginning with a letter or digit";
/// Up to [`MAX_SESSION_TIMEOUT_SEC`].
const SECONDS: &str = "a whole number of seconds from 1 to 315360000";
/// Older spellings of `session_timeout_sec`, in the order in which they are read.
const OLDER_TIMEOUTS: [&str; 3] = ["interactive_wait_timeout_sec", "hard_wait_timeout_sec", "wait_timeout_sec"];
/// The options that are independent of the skill, and what each expects.
const SETTINGS: &[(&str, &str)] = &[
    ("interactive_require_user_reply", "true or false"),
    ("session_timeout_sec", SECONDS),
    ("interactive_wait_timeout_sec", SECONDS),
    ("hard_wait_timeout_sec", SECONDS),
    ("wait_timeout_sec", SECONDS),
    ("interactive_profile", "an object with `kind`"),
    ("soft_completion", "`unless_asking`, `always` or `never`"),
    ("interrupted_turn", "`fail` or `retry`"),
];

#[cfg(test)]
mod tests;
