//! What clients of a job API send: the body of each request, read once for every service (VIEW-7).

use crate::admission::{AdmissionError, Problem, found, read_request};
use crate::json::{self, Map, Value, json_text};
use crate::text;
use crate::types::codes::Code;
use crate::types::event::Event;
use crate::types::limits::Limits;
use crate::types::receipt::EventRejected;

/// A request for a new run, of a skill that the service has by name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Job {
    /// The skill's name, not looked up yet.
    pub skill: String,
    /// The run's id: the client's, or else the service's; admission checks it.
    pub run_id: String,
    /// The rest, as the JSON text of a [`RunRequest`](crate::RunRequest).
    pub request: String,
}

/// A request to a run that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Answer its question.
    Reply,
    /// End it.
    Cancel,
}

impl RequestKind {
    /// All of them.
    pub const ALL: [RequestKind; 2] = [RequestKind::Reply, RequestKind::Cancel];

    /// The name on the wire: that of its event.
    pub const fn as_str(self) -> &'static str {
        match self {
            RequestKind::Reply => "reply",
            RequestKind::Cancel => "cancel",
        }
    }
}

/// Reads the body of a request for a new run. `run_id` is for a client that has chosen none.
///
/// # Errors
/// [`AdmissionError`] if the body is not one JSON object, or names no skill, or gives an option twice. What the options say
/// is admission's business.
pub fn read_job(body: &str, run_id: &str) -> Result<Job, AdmissionError> {
    let mut members = read_request(body).map_err(|problem| AdmissionError::of(vec![*problem]))?;
    let mut problems = Vec::new();
    let skill = match members.shift_remove("skill").unwrap_or_default() {
        Value::String(name) => name,
        other => wrong(&mut problems, "request/skill", "the name of a skill", &other),
    };
    let options = match members.shift_remove("runtime_options") {
        None => Map::new(),
        Some(Value::Object(options)) => options,
        Some(other) => wrong(&mut problems, "request/runtime_options", "an object", &other),
    };
    for (name, value) in options {
        if IDENTITY.contains(&name.as_str()) {
            problems.push(misplaced(Code::OptionUnknown, &name, "it belongs beside the runtime options"));
        } else if members.contains_key(&name) {
            problems.push(misplaced(Code::OptionInvalid, &name, "the option stands beside the runtime options too"));
        } else {
            members.insert(name, value);
        }
    }
    if !problems.is_empty() {
        return Err(AdmissionError::of(problems));
    }
    // A run id that is no text is told by admission, from the request.
    let run_id = match members.get("run_id") {
        None => {
            members.insert("run_id".to_owned(), Value::String(run_id.to_owned()));
            run_id.to_owned()
        }
        Some(chosen) => chosen.as_str().unwrap_or_default().to_owned(),
    };
    Ok(Job { skill, run_id, request: json_text(&members) })
}

/// Reads the body of a request to a run as the event that it stands for. An empty body of a cancel gives no reason.
///
/// # Errors
/// [`EventRejected`] with `EVENT_MALFORMED` if it is not such a request in the documented form.
pub fn request_event(kind: RequestKind, body: &str) -> Result<Event, EventRejected> {
    let body = if kind == RequestKind::Cancel && body.trim().is_empty() { "{}" } else { body };
    let value = json::parse_value(body, 2 * Limits::MAX_JSON_DEPTH)
        .map_err(|fault| EventRejected::malformed(format!("the request cannot be read: {fault}")))?;
    let Value::Object(mut members) = value else {
        return Err(EventRejected::malformed(format!("the request must be an object, {}", found(&value))));
    };
    if members.contains_key("type") {
        return Err(EventRejected::malformed("the request has the unknown field `type`"));
    }
    members.insert("type".to_owned(), Value::String(kind.as_str().to_owned()));
    Event::from_value(Value::Object(members))
}

fn wrong<T: Default>(problems: &mut Vec<Problem>, place: &str, expected: &str, value: &Value) -> T {
    let message = format!("expected {expected}, {}", found(value));
    problems.push(Problem::new(Code::OptionInvalid, place, message));
    T::default()
}

fn misplaced(code: Code, option: &str, message: &str) -> Problem {
    Problem::new(code, format!("request/runtime_options/{}", text::pointer_step(option)), message)
}

/// What says which run it is and what it works on; everything else may be a runtime option.
const IDENTITY: [&str; 5] = ["run_id", "skill", "engine", "input", "parameter"];
