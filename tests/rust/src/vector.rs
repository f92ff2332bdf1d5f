//! What a vector is, and how it is carried out.

use crate::{laws, tamper};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use turnlatch::admission::{SchemaTexts, describe_skill};
use turnlatch::agents::{Sticky, decode_stream};
use turnlatch::hosting::{RequestKind, read_job, request_event, run_of_slot, unreadable_report};
use turnlatch::inspect::{Replayer, evaluate_turn};
use turnlatch::persist::replay;
use turnlatch::text::display_text;
use turnlatch::turn::{InstructionTemplate, append_instructions};
use turnlatch::types::{Stream, StreamFormat};
use turnlatch::{
    Code, Effect, Event, EventRejected, HostSettings, Journal, Limits, Mode, Plan, Run, RunRequest, Skill,
    StreamDecoder, Timestamp, Transition, admit,
};

/// A file of vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorFile {
    /// What these vectors are about.
    pub about: String,
    /// The vectors.
    pub vectors: Vec<Vector>,
}

/// One scenario of the spec as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// What it shows, in a sentence.
    pub name: String,
    /// The ids of the rules and source scenarios it covers.
    pub covers: Vec<String>,
    /// The skill, the request and the host; what is left out takes the default.
    #[serde(default)]
    pub given: Map<String, Value>,
    /// What admission says: `{"warnings": [...]}` or `{"refused": {...}}`.
    #[serde(default)]
    pub admission: Value,
    /// What happens, and what comes of it (`then`).
    #[serde(default)]
    pub steps: Vec<Map<String, Value>>,
}

/// Carries out a vector and returns it with every expectation as the core answers it.
#[must_use]
pub fn execute(vector: &Vector) -> Vector {
    let mut filled = vector.clone();
    match admission(&vector.given) {
        Err(refusal) => {
            filled.admission = json!({ "refused": refusal });
            assert!(vector.steps.is_empty(), "{}: nothing can follow a refusal", vector.name);
        }
        Ok(plan) => {
            filled.admission = json!({ "warnings": plan.warnings });
            let mut stage = Stage::new(plan);
            for step in &mut filled.steps {
                let then = stage.carry_out(&expand_map(step), &vector.name);
                step.insert("then".to_owned(), then);
            }
            stage.check_laws(&vector.name);
        }
    }
    filled
}

/// Long texts are written short: `{"repeat": "ab", "times": 3}` is a string, and so is `{"concat": [...]}`.
#[must_use]
pub fn expand(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(expand).collect()),
        Value::Object(members) => match (members.get("repeat"), members.get("times"), members.get("concat")) {
            (Some(part), Some(times), None) if members.len() == 2 => {
                let times = usize::try_from(times.as_u64().expect("times is a number")).expect("times fits");
                Value::String(expand(part).as_str().expect("repeat is a string").repeat(times))
            }
            (None, None, Some(Value::Array(parts))) if members.len() == 1 => {
                Value::String(parts.iter().map(|part| expand(part).as_str().expect("a string").to_owned()).collect())
            }
            _ => Value::Object(expand_map(members)),
        },
        other => other.clone(),
    }
}

fn expand_map(members: &Map<String, Value>) -> Map<String, Value> {
    members.iter().map(|(key, value)| (key.clone(), expand(value))).collect()
}

pub(crate) fn admission(given: &Map<String, Value>) -> Result<std::sync::Arc<Plan>, Value> {
    let given = expand_map(given);
    let (skill, host) = skill_and_host(&given);
    let request = match given.get("request_text") {
        Some(text) => RunRequest::from_json(&as_text(text)),
        None => {
            let mut request = json!({"run_id": "r1", "engine": "codex", "execution_mode": "interactive"});
            for (key, value) in given.get("request").and_then(Value::as_object).into_iter().flatten() {
                request[key] = value.clone();
            }
            RunRequest::from_json(&request.to_string())
        }
    };
    admit(&skill, &request, &host).map_err(|refusal| {
        assert_eq!(refusal.http_status(), 400, "a refusal is the client's: {refusal:?}");
        json!(refusal)
    })
}

