//! The client's side: the request and its options (ADM-1, ADM-4, ADM-5).

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Problem, RunRequest, deprecated, is_run_id};
use crate::codes::{Code, Note};
use crate::json;
use crate::limits::Limits;
use crate::plan::{DEFAULT_SESSION_TIMEOUT_SEC, ExecutionMode, InterruptedTurn, Profile, SoftCompletion};
use crate::text;

/// A request as far as it could be read.
pub(super) struct Options {
    pub(super) run_id: String,
    /// Empty where a problem was told.
    pub(super) engine: String,
    /// `None` where a problem was told.
    pub(super) execution_mode: Option<ExecutionMode>,
    pub(super) require_user_reply: bool,
    pub(super) session_timeout_sec: u64,
    pub(super) profile: Profile,
    pub(super) soft_completion: SoftCompletion,
    pub(super) interrupted_turn: InterruptedTurn,
    pub(super) input: Option<Value>,
    pub(super) parameter: Option<Value>,
    pub(super) warnings: Vec<Note>,
    /// Problems of single options: told after those of the skill, which matter more.
    settings_problems: Vec<Problem>,
}

impl Options {
    pub(super) fn read(request: &RunRequest, problems: &mut Vec<Problem>) -> Options {
        let members = read_object(request, problems);
        let mut reader =
            Reader { members: &members, problems: Vec::new(), settings_problems: Vec::new(), warnings: Vec::new() };
        reader.unknown_options();
        let options = Options {
            run_id: reader.run_id(),
            engine: reader.engine(),
            execution_mode: reader.execution_mode(),
            require_user_reply: reader.require_user_reply(),
            session_timeout_sec: reader.session_timeout_sec(),
            profile: reader.profile(),
            soft_completion: reader.choice("soft_completion", "`unless_asking`, `always` or `never`"),
            interrupted_turn: reader.choice("interrupted_turn", "`fail` or `retry`"),
            input: members.get("input").cloned(),
            parameter: members.get("parameter").cloned(),
            warnings: std::mem::take(&mut reader.warnings),
            settings_problems: std::mem::take(&mut reader.settings_problems),
        };
        problems.append(&mut reader.problems);
        options
    }

    pub(super) fn check_settings(&self, problems: &mut Vec<Problem>) {
        problems.extend(self.settings_problems.iter().cloned());
    }
}

fn read_object(request: &RunRequest, problems: &mut Vec<Problem>) -> Map<String, Value> {
    match json::parse_value(&request.0, Limits::MAX_JSON_DEPTH) {
        Ok(Value::Object(members)) => return members,
        Ok(_) => problems.push(Problem::new(Code::RequestMalformed, "request", "expected a JSON object")),
        Err(fault) => {
            let message = format!("the request cannot be read: {fault}");
            problems.push(Problem::new(Code::RequestMalformed, "request", message));
        }
    }
    Map::new()
}

struct Reader<'a> {
    members: &'a Map<String, Value>,
    problems: Vec<Problem>,
    settings_problems: Vec<Problem>,
    warnings: Vec<Note>,
}

