//! What is asked before there is a run: skills, requests, bodies of a job API, and a turn by itself.

use serde_json::json;
use turnlatch::admission::SchemaTexts;
use turnlatch::hosting::RequestKind;
use turnlatch::json::json_text;
use turnlatch::turn::InstructionTemplate;
use turnlatch::{Event, HostSettings, Mode, RunRequest};
use wasm_bindgen::prelude::*;

use crate::convert::{data, named, optional_text, read_json, text};
use crate::errors::{Thrown, misuse};
use crate::run::Plan;

/// A skill together with the host that would run it.
#[wasm_bindgen]
pub struct Skill {
    skill: turnlatch::Skill,
    host: HostSettings,
}

#[wasm_bindgen]
impl Skill {
    /// A skill of the texts of its documents. `host` is `{engines, limits?}`.
    #[wasm_bindgen(constructor)]
    pub fn new(
        runner: &[u8],
        output_schema: Option<Box<[u8]>>,
        input_schema: Option<Box<[u8]>>,
        parameter_schema: Option<Box<[u8]>>,
        host: &[u8],
    ) -> Result<Skill, Thrown> {
        let host = HostSettings::from_value(read_json(host)?)?;
        let texts = SchemaTexts {
            output_schema: optional_text(output_schema)?,
            input_schema: optional_text(input_schema)?,
            parameter_schema: optional_text(parameter_schema)?,
        };
        let skill = turnlatch::Skill::from_json(text(runner)?, &host.limits).schema_texts(texts);
        Ok(Skill { skill, host })
    }

    /// Makes a plan, or throws every problem.
    pub fn admit(&self, request: &[u8]) -> Result<Plan, Thrown> {
        Ok(Plan(turnlatch::admit(&self.skill, &RunRequest::from_json(text(request)?), &self.host)?))
    }

    /// What can be asked of it.
    pub fn describe(&self) -> Result<JsValue, JsValue> {
        data(&turnlatch::admission::describe_skill(&self.skill, &self.host))
    }
}

/// Reads the body of a request for a new run.
#[wasm_bindgen]
pub fn read_job(body: &[u8], run_id: &[u8]) -> Result<JsValue, JsValue> {
    let job = turnlatch::hosting::read_job(text(body)?, text(run_id)?).map_err(Thrown::from)?;
    data(&json!({ "skill": job.skill, "run_id": job.run_id, "request": job.request }))
}

/// Reads the body of a request to a run as the JSON text of its event.
#[wasm_bindgen]
pub fn request_event(kind: &str, body: &[u8]) -> Result<String, Thrown> {
    let kind = named(&RequestKind::ALL, RequestKind::as_str, kind)?;
    Ok(json_text(&turnlatch::hosting::request_event(kind, text(body)?)?))
}

/// Evaluates one turn by itself, and explains it; the report is the text of a `turn_finished` event.
#[wasm_bindgen]
pub fn evaluate_turn(plan: &Plan, report: &[u8]) -> Result<JsValue, JsValue> {
    match Event::from_json(text(report)?).map_err(Thrown::from)? {
        Event::TurnFinished(report) => data(&turnlatch::inspect::evaluate_turn(&plan.0, &report).explain()),
        _ => Err(misuse("a report is a finished turn").into()),
    }
}

/// The skill's text with the instructions for this mode at its end.
#[wasm_bindgen]
pub fn append_instructions(skill: &[u8], mode: &str) -> Result<String, Thrown> {
    appended(skill, mode, None)
}

#[wasm_bindgen]
impl Plan {
    /// The same, with the plan's output schema and required artifacts.
    pub fn append_instructions(&self, skill: &[u8], mode: &str) -> Result<String, Thrown> {
        appended(skill, mode, Some(self))
    }
}

fn appended(skill: &[u8], mode: &str, plan: Option<&Plan>) -> Result<String, Thrown> {
    let mode = named(&[Mode::Auto, Mode::Interactive], Mode::as_str, mode)?;
    let plan = plan.map(|plan| &*plan.0);
    Ok(turnlatch::turn::append_instructions(text(skill)?, mode, plan, &InstructionTemplate::default()))
}