fn skill_and_host(given: &Map<String, Value>) -> (Skill, HostSettings) {
    for key in given.keys() {
        assert!(["skill", "request", "request_text", "engines", "limits"].contains(&key.as_str()), "unknown `{key}`");
    }
    let skill = given.get("skill").and_then(Value::as_object).cloned().unwrap_or_default();
    let text = |name: &str| skill.get(name).map(as_text);
    let texts = SchemaTexts {
        output_schema: match skill.get("output_schema") {
            None => Some(DEFAULT_OUTPUT_SCHEMA.to_owned()),
            Some(Value::Null) => None,
            Some(schema) => Some(as_text(schema)),
        },
        input_schema: text("input_schema"),
        parameter_schema: text("parameter_schema"),
    };
    let engines = given.get("engines").cloned().unwrap_or_else(|| json!(["codex", "claude", "gemini", "opencode"]));
    let host = HostSettings {
        engines: serde_json::from_value(engines).expect("engines are strings"),
        limits: given
            .get("limits")
            .map_or_else(Limits::default, |limits| serde_json::from_value(limits.clone()).expect("limits are known")),
    };
    let runner = text("runner").unwrap_or_else(|| DEFAULT_RUNNER.to_owned());
    (Skill::from_json(&runner, &host.limits).schema_texts(texts), host)
}

/// A decoder takes chunks: a text, a list of bytes, a prompt to write, or the end of a turn.
fn feed(argument: &Value) -> Value {
    let text = |name: &str| argument[name].as_str().map(str::to_owned);
    let limit = argument["limit"].as_u64().map_or(usize::MAX, |limit| usize::try_from(limit).expect("a size"));
    let made = StreamFormat::from_name(argument["format"].as_str().expect("a name")).and_then(|format| {
        match text("work_folder") {
            Some(work_folder) => StreamDecoder::sticky(format, limit, Sticky::new(text("end_of_turn"), work_folder)),
            None => Ok(StreamDecoder::new(format, limit)),
        }
    });
    let mut decoder = match made {
        Ok(decoder) => decoder,
        Err(rejected) => return json!({ "rejected": rejected }),
    };
    let chunks = argument["chunks"].as_array().expect("chunks").iter();
    let answers = chunks.map(|chunk| match chunk {
        Value::String(text) => json!(decoder.feed(text.as_bytes())),
        Value::Array(_) => {
            let bytes: Vec<u8> = serde_json::from_value(chunk.clone()).expect("bytes");
            json!(decoder.feed(&bytes))
        }
        other => match other["prompt"].as_str() {
            Some(words) => json!(decoder.prompt(words)),
            None => {
                let stderr = other["finish"]["stderr"].as_str().unwrap_or_default();
                json!(decoder.finish(stderr, other["finish"]["exit_code"].as_i64()))
            }
        },
    });
    answers.collect()
}

/// A string is given as it is; any other value as its JSON text.
fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// One run on its way through a vector, with its journals.
pub(crate) struct Stage {
    plan: std::sync::Arc<Plan>,
    run: Run,
    full: Journal,
    /// The lines of the full one, each chained by itself.
    lines: Vec<String>,
    compact: Journal,
    effects: Vec<Vec<Effect>>,
    /// What was observed of the last event.
    observed: Value,
}

impl Stage {
    /// A run that is created at time 0.
    pub(crate) fn new(plan: std::sync::Arc<Plan>) -> Stage {
        Stage::created(plan, Timestamp::default())
    }

    pub(crate) fn created(plan: std::sync::Arc<Plan>, at: Timestamp) -> Stage {
        let (run, created) = Run::create(plan.clone(), at);
        let mut full = Journal::new(&plan);
        let mut compact = Journal::new(&plan);
        let entry = created.entry.expect("a creation is always recorded");
        let lines = vec![entry.encode_chained(&plan.run_id, None).expect("a first line")];
        full.push(entry.clone());
        compact.push(entry.compact());
        let effects = vec![created.effects];
        let observed = created.observation.expect("a creation is always observed");
        laws::assert_observation(&plan, &observed);
        let observed = json!(observed);
        Stage { plan, run, full, lines, compact, effects, observed }
    }

    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    pub(crate) fn carry_out(&mut self, step: &Map<String, Value>, name: &str) -> Value {
        let kind = step.keys().find(|key| !["at", "then", "edit", "entries", "resign"].contains(&key.as_str()));
        let argument = kind.and_then(|kind| step.get(kind)).unwrap_or(&Value::Null);
        match kind.map(String::as_str) {
            Some("create") => self.create(step),
            Some("event") => self.event(&argument.to_string(), step),
            Some("event_text") => self.event(argument.as_str().expect("a text"), step),
            Some("query") => self.query(argument),
            Some("turn") => self.turn(argument),
            Some("stream") => self.stream(argument),
            Some("feed") => feed(argument),
            Some("patch") => self.patch(argument),
            Some("reload") => self.reload(argument),
            Some("load") => self.load(argument, step),
            Some("display") => json!(display_text(argument.as_str().expect("a text"))),
            other => panic!("{name}: unknown step {other:?}"),
        }
    }

