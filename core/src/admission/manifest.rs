//! The skill's side: `runner.json` and the schemas, checked (ADM-3, ADM-6, ADM-7).

use serde_json::{Map, Value};

use super::{HostSettings, Manifest, Problem};
use crate::codes::Code;
use crate::json;
use crate::limits::Limits;
use crate::plan::ExecutionMode;
use crate::schema::OutputSchema;
use crate::text;

/// A skill as far as it could be read; `None` where a problem was told.
pub(super) struct Skill {
    pub(super) execution_modes: Option<Vec<ExecutionMode>>,
    pub(super) engines: Option<Engines>,
    pub(super) max_attempt: Option<u32>,
    pub(super) required_artifacts: Vec<String>,
    pub(super) output_schema: Option<OutputSchema>,
    pub(super) input_schema: Option<OutputSchema>,
    pub(super) parameter_schema: Option<OutputSchema>,
}

/// Which engines may run a skill.
pub(super) struct Engines {
    pub(super) declared: Option<Vec<String>>,
    pub(super) unsupported: Vec<String>,
    pub(super) effective: Vec<String>,
}

impl Skill {
    pub(super) fn read(manifest: &Manifest, host: &HostSettings, problems: &mut Vec<Problem>) -> Skill {
        let runner = read_runner(&manifest.runner, &host.limits, problems);
        let mut reader = Reader { runner: &runner, host, problems };
        Skill {
            execution_modes: reader.execution_modes(),
            engines: reader.engines(),
            max_attempt: reader.max_attempt(),
            required_artifacts: reader.required_artifacts(),
            output_schema: reader.schema("output_schema", manifest.output_schema.as_deref()),
            input_schema: reader.schema("input_schema", manifest.input_schema.as_deref()),
            parameter_schema: reader.schema("parameter_schema", manifest.parameter_schema.as_deref()),
        }
    }
}

fn read_runner(runner: &str, limits: &Limits, problems: &mut Vec<Problem>) -> Map<String, Value> {
    if runner.len() > limits.manifest_bytes {
        let message = format!("the manifest has {} bytes, the limit is {}", runner.len(), limits.manifest_bytes);
        problems.push(Problem::new(Code::ManifestTooLarge, "runner", message));
        return Map::new();
    }
    match json::parse_value(runner, limits.json_depth.min(Limits::MAX_JSON_DEPTH)) {
        Ok(Value::Object(members)) => return members,
        Ok(_) => problems.push(invalid("runner", "expected a JSON object")),
        Err(fault) => problems.push(invalid("runner", format!("the manifest cannot be read: {fault}"))),
    }
    Map::new()
}

/// A problem was told; there is nothing to go on with.
struct Told;

struct Reader<'a> {
    runner: &'a Map<String, Value>,
    host: &'a HostSettings,
    problems: &'a mut Vec<Problem>,
}

impl Reader<'_> {
    /// Absent means auto alone.
    fn execution_modes(&mut self) -> Option<Vec<ExecutionMode>> {
        let Some(names) = self.names("execution_modes").ok()? else { return Some(vec![ExecutionMode::Auto]) };
        if names.is_empty() {
            self.refuse("execution_modes", "must not be empty");
            return None;
        }
        let mut modes = Vec::new();
        for name in &names {
            match name.as_str() {
                "auto" => modes.push(ExecutionMode::Auto),
                "interactive" => modes.push(ExecutionMode::Interactive),
                other => {
                    let found = text::quoted(other);
                    self.refuse("execution_modes", format!("expected `auto` or `interactive`, found {found}"));
                }
            }
        }
        (modes.len() == names.len()).then_some(modes)
    }

    fn engines(&mut self) -> Option<Engines> {
        let declared = self.names("engines");
        let unsupported = self.names("unsupported_engines");
        let (declared, unsupported) = (declared.ok()?, unsupported.ok()?.unwrap_or_default());
        let before = self.problems.len();
        self.only_known_engines("engines", declared.as_deref().unwrap_or_default());
        self.only_known_engines("unsupported_engines", &unsupported);
        for name in declared.iter().flatten().filter(|name| unsupported.contains(name)) {
            self.refuse("unsupported_engines", format!("{} is declared in `engines` too", text::quoted(name)));
        }
        let known = unique_names(self.host.engines.iter().map(String::as_str));
        let mut effective = declared.clone().unwrap_or(known);
        effective.retain(|name| !unsupported.contains(name));
        if effective.is_empty() {
            self.refuse("engines", "no engine is left for this skill");
        }
        (self.problems.len() == before).then_some(Engines { declared, unsupported, effective })
    }

    fn only_known_engines(&mut self, field: &str, names: &[String]) {
        for name in names {
            if !self.host.engines.iter().any(|known| known.trim() == name) {
                self.refuse(field, format!("{} is not an engine this host knows", text::quoted(name)));
            }
        }
    }

    fn max_attempt(&mut self) -> Option<u32> {
        let value = self.runner.get("max_attempt")?;
        let number =
            json::whole_number(value).and_then(|number| u32::try_from(number).ok()).filter(|number| *number >= 1);
        if number.is_none() {
            self.refuse("max_attempt", "expected a whole number of at least 1");
        }
        number
    }

    fn required_artifacts(&mut self) -> Vec<String> {
        let paths = self.names("required_artifacts").ok().flatten().unwrap_or_default();
        for path in &paths {
            let leaves = path.starts_with('/') || path.contains('\\') || path.split('/').any(|part| part == "..");
            if leaves {
                self.refuse("required_artifacts", format!("{} leaves the run's folder", text::quoted(path)));
            }
        }
        paths
    }

    /// A schema given beside the manifest, or inside it.
    fn schema(&mut self, field: &str, given: Option<&str>) -> Option<OutputSchema> {
        let inside = self.runner.get(field).map(Value::to_string);
        let text = given.or(inside.as_deref())?;
        match OutputSchema::compile(text, &self.host.limits) {
            Ok(schema) => Some(schema),
            Err(found) => {
                self.problems.extend(
                    found
                        .into_iter()
                        .map(|problem| Problem::new(problem.code, format!("{field}{}", problem.path), problem.message)),
                );
                None
            }
        }
    }

    /// A list of names, trimmed and each once.
    fn names(&mut self, field: &str) -> Result<Option<Vec<String>>, Told> {
        let Some(value) = self.runner.get(field) else { return Ok(None) };
        let names = value.as_array().and_then(|items| items.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
        let Some(names) = names.map(|names| unique_names(names.into_iter())) else {
            self.refuse(field, "expected a list of strings");
            return Err(Told);
        };
        if names.iter().any(String::is_empty) {
            self.refuse(field, "a name must not be blank");
            return Err(Told);
        }
        Ok(Some(names))
    }

    fn refuse(&mut self, field: &str, message: impl Into<String>) {
        self.problems.push(invalid(format!("runner/{field}"), message));
    }
}

fn unique_names<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut unique: Vec<String> = Vec::new();
    for name in names.map(str::trim) {
        if !unique.iter().any(|known| known == name) {
            unique.push(name.to_owned());
        }
    }
    unique
}

fn invalid(path: impl Into<String>, message: impl Into<String>) -> Problem {
    Problem::new(Code::SkillManifestInvalid, path, message)
}
