//! The core for JavaScript. Each function converts in, calls the core, and converts out; `js/` gives it its types.
//!
//! Plans, runs and decoders live in here under a handle. Everything else crosses as text: JavaScript writes and reads
//! JSON faster than an object can be walked from here, member by member, and text needs no care for `__proto__` and large
//! integers.

#[cfg(feature = "breakable")]
mod breakable;
mod convert;
mod errors;
mod journal;
mod panics;
mod run;
#[cfg(feature = "streams")]
mod stream;
mod table;

use serde_json::json;
use turnlatch::admission::SchemaTexts;
use turnlatch::hosting::RequestKind;
use turnlatch::json::json_text;
use turnlatch::turn::InstructionTemplate;
use turnlatch::{Code, Event, HostSettings, Limits, Mode, Plan, RunRequest, Skill};
use wasm_bindgen::prelude::*;

use convert::{optional_text, read_json, read_texts, text};
use errors::{Failed, misuse, not_loaded, refused, rejected};
use table::PLANS;

/// A step makes some fifty small allocations; here each takes a fraction of what it takes with the standard one, which is
/// also larger.
#[cfg(all(target_family = "wasm", not(target_feature = "atomics")))]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

/// Makes a plan, or throws every problem.
#[wasm_bindgen]
pub fn admit(
    runner: &[u8],
    request: &[u8],
    engines: &[u8],
    output_schema: Option<Box<[u8]>>,
    input_schema: Option<Box<[u8]>>,
    parameter_schema: Option<Box<[u8]>>,
    limits: &[u8],
) -> Result<u32, Failed> {
    let host = settings(engines, limits)?;
    let skill = skill(runner, [output_schema, input_schema, parameter_schema], &host)?;
    let plan = turnlatch::admit(&skill, &RunRequest::from_json(text(request)?), &host);
    plan.map(|plan| PLANS.with(|plans| plans.add(plan))).map_err(|refusal| refused(&refusal))
}

/// What can be asked of a skill.
#[wasm_bindgen]
pub fn describe_skill(
    runner: &[u8],
    engines: &[u8],
    output_schema: Option<Box<[u8]>>,
    input_schema: Option<Box<[u8]>>,
    parameter_schema: Option<Box<[u8]>>,
    limits: &[u8],
) -> Result<String, Failed> {
    let host = settings(engines, limits)?;
    let skill = skill(runner, [output_schema, input_schema, parameter_schema], &host)?;
    Ok(json_text(&turnlatch::admission::describe_skill(&skill, &host)))
}

fn settings(engines: &[u8], limits: &[u8]) -> Result<HostSettings, Failed> {
    let limits = Limits::from_value(read_json(limits)?).map_err(|message| misuse(&message))?;
    Ok(HostSettings { engines: read_texts(engines)?, limits })
}

fn skill(runner: &[u8], schemas: [Option<Box<[u8]>>; 3], host: &HostSettings) -> Result<Skill, Failed> {
    let [output_schema, input_schema, parameter_schema] = schemas.map(optional_text);
    let texts =
        SchemaTexts { output_schema: output_schema?, input_schema: input_schema?, parameter_schema: parameter_schema? };
    Ok(Skill::from_json(text(runner)?, &host.limits).schema_texts(texts))
}

/// Reads the body of a request for a new run.
#[wasm_bindgen]
pub fn read_job(body: &[u8], run_id: &[u8]) -> Result<String, Failed> {
    let job = turnlatch::hosting::read_job(text(body)?, text(run_id)?).map_err(|refusal| refused(&refusal))?;
    Ok(json_text(&json!({ "skill": job.skill, "run_id": job.run_id, "request": job.request })))
}

/// Reads the body of a request to a run as its event.
#[wasm_bindgen]
pub fn request_event(kind: &str, body: &[u8]) -> Result<String, Failed> {
    let known = RequestKind::ALL.into_iter().find(|known| known.as_str() == kind);
    let kind = known.ok_or_else(|| misuse("expected `reply` or `cancel`"))?;
    let event = turnlatch::hosting::request_event(kind, text(body)?).map_err(|error| rejected(&error))?;
    Ok(json_text(&event))
}

/// Every setting of a plan, as a snapshot holds it.
#[wasm_bindgen]
pub fn plan_text(plan: u32) -> Result<String, Failed> {
    Ok(json_text(&*PLANS.with(|plans| plans.get(plan))?))
}

/// A plan of the text that [`plan_text`] gave before the instance was replaced.
#[wasm_bindgen]
pub fn plan_restore(plan: &[u8]) -> Result<u32, Failed> {
    let plan = Plan::from_json(text(plan)?).map_err(|error| not_loaded(&error))?;
    Ok(PLANS.with(|plans| plans.add(plan.into())))
}

/// Gives a plan's memory back.
#[wasm_bindgen]
pub fn plan_free(plan: u32) {
    PLANS.with(|plans| plans.remove(plan));
}

/// Evaluates one turn by itself, and explains it; the report is the text of a `turn_finished` event.
#[wasm_bindgen]
pub fn evaluate_turn(plan: u32, report: &[u8]) -> Result<String, Failed> {
    let plan = PLANS.with(|plans| plans.get(plan))?;
    match Event::from_json(text(report)?).map_err(|error| rejected(&error))? {
        Event::TurnFinished(report) => Ok(json_text(&turnlatch::inspect::evaluate_turn(&plan, &report).explain())),
        _ => Err(misuse("a report is a finished turn")),
    }
}

/// The skill's text with the instructions for this mode at its end.
#[wasm_bindgen]
pub fn append_instructions(skill: &[u8], mode: &str, plan: Option<u32>) -> Result<String, Failed> {
    let known = [Mode::Auto, Mode::Interactive].into_iter().find(|known| known.as_str() == mode);
    let mode = known.ok_or_else(|| misuse("expected `auto` or `interactive`"))?;
    let plan = plan.map(|plan| PLANS.with(|plans| plans.get(plan))).transpose()?;
    Ok(turnlatch::turn::append_instructions(text(skill)?, mode, plan.as_deref(), &InstructionTemplate::default()))
}

/// Every stable code.
#[cfg(feature = "full")]
#[wasm_bindgen]
#[must_use]
pub fn codes() -> String {
    json_text(&Code::ALL.iter().map(|code| code.info()).collect::<Vec<_>>())
}

/// Every stable code, without the sentences about it.
#[cfg(not(feature = "full"))]
#[wasm_bindgen]
#[must_use]
pub fn codes() -> String {
    let bare = |code: &Code| json!({ "code": code, "kind": code.kind(), "http": code.http() });
    json_text(&Code::ALL.iter().map(bare).collect::<Vec<_>>())
}

/// The run that asked for this slot.
#[wasm_bindgen]
#[must_use]
pub fn run_of_slot(slot_id: &str) -> Option<String> {
    turnlatch::hosting::run_of_slot(slot_id).map(str::to_owned)
}

/// What to tell of a turn whose report cannot be read.
#[wasm_bindgen]
#[must_use]
pub fn unreadable_report(attempt_number: u32, slot_id: &str) -> String {
    json_text(&turnlatch::hosting::unreadable_report(attempt_number, slot_id))
}

/// The text with escapes, control and bidi characters made visible.
#[wasm_bindgen]
pub fn display_text(shown: &[u8]) -> Result<String, Failed> {
    Ok(turnlatch::text::display_text(text(shown)?).into_owned())
}

/// The version of the package.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