    /// The run is made at time 0 unless the first step says otherwise.
    fn create(&mut self, step: &Map<String, Value>) -> Value {
        assert!(self.full.len() == 1, "a run is created once, first");
        *self = Stage::created(self.plan.clone(), at(step).expect("a time"));
        json!({"effects": self.effects[0], "status": self.run.status()})
    }

    fn event(&mut self, text: &str, step: &Map<String, Value>) -> Value {
        let result = at(step).and_then(|at| Event::from_json(text).and_then(|event| self.apply(event, at)));
        match result {
            Ok(applied) => {
                self.observed = json!(applied.observation);
                let mut then = json!({"effects": applied.effects, "status": self.run.status()});
                if let Some(receipt) = applied.receipt {
                    then["receipt"] = json!(receipt);
                }
                then
            }
            Err(rejected) => {
                let event: Value = serde_json::from_str(text).unwrap_or_default();
                let name = event["type"].as_str().unwrap_or_default();
                let observed = self.run.observe_rejected(name, rejected.code(), at(step).unwrap_or_default());
                laws::assert_observation(&self.plan, &observed);
                self.observed = json!(observed);
                json!({ "rejected": rejected })
            }
        }
    }

    /// Applies an event, holds the step against the laws and writes it down.
    pub(crate) fn apply(&mut self, event: Event, at: Timestamp) -> Result<Transition, EventRejected> {
        let before = self.run.clone();
        let result = self.run.apply(event, at);
        laws::assert_step(&before, &result, &self.run);
        laws::assert_state(&self.run);
        if let Ok(applied) = &result
            && let Some(entry) = &applied.entry
        {
            let line = entry.encode_chained(&self.plan.run_id, self.lines.last().map(String::as_str));
            self.lines.push(line.expect("our own line"));
            self.full.push(entry.clone());
            self.compact.push(entry.clone().compact());
            self.effects.push(applied.effects.clone());
        }
        result
    }

    fn query(&self, query: &Value) -> Value {
        match query.as_str() {
            Some("status_view") => json!(self.run.status_view()),
            Some("pending_view") => json!(self.run.pending_view()),
            Some("history") => json!(self.run.history()),
            Some("outstanding") => json!(self.run.outstanding()),
            Some("explain") => json!(self.run.explain()),
            Some("snapshot_digest") => {
                let snapshot: Value = serde_json::from_str(&self.run.snapshot()).expect("a snapshot is JSON");
                snapshot["digest"].clone()
            }
            Some("timeline") => self.timeline(),
            Some("observed") => self.observed.clone(),
            Some("codes") => Code::ALL.iter().map(|code| json!(code.info())).collect(),
            _ => self.question(query.as_object().expect("a query with an argument")),
        }
    }