impl Reader<'_> {
    fn run_id(&mut self) -> String {
        let run_id = self.members.get("run_id").and_then(Value::as_str).unwrap_or_default();
        if !is_run_id(run_id) {
            let message = "expected 1 to 128 of the characters A-Z a-z 0-9 . _ : -";
            self.problems.push(Problem::new(Code::RunIdInvalid, "request/run_id", message));
        }
        run_id.to_owned()
    }

    fn engine(&mut self) -> String {
        let engine = self.members.get("engine").and_then(Value::as_str).map(str::trim).unwrap_or_default();
        if engine.is_empty() {
            self.invalid("engine", "expected the name of an engine");
        }
        engine.to_owned()
    }

    fn execution_mode(&mut self) -> Option<ExecutionMode> {
        let Some(value) = self.members.get("execution_mode") else { return Some(ExecutionMode::default()) };
        let mode = serde_json::from_value(value.clone()).ok();
        if mode.is_none() {
            let message = format!("expected `auto` or `interactive`, found {}", text::quoted(&value.to_string()));
            self.problems.push(Problem::new(Code::ExecutionModeInvalid, "request/execution_mode", message));
        }
        mode
    }

    fn require_user_reply(&mut self) -> bool {
        match self.members.get("interactive_require_user_reply") {
            None => true,
            Some(Value::Bool(strict)) => *strict,
            Some(_) => {
                self.invalid("interactive_require_user_reply", "expected true or false");
                true
            }
        }
    }

    /// The new spelling wins; of the older ones the first that is there.
    fn session_timeout_sec(&mut self) -> u64 {
        let mut spellings = vec!["session_timeout_sec"];
        for old in OLD_TIMEOUT_SPELLINGS.iter().filter(|old| self.members.contains_key(**old)) {
            self.warnings.push(deprecated(old, "session_timeout_sec"));
            spellings.push(old);
        }
        let Some((name, value)) = spellings.iter().find_map(|name| self.members.get(*name).map(|value| (*name, value)))
        else {
            return DEFAULT_SESSION_TIMEOUT_SEC;
        };
        let seconds = json::whole_number(value).filter(|seconds| (1..=MAX_SESSION_TIMEOUT_SEC).contains(seconds));
        seconds.unwrap_or_else(|| {
            self.invalid(name, format!("expected a whole number of seconds from 1 to {MAX_SESSION_TIMEOUT_SEC}"));
            DEFAULT_SESSION_TIMEOUT_SEC
        })
    }

    fn profile(&mut self) -> Profile {
        let Some(value) = self.members.get("interactive_profile") else { return Profile::default() };
        let Value::Object(members) = value else {
            self.invalid("interactive_profile", "expected an object with `kind`");
            return Profile::default();
        };
        for name in members.keys().filter(|name| *name != "kind") {
            let path = format!("interactive_profile/{name}");
            self.settings_problems.push(unknown_option(&path, name, &["kind"]));
        }
        match members.get("kind") {
            None => Profile::default(),
            Some(kind) => serde_json::from_value(kind.clone()).unwrap_or_else(|_| {
                self.invalid("interactive_profile/kind", "expected `resumable` or `sticky_process`");
                Profile::default()
            }),
        }
    }

    fn choice<T: DeserializeOwned + Default>(&mut self, name: &str, expected: &str) -> T {
        let Some(value) = self.members.get(name) else { return T::default() };
        serde_json::from_value(value.clone()).unwrap_or_else(|_| {
            self.invalid(name, format!("expected {expected}"));
            T::default()
        })
    }

    fn unknown_options(&mut self) {
        for name in self.members.keys().filter(|name| !KNOWN_OPTIONS.contains(&name.as_str())) {
            self.settings_problems.push(unknown_option(name, name, &KNOWN_OPTIONS));
        }
    }

    fn invalid(&mut self, option: &str, message: impl Into<String>) {
        self.settings_problems.push(Problem::new(Code::OptionInvalid, format!("request/{option}"), message));
    }
}

fn unknown_option(path: &str, name: &str, known: &[&str]) -> Problem {
    let hint = nearest(name, known).map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default();
    let message = format!("{} is not an option{hint}", text::quoted(name));
    Problem::new(Code::OptionUnknown, format!("request/{}", text::display_text(text::head(path, 200))), message)
}

/// The known name that is the fewest changes away, if it is near enough to be meant.
fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
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
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, left) in left.chars().enumerate() {
        let mut corner = index;
        let mut beside = index + 1;
        for (cell, right) in row.iter_mut().skip(1).zip(&right) {
            let above = *cell;
            let replaced = corner + usize::from(left != *right);
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

const OLD_TIMEOUT_SPELLINGS: [&str; 3] = ["interactive_wait_timeout_sec", "hard_wait_timeout_sec", "wait_timeout_sec"];
const KNOWN_OPTIONS: [&str; 13] = [
    "run_id",
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
    "input",
    "parameter",
];
/// What still fits into a time of 2^53 - 1 milliseconds.
const MAX_SESSION_TIMEOUT_SEC: u64 = 9_007_199_254_740;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_only_when_it_is_near() {
        assert_eq!(nearest("session_timeout", &KNOWN_OPTIONS), Some("session_timeout_sec"));
        assert_eq!(nearest("executionMode", &KNOWN_OPTIONS), Some("execution_mode"));
        assert_eq!(nearest("colour", &KNOWN_OPTIONS), None);
        assert_eq!(nearest(&"x".repeat(100), &KNOWN_OPTIONS), None);
        assert_eq!((distance("", "abc"), distance("kitten", "sitting"), distance("a", "a")), (3, 3, 0));
    }
}
