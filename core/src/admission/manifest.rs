//! The skill's side: `runner.json` and the schemas, checked (ADM-3, ADM-6, ADM-7).

use std::collections::BTreeSet;

use super::request::{RUNTIME_OPTIONS, nearest};
use super::{HostSettings, Problem, Skill, found};
use crate::json::{self, Map, Value, json_text};
use crate::schema::{Formats, OutputSchema};
use crate::text;
use crate::types::codes::{Code, Note};
use crate::types::plan::Mode;

/// A skill as far as it could be read; `None` where a problem was told.
pub(super) struct ParsedSkill {
    pub(super) execution_modes: Option<Vec<Mode>>,
    pub(super) engines: Option<Engines>,
    pub(super) max_attempt: Option<u32>,
    pub(super) required_artifacts: Vec<String>,
    pub(super) assert_formats: bool,
    pub(super) output_schema: Option<OutputSchema>,
    pub(super) input_schema: Option<OutputSchema>,
    pub(super) parameter_schema: Option<OutputSchema>,
    /// What is odd about the manifest, whatever is requested of it.
    pub(super) warnings: Vec<Note>,
}

/// Which engines may run a skill.
pub(super) struct Engines {
    pub(super) declared: Option<Vec<String>>,
    pub(super) unsupported: Vec<String>,
    pub(super) effective: Vec<String>,
}

impl ParsedSkill {
    pub(super) fn read(skill: &Skill, host: &HostSettings, problems: &mut Vec<Problem>) -> ParsedSkill {
        problems.extend(skill.fault.as_deref().cloned());
        let is_readable = skill.fault.is_none();
        let texts = &skill.schema_texts;
        let mut reader = Reader { runner: &skill.runner, host, problems, warnings: Vec::new() };
        reader.unknown_members();
        let assert_formats = reader.assert_formats();
        let formats = if assert_formats { Formats::Assert } else { Formats::Annotate };
        ParsedSkill {
            // What a manifest that cannot be read would have declared is not known.
            execution_modes: reader.execution_modes().filter(|_| is_readable),
            engines: reader.engines().filter(|_| is_readable),
            max_attempt: reader.max_attempt(),
            required_artifacts: reader.required_artifacts(),
            assert_formats,
            output_schema: reader.schema("output_schema", texts.output_schema.as_deref(), formats),
            input_schema: reader.schema("input_schema", texts.input_schema.as_deref(), formats),
            parameter_schema: reader.schema("parameter_schema", texts.parameter_schema.as_deref(), formats),
            warnings: reader.warnings,
        }
    }
}

struct Reader<'a> {
    runner: &'a Map,
    host: &'a HostSettings,
    problems: &'a mut Vec<Problem>,
    warnings: Vec<Note>,
}

impl<'a> Reader<'a> {
    /// Absent means auto alone.
    fn execution_modes(&mut self) -> Option<Vec<Mode>> {
        let before = self.problems.len();
        let Some(names) = self.texts("execution_modes") else {
            return (self.problems.len() == before).then(|| vec![Mode::Auto]);
        };
        let mut modes = Vec::new();
        for (index, name) in names.into_iter().enumerate() {
            match name {
                "auto" => modes.push(Mode::Auto),
                "interactive" => modes.push(Mode::Interactive),
                other => {
                    let message = format!("expected `auto` or `interactive`, found {}", text::quoted(other));
                    self.refuse(&format!("execution_modes/{index}"), message);
                }
            }
        }
        if modes.is_empty() && self.problems.len() == before {
            self.refuse("execution_modes", "must not be empty");
        }
        (self.problems.len() == before).then_some(modes)
    }

    fn engines(&mut self) -> Option<Engines> {
        let before = self.problems.len();
        let hosted: Vec<_> = self.host.engines.iter().map(|name| name.trim()).collect();
        let known: BTreeSet<_> = hosted.iter().copied().collect();
        let declared = self.engine_names("engines", &known);
        let unsupported = self.engine_names("unsupported_engines", &known).unwrap_or_default();
        let both: Vec<_> = declared.iter().flatten().filter(|name| unsupported.contains(name)).collect();
        if !both.is_empty() {
            let message =
                format!("in `engines` and in `unsupported_engines`, so excluded: {}", text::quoted_list(&both));
            self.warnings.push(Note::new(Code::EnginesOverlap, message));
        }
        let mut effective = declared.clone().unwrap_or_else(|| unique(&hosted));
        effective.retain(|name| !unsupported.contains(name));
        if effective.is_empty() && self.problems.len() == before {
            self.refuse("engines", "no engine is left for this skill");
        }
        (self.problems.len() == before).then_some(Engines { declared, unsupported, effective })
    }

    /// Names of engines, trimmed, each once, in order; every one must be known to the host.
    fn engine_names(&mut self, field: &str, known: &BTreeSet<&str>) -> Option<Vec<String>> {
        let mut names = self.texts(field)?;
        for (index, name) in names.iter_mut().enumerate() {
            let trimmed = name.trim();
            if !known.contains(trimmed) {
                let message = format!("{} is not an engine this host knows", text::quoted(name));
                self.refuse(&format!("{field}/{index}"), message);
            }
            *name = trimmed;
        }
        Some(unique(&names))
    }