    fn question(&self, query: &Map<String, Value>) -> Value {
        let (name, argument) = query.iter().next().expect("a query");
        let effect = || Effect::from_value(argument["effect"].clone()).expect("an effect");
        match name.as_str() {
            "why_not" => json!(self.run.why_not(serde_json::from_value(argument.clone()).expect("a status"))),
            "allowed" => json!(self.run.allowed(serde_json::from_value(argument.clone()).expect("a time"))),
            "due" => {
                let failed = argument["failed"].as_array().into_iter().flatten().cloned();
                let failed: Vec<Effect> = failed.map(|failed| Effect::from_value(failed).expect("an effect")).collect();
                json!(self.run.due(&effect(), &failed))
            }
            "given_up" => json!(self.run.given_up(&effect(), argument["begun"].as_bool().expect("a boolean"))),
            "after_restart" => {
                json!(self.run.after_restart(serde_json::from_value(argument.clone()).expect("what was found")))
            }
            "run_of_slot" => json!(run_of_slot(argument.as_str().expect("a slot's id"))),
            "follow" => match Replayer::from(self.run.clone()).next(argument.as_str().expect("a line")) {
                Ok(step) => json!(step),
                Err(error) => json!({ "load_error": error }),
            },
            "describe_skill" => {
                let (skill, host) = skill_and_host(&expand_map(argument.as_object().expect("a skill")));
                json!(describe_skill(&skill, &host))
            }
            "read_job" => {
                let text = |name: &str| argument[name].as_str().expect("a text");
                match read_job(text("body"), text("run_id")) {
                    Ok(job) => json!({"skill": job.skill, "run_id": job.run_id, "request": job.request}),
                    Err(refusal) => json!({ "refused": refusal }),
                }
            }
            "request_event" => {
                let kind = RequestKind::ALL.into_iter().find(|kind| argument["kind"] == kind.as_str());
                match request_event(kind.expect("a kind"), argument["body"].as_str().expect("a text")) {
                    Ok(event) => json!(event),
                    Err(rejected) => json!({ "rejected": rejected }),
                }
            }
            "unreadable_report" => {
                let attempt_number = serde_json::from_value(argument["attempt_number"].clone()).expect("an attempt");
                json!(unreadable_report(attempt_number, argument["slot_id"].as_str().expect("a slot's id")))
            }
            _ => panic!("unknown query {name}"),
        }
    }

    /// The journal followed line by line. Both kinds of it tell the same and lead to this run.
    fn timeline(&self) -> Value {
        let mut told = [&self.full, &self.compact].map(|journal| {
            let lines = journal.lines();
            let mut replayer = Replayer::new(self.plan.clone());
            let steps: Vec<_> = lines.iter().map(|line| json!(replayer.next(line).expect("our own line"))).collect();
            assert_eq!(replayer.run(), Some(&self.run), "a replayed journal leads to the run");
            steps
        });
        assert_eq!(told[0], told[1], "a compact journal tells the same");
        told[0].drain(..).collect()
    }

    /// The gate alone; the attempt is 1 unless the report says otherwise.
    fn turn(&self, report: &Value) -> Value {
        let mut event = json!({"type": "turn_finished", "attempt_number": 1});
        for (key, value) in report.as_object().expect("a report") {
            event[key] = value.clone();
        }
        match Event::from_json(&event.to_string()) {
            Ok(Event::TurnFinished(report)) => json!(evaluate_turn(&self.plan, &report).explain()),
            Ok(_) => panic!("a report is a turn"),
            Err(rejected) => json!({ "rejected": rejected }),
        }
    }

    /// What a stream says, and what the gates make of it. However it is cut, it says the same.
    fn stream(&self, argument: &Value) -> Value {
        let stream = match Stream::from_value(argument.clone()) {
            Ok(stream) => stream,
            Err(rejected) => return json!({ "rejected": rejected }),
        };
        let decoded = decode_stream(&stream);
        for size in [1, 7, 4096] {
            let mut decoder = StreamDecoder::new(stream.format, usize::MAX);
            for bytes in stream.stdout.as_bytes().chunks(size) {
                decoder.feed(bytes);
            }
            if stream.exit_code.is_some() {
                let cut = decoder.finish(stream.stderr.as_deref().unwrap_or_default(), stream.exit_code);
                assert_eq!(cut, decoded, "cut into pieces of {size} bytes");
            }
        }
        json!({"decoded": decoded, "judged": self.turn(&json!({"stream": argument}))})
    }

    fn patch(&self, argument: &Value) -> Value {
        let mode: Mode = serde_json::from_value(argument["mode"].clone()).expect("a mode");
        let skill = argument["skill"].as_str().expect("a text");
        let patched = |text: &str| append_instructions(text, mode, Some(&self.plan), &InstructionTemplate::default());
        let once = patched(skill);
        assert_eq!(patched(&once), once, "patching twice equals once");
        json!(once)
    }

    /// Goes on with a run that was read back, from its snapshot or by a replay.
    fn reload(&mut self, from: &Value) -> Value {
        let before = self.run.snapshot();
        self.run = match from.as_str() {
            Some("snapshot") => Run::restore(&before).expect("our own snapshot"),
            Some("journal") => replay(self.plan.clone(), &self.full).expect("our own journal").run,
            Some("compact_journal") => replay(self.plan.clone(), &self.compact).expect("our own journal").run,
            Some("record") => {
                let (plan, journal) = Journal::import_run(&self.full.export_run(&self.plan)).expect("our own record");
                replay(plan, &journal).expect("our own record").run
            }
            _ => panic!("unknown source {from}"),
        };
        assert_eq!(self.run.snapshot(), before, "what was read back is what was written");
        json!({"status": self.run.status()})
    }

    /// Reads a document somebody has tampered with.
    fn load(&self, of: &Value, step: &Map<String, Value>) -> Value {
        let mut text = match of.as_str() {
            Some("snapshot") => self.run.snapshot(),
            Some("journal") => self.full.to_json(),
            Some("compact_journal") => self.compact.to_json(),
            Some("record") => self.full.export_run(&self.plan),
            _ => as_text(&of["text"]),
        };
        let snapshot = of == "snapshot" || of["as"] == "snapshot";
        if let Some(Value::Array(order)) = step.get("entries") {
            text = tamper::reorder(&text, order);
        }
        for edit in step.get("edit").and_then(Value::as_array).into_iter().flatten() {
            text = tamper::edit(&text, edit);
        }
        if step.get("resign") == Some(&Value::Bool(true)) {
            text = if snapshot { tamper::resign_snapshot(&text) } else { tamper::resign_journal(&text) };
        }
        let loaded = if snapshot {
            Run::restore(&text)
        } else if of == "record" || of["as"] == "record" {
            Journal::import_run(&text).and_then(|(plan, journal)| replay(plan, &journal)).map(|replayed| replayed.run)
        } else {
            Journal::from_json(&text)
                .and_then(|journal| replay(self.plan.clone(), &journal))
                .map(|replayed| replayed.run)
        };
        match loaded {
            Ok(run) => json!({"loaded": run.status(), "same": run.snapshot() == self.run.snapshot()}),
            Err(error) => json!({ "load_error": error }),
        }
    }

    /// What holds for every run, whatever the vector is about.
    pub(crate) fn check_laws(&self, name: &str) {
        let snapshot = self.run.snapshot();
        let restored = Run::restore(&snapshot).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(restored.snapshot(), snapshot, "{name}: a snapshot is canonical");
        assert_eq!(self.lines, self.full.lines(), "{name}: entries chained one by one are the journal's");
        for (form, journal) in [("full", &self.full), ("compact", &self.compact)] {
            let read = Journal::from_json(&journal.to_json()).unwrap_or_else(|error| panic!("{name}: {form}: {error}"));
            let lines = journal.lines();
            let by_lines = Journal::from_lines(&self.plan.run_id, lines.iter().map(String::as_str));
            assert_eq!(by_lines.as_ref(), Ok(journal), "{name}: the {form} journal is its lines");
            let replayed = replay(self.plan.clone(), &read).unwrap_or_else(|error| panic!("{name}: {form}: {error}"));
            assert_eq!(replayed.run.snapshot(), snapshot, "{name}: the {form} journal replays to the same snapshot");
            assert_eq!(replayed.effects, self.effects, "{name}: the {form} journal replays the effects");
        }
        no_reserved_keys(&serde_json::from_str(&snapshot).expect("a snapshot is JSON"), name);
    }
}

fn at(step: &Map<String, Value>) -> Result<Timestamp, EventRejected> {
    Timestamp::from_json(step.get("at").unwrap_or(&json!(0)))
}

/// HOST-3: no key of a snapshot starts with `$` or `_`.
fn no_reserved_keys(value: &Value, name: &str) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                assert!(!key.starts_with(['$', '_']), "{name}: the snapshot has the key {key}");
                no_reserved_keys(value, name);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| no_reserved_keys(item, name)),
        _ => {}
    }
}

const DEFAULT_RUNNER: &str = r#"{"execution_modes": ["auto", "interactive"]}"#;
const DEFAULT_OUTPUT_SCHEMA: &str = r#"{"type":"object","required":["answer"],"properties":{"answer":{"type":"integer"}},"additionalProperties":false}"#;