    fn max_attempt(&mut self) -> Option<u32> {
        let value = self.runner.get("max_attempt")?;
        let number =
            json::whole_number(value).and_then(|number| u32::try_from(number).ok()).filter(|number| *number >= 1);
        if number.is_none() {
            self.refuse("max_attempt", format!("expected a whole number from 1 to {}, {}", u32::MAX, found(value)));
        }
        number
    }

    fn required_artifacts(&mut self) -> Vec<String> {
        let paths = self.texts("required_artifacts").unwrap_or_default();
        for (index, path) in paths.iter().enumerate() {
            let is_drive = path.as_bytes().get(1) == Some(&b':');
            let leaves = path.starts_with('/') || path.contains('\\') || path.split('/').any(|part| part == "..");
            // No file has such a name, and a program that takes it for the end of one looks at another file.
            let is_cut = path.contains('\0');
            if path.trim().is_empty() || is_drive || leaves || is_cut {
                let message = format!("expected a path inside the run's folder, found {}", text::quoted(path));
                self.refuse(&format!("required_artifacts/{index}"), message);
            }
        }
        unique(&paths)
    }

    /// True unless it says otherwise (ADM-14).
    fn assert_formats(&mut self) -> bool {
        let Some(value) = self.runner.get("assert_formats") else { return true };
        value.as_bool().unwrap_or_else(|| {
            self.refuse("assert_formats", format!("expected true or false, {}", found(value)));
            true
        })
    }

    /// A schema given beside the manifest, or inside it.
    fn schema(&mut self, field: &str, given: Option<&str>, formats: Formats) -> Option<OutputSchema> {
        let inside = self.runner.get(field).map(json_text);
        let root = if given.is_some() { field.to_owned() } else { format!("runner/{field}") };
        match OutputSchema::compile_with(given.or(inside.as_deref())?, &self.host.limits, formats) {
            Ok(schema) if schema.can_check() => Some(schema),
            Ok(_) => {
                let message = "this build has no validator of schemas";
                self.problems.push(Problem::new(Code::ValidatorMissing, root, message));
                None
            }
            Err(found) => {
                self.problems.extend(
                    found
                        .into_iter()
                        .map(|problem| Problem::new(problem.code, format!("{root}{}", problem.path), problem.message)),
                );
                None
            }
        }
    }

    /// Members that mean nothing here, but look as if they should (ADM-12).
    fn unknown_members(&mut self) {
        let unknown = self.runner.keys().map(String::as_str).filter(|name| !MEMBERS.contains(name));
        self.warnings.extend(unknown.filter_map(unknown_member).take(MAX_UNKNOWN_MEMBERS));
    }

    /// A list of texts as they stand; nothing if it is absent, or was refused.
    fn texts(&mut self, field: &str) -> Option<Vec<&'a str>> {
        let value = self.runner.get(field)?;
        let items = value.as_array().map_or(&[] as &[_], Vec::as_slice);
        let texts: Vec<_> = items.iter().filter_map(Value::as_str).collect();
        if value.is_array() && texts.len() == items.len() && texts.len() <= MAX_NAMES {
            return Some(texts);
        }
        self.refuse(field, format!("expected a list of at most {MAX_NAMES} strings, {}", found(value)));
        None
    }

    fn refuse(&mut self, field: &str, message: impl Into<String>) {
        self.problems.push(Problem::new(Code::SkillManifestInvalid, format!("runner/{field}"), message));
    }
}

/// Each name once, in order.
fn unique(names: &[&str]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.iter().filter(|name| seen.insert(**name)).map(|name| (*name).to_owned()).collect()
}

/// Says what a member may be meant for, if its name says so. Other members are the skill's own business.
fn unknown_member(name: &str) -> Option<Note> {
    let hint = match (nearest(name, &MEMBERS), nearest(name, &RUNTIME_OPTIONS)) {
        (Some(near), Some(option)) if option == name => {
            format!("did you mean `{near}`? `{option}` belongs in the request")
        }
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, Some(option)) => format!("`{option}` belongs in the request"),
        (None, None) => return None,
    };
    let path = text::quoted(&format!("runner/{}", text::pointer_step(name)));
    Some(Note::new(Code::ManifestMemberUnknown, format!("{path} is not a member of a manifest; {hint}")))
}

/// What a manifest says to the core.
const MEMBERS: [&str; 9] = [
    "execution_modes",
    "engines",
    "unsupported_engines",
    "max_attempt",
    "required_artifacts",
    "assert_formats",
    "output_schema",
    "input_schema",
    "parameter_schema",
];
/// Further ones are left out, because each warning is stored in the plan of every run.
const MAX_UNKNOWN_MEMBERS: usize = 20;
/// How many names a list may have; a problem is told for each that is wrong.
const MAX_NAMES: usize = 256;
