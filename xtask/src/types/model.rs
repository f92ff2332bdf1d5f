//! What the generated languages have in common: named types with members, and unions of them.

use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};
use turnlatch::{admission, agents, hosting, inspect, lifecycle, types};

use super::{described, tables};

/// Every type, in the order of the files.
pub(super) struct Model {
    pub(super) definitions: Vec<Definition>,
}

/// A named type.
#[derive(Clone)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) doc: String,
    /// Whether users and hosts write it.
    pub(super) is_input: bool,
    pub(super) body: Body,
}

/// What a named type is.
#[derive(Clone)]
pub(super) enum Body {
    /// Another name for a type.
    Alias(Type),
    /// An object.
    Object(Vec<Member>),
    /// An object of one of several forms.
    Union {
        /// The members that all forms have in the same way.
        common: Vec<Member>,
        forms: Vec<Variant>,
    },
}

/// One form of a union.
#[derive(Clone)]
pub(super) struct Variant {
    pub(super) name: String,
    pub(super) doc: String,
    /// The members that only this form has in this way.
    pub(super) members: Vec<Member>,
}

/// A member of an object.
#[derive(Clone)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) kind: Type,
    pub(super) presence: Presence,
    /// What JSON Schema says of its value besides: bounds, lengths, patterns, the default.
    pub(super) bounds: Map<String, Value>,
}

/// Whether a member is there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    Optional,
    /// Another form of the same union has it.
    Absent,
}

/// The type of a value.
#[derive(Clone, PartialEq)]
pub(super) enum Type {
    Text,
    Integer,
    Boolean,
    Flag(bool),
    Null,
    /// Any JSON.
    Json,
    /// An object of any JSON.
    Members,
    /// A JSON Schema.
    Schema,
    /// One of these words, each with what it means.
    Words(Vec<(String, String)>),
    /// Words of this type, and any other.
    OpenWords(Box<Type>),
    Name(String),
    List(Box<Type>),
    Union(Vec<Type>),
}

impl Model {
    /// The types of the core and those that are described beside it.
    ///
    /// # Errors
    /// A message, if a schema has a form that is not known here.
    pub(super) fn of_the_core() -> Result<Model, String> {
        let (written, read) = (schemas(SchemaSettings::for_serialize), schemas(SchemaSettings::for_deserialize));
        let mut model = Model { definitions: Vec::new() };
        for rust in tables::ORDER {
            let is_input = tables::INPUTS.contains(rust);
            let name = tables::public_name(rust);
            if let Some(definition) = model.derived(name) {
                model.definitions.push(definition);
                continue;
            }
            // The body of a reply is the event without its name.
            let schema_name = if *rust == "ReplyBody" { "Reply" } else { rust };
            let schemas = if is_input { &read } else { &written };
            let schema = schemas.get(schema_name).ok_or_else(|| format!("there is no schema of {schema_name}"))?;
            let reader = Reader { owner: name, is_input, schemas };
            let doc = tables::doc(name, "").map_or_else(|| text_of(schema), str::to_owned);
            model.add(&reader, doc, schema)?;
        }
        model.check_docs()?;
        Ok(model)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Definition> {
        self.definitions.iter().find(|definition| definition.name == name)
    }

    /// Editors show the sentence of a member, so each has one; only words that select a form explain themselves.
    fn check_docs(&self) -> Result<(), String> {
        for definition in &self.definitions {
            let members: Vec<&Member> = match &definition.body {
                Body::Alias(_) => Vec::new(),
                Body::Object(members) => members.iter().collect(),
                Body::Union { common, forms } => {
                    common.iter().chain(forms.iter().flat_map(|form| &form.members)).collect()
                }
            };
            let is_plain = |member: &&&Member| !matches!(member.kind, Type::Words(_)) && member.doc.is_empty();
            if let Some(member) = members.iter().find(is_plain) {
                return Err(format!("`{}.{}` has no documentation", definition.name, member.name));
            }
        }
        Ok(())
    }

    /// Types that follow from others, or are a list of words that Rust has as plain strings.
    fn derived(&self, name: &str) -> Option<Definition> {
        let words = |words: &[&str]| Type::Words(words.iter().map(|&word| (word.to_owned(), String::new())).collect());
        let (doc, kind) = match name {
            "OpenCode" => (
                "A code where an agent or a host may choose one that is not in the table.",
                Type::OpenWords(Box::new(Type::Name("Code".to_owned()))),
            ),
            "Role" => (
                "Whose words these are. Only those of the assistant are read. An agent of the format `ndjson` may name further roles.",
                words(&["assistant", "user", "system", "tool", "reasoning"]),
            ),
            "Reason" => ("Why a gate passed or decided.", Type::Words(self.words_of_checks())),
            "EventName" => (
                "What can happen to a run. A turn is `turn_finished`, also where only its decision was recorded.",
                words(&["created", "slot_granted", "turn_finished", "reply", "timer_fired", "process_lost", "cancel"]),
            ),
            _ => return None,
        };
        Some(Definition { name: name.to_owned(), doc: doc.to_owned(), is_input: false, body: Body::Alias(kind) })
    }

    /// The reasons of all forms of a check.
    fn words_of_checks(&self) -> Vec<(String, String)> {
        let Some(Body::Union { forms, .. }) = self.get("Check").map(|check| &check.body) else { return Vec::new() };
        let members = forms.iter().flat_map(|form| &form.members).filter(|member| member.name == "reason");
        members
            .filter_map(|member| if let Type::Words(words) = &member.kind { Some(words.clone()) } else { None })
            .flatten()
            .collect()
    }

    fn add(&mut self, reader: &Reader<'_>, doc: String, schema: &Value) -> Result<(), String> {
        let own = reader.members(schema, None)?;
        let name = reader.owner.to_owned();
        let is_input = reader.is_input;
        let branches = part(schema, "oneOf").as_array().filter(|branches| branches.iter().all(is_object));
        let Some(branches) = branches else {
            let body = if is_object(schema) { object(&name, own)? } else { Body::Alias(reader.kind(schema)?) };
            self.definitions.push(Definition { name, doc, is_input, body });
            return Ok(());
        };
        let mut forms: Vec<Variant> = Vec::new();
        for branch in branches {
            let word = selecting_word(branch).ok_or_else(|| format!("a form of {name} has no word that selects it"))?;
            let form = tables::variant_name(&name, word).map_or_else(|| pascal_case(word), str::to_owned);
            let members = reader.members(branch, Some(&form))?;
            if let Some(known) = forms.iter_mut().find(|known| known.name == form) {
                known.join(members);
            } else {
                let doc = tables::doc(&form, "").map_or_else(|| text_of(branch), str::to_owned);
                forms.push(Variant { name: form, doc, members });
            }
        }
        if own.len() > 1 {
            fill_absent(&mut forms);
            let body = Body::Union { common: own, forms };
            self.definitions.push(Definition { name, doc, is_input, body });
            return Ok(());
        }
        let names = forms.iter().map(|form| Type::Name(form.name.clone())).collect();
        for Variant { name, doc, mut members } in forms {
            let rest = members.split_off(1);
            members.extend(own.iter().cloned().chain(rest));
            let body = object(&name, members)?;
            self.definitions.push(Definition { name, doc, is_input, body });
        }
        self.definitions.push(Definition { name, doc, is_input, body: Body::Alias(Type::Union(names)) });
        Ok(())
    }
}

impl Variant {
    /// Another word selects this form too.
    fn join(&mut self, members: Vec<Member>) {
        for (known, member) in self.members.iter_mut().zip(members) {
            if let (Type::Words(known), Type::Words(words)) = (&mut known.kind, member.kind) {
                known.extend(words);
            }
        }
    }
}

/// Reads schemas of one type.
struct Reader<'n> {
    owner: &'n str,
    is_input: bool,
    /// All schemas, by their names in Rust.
    schemas: &'n Map<String, Value>,
}

impl Reader<'_> {
    fn members(&self, schema: &Value, form: Option<&str>) -> Result<Vec<Member>, String> {
        let required = part(schema, "required").as_array().map_or(&[] as &[_], Vec::as_slice);
        let properties = part(schema, "properties").as_object();
        let mut members = Vec::new();
        for (name, property) in properties.into_iter().flatten() {
            let owners = [form.unwrap_or(self.owner), self.owner];
            let given = owners.iter().find_map(|owner| tables::member_type(owner, name));
            let mut kind = given.map_or_else(|| self.kind(property), Ok)?;
            let presence = if required.iter().any(|required| required == name) && !tables::has_default(self.owner, name)
            {
                Presence::Required
            } else {
                kind = without_null(kind);
                Presence::Optional
            };
            let doc = match owners.iter().find_map(|owner| tables::doc(owner, name)) {
                Some(doc) => doc.to_owned(),
                None => text_of(property),
            };
            let bounds = ["minimum", "maximum", "minLength", "maxLength", "pattern", "default"]
                .into_iter()
                .filter_map(|bound| Some((bound.to_owned(), property.get(bound)?.clone())))
                .filter(|(_, bound)| !bound.is_null())
                .collect();
            members.push(Member { name: name.clone(), doc, kind, presence, bounds });
        }
        // What has to be there stands first, as in a signature.
        if self.is_input {
            members.sort_by_key(|member| member.presence != Presence::Required);
        }
        Ok(members)
    }

    fn kind(&self, schema: &Value) -> Result<Type, String> {
        let unknown = || format!("a schema in {} has an unknown form: {schema}", self.owner);
        let Some(members) = schema.as_object() else { return Ok(Type::Json) };
        if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
            let name = reference.rsplit('/').next().unwrap_or(reference);
            if tables::ORDER.contains(&name) {
                return Ok(Type::Name(tables::public_name(name).to_owned()));
            }
            // What has no name of its own in other languages: times, and a few words.
            return self.kind(self.schemas.get(name).ok_or_else(unknown)?);
        }
        if let Some(constant) = members.get("const") {
            return match constant {
                Value::String(word) => Ok(Type::Words(vec![(word.clone(), text_of(schema))])),
                Value::Bool(flag) => Ok(Type::Flag(*flag)),
                _ => Err(unknown()),
            };
        }
        if let Some(words) = members.get("enum").and_then(Value::as_array) {
            let words = words.iter().filter_map(Value::as_str);
            return Ok(Type::Words(words.map(|word| (word.to_owned(), String::new())).collect()));
        }
        if let Some(kinds) = members.get("anyOf").or_else(|| members.get("oneOf")).and_then(Value::as_array) {
            let kinds = kinds.iter().map(|kind| self.kind(kind)).collect::<Result<Vec<_>, _>>()?;
            let mut words = Vec::new();
            for kind in &kinds {
                let Type::Words(more) = kind else { return Ok(Type::Union(kinds)) };
                words.extend(more.iter().cloned());
            }
            return Ok(Type::Words(words));
        }
        match members.get("type") {
            None => Ok(Type::Json),
            Some(Value::String(name)) => self.named(name, schema),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                Ok(Type::Union(names.map(|name| self.named(name, schema)).collect::<Result<_, _>>()?))
            }
            Some(_) => Err(unknown()),
        }
    }

    fn named(&self, name: &str, schema: &Value) -> Result<Type, String> {
        Ok(match name {
            "string" => Type::Text,
            "integer" => Type::Integer,
            "boolean" => Type::Boolean,
            "null" => Type::Null,
            "object" => Type::Members,
            "array" => Type::List(Box::new(self.kind(part(schema, "items"))?)),
            other => return Err(format!("a schema in {} has the unknown type {other}", self.owner)),
        })
    }
}

/// An object, in its forms if it has several.
fn object(name: &str, members: Vec<Member>) -> Result<Body, String> {
    let forms = tables::forms(name);
    if forms.is_empty() {
        return Ok(Body::Object(members));
    }
    let mentioned =
        forms.iter().flat_map(|form| form.is.iter().map(|(name, _)| name).chain(form.required).chain(form.optional));
    for mentioned in mentioned {
        if members.iter().all(|member| member.name != *mentioned) {
            return Err(format!("the forms of {name} mention `{mentioned}`, which is no member"));
        }
    }
    let varies = |member: &Member| {
        forms.iter().any(|form| {
            let is_mentioned = |names: &[&str]| names.contains(&member.name.as_str());
            form.is.iter().any(|(name, _)| *name == member.name)
                || is_mentioned(form.required)
                || is_mentioned(form.optional)
        })
    };
    let (varying, common): (Vec<_>, Vec<_>) = members.into_iter().partition(varies);
    let forms = forms
        .iter()
        .map(|form| Variant {
            name: tables::form_name(name, form),
            doc: form.doc.to_owned(),
            members: varying.iter().map(|member| in_form(form, member)).collect(),
        })
        .collect();
    Ok(Body::Union { common, forms })
}

/// The schemas of all types, by their names in Rust.
fn schemas(contract: fn(SchemaSettings) -> SchemaSettings) -> Map<String, Value> {
    let mut generator = contract(SchemaSettings::draft2020_12()).into_generator();
    for add in [
        add::<types::Event>,
        add::<types::Effect>,
        add::<types::Receipt>,
        add::<types::Reply>,
        add::<types::TurnReport>,
        add::<types::Observation>,
        add::<types::InteractionRecord>,
        add::<types::CodeInfo>,
        add::<types::Limits>,
        add::<agents::Decoded>,
        add::<agents::Progress>,
        add::<inspect::StatusView>,
        add::<inspect::PendingView>,
        add::<inspect::Allowed>,
        add::<inspect::Explanation>,
        add::<inspect::WhyNot>,
        add::<inspect::TimelineEntry>,
        add::<hosting::EffectStatus>,
        add::<hosting::RetriesExhausted>,
        add::<hosting::RecoveryFacts>,
        add::<hosting::RecoveryPlan>,
        add::<lifecycle::PendingEffects>,
        add::<admission::SkillView>,
        add::<described::RunnerManifest>,
        add::<described::RuntimeOptions>,
        add::<described::RunRequest>,
        add::<described::NewJob>,
        add::<described::Job>,
        add::<described::CancelBody>,
        add::<described::Said>,
        add::<described::Evaluation>,
    ] {
        add(&mut generator);
    }
    generator.take_definitions(true)
}

fn add<T: JsonSchema>(generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}

/// A member as it is in one form of a union.
fn in_form(form: &tables::Form, member: &Member) -> Member {
    let name = member.name.as_str();
    let mut member = member.clone();
    if let Some((_, words)) = form.is.iter().find(|(selecting, _)| *selecting == name) {
        member.presence = Presence::Required;
        member.kind = match *words {
            ["true"] => Type::Flag(true),
            ["false"] => Type::Flag(false),
            words => Type::Words(words.iter().map(|&word| (word.to_owned(), String::new())).collect()),
        };
    } else if form.required.contains(&name) {
        member.presence = Presence::Required;
        member.kind = without_null(member.kind);
    } else if form.optional.contains(&name) {
        member.presence = Presence::Optional;
    } else {
        member.presence = Presence::Absent;
    }
    member
}

/// What only other forms have is absent from a form: so a member can be read before the form is known.
fn fill_absent(forms: &mut [Variant]) {
    let mut all: Vec<Member> = Vec::new();
    for member in forms.iter().flat_map(|form| &form.members) {
        if all.iter().all(|known| known.name != member.name) {
            all.push(member.clone());
        }
    }
    for form in forms {
        let given = std::mem::take(&mut form.members);
        let find = |name: &str| given.iter().find(|member| member.name == name).cloned();
        let filled = all.iter().map(|member| {
            find(&member.name).unwrap_or_else(|| Member { presence: Presence::Absent, ..member.clone() })
        });
        form.members = filled.collect();
    }
}

fn without_null(kind: Type) -> Type {
    let Type::Union(kinds) = kind else { return kind };
    let mut kinds: Vec<_> = kinds.into_iter().filter(|kind| *kind != Type::Null).collect();
    match (kinds.len(), kinds.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            kinds.extend(last);
            Type::Union(kinds)
        }
    }
}

/// A part of a schema, null if it is absent.
fn part<'s>(schema: &'s Value, name: &str) -> &'s Value {
    schema.get(name).unwrap_or(&Value::Null)
}

fn is_object(schema: &Value) -> bool {
    part(schema, "properties").is_object()
}

/// The word by which one form of a tagged type is known.
fn selecting_word(branch: &Value) -> Option<&str> {
    part(branch, "properties").as_object()?.values().find_map(|property| part(property, "const").as_str())
}

fn pascal_case(word: &str) -> String {
    let capital = |part: &str| {
        let mut characters = part.chars();
        characters.next().map(|first| first.to_ascii_uppercase().to_string() + characters.as_str()).unwrap_or_default()
    };
    word.split('_').map(capital).collect()
}

/// The description of a schema, without links of Rust.
fn text_of(schema: &Value) -> String {
    let text = part(schema, "description").as_str().unwrap_or_default();
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[`") {
        plain.push_str(before);
        let Some((link, behind)) = after.split_once("`]") else {
            plain.push_str("[`");
            rest = after;
            continue;
        };
        let steps: Vec<_> = link.split("::").filter(|step| *step != "crate").collect();
        let from = steps.iter().position(|step| step.starts_with(char::is_uppercase)).unwrap_or(0);
        let names: Vec<_> = steps.iter().skip(from).map(|step| tables::public_name(step)).collect();
        plain.push('`');
        plain.push_str(&names.join("."));
        plain.push('`');
        rest = behind;
    }
    plain.push_str(rest);
    plain.replace('\n', " ").replace("  ", "\n\n")
}

impl Member {
    /// Its default for people, if it has one.
    pub(super) fn default_text(&self) -> Option<String> {
        let default = self.bounds.get("default")?;
        Some(default.as_str().map_or_else(|| default.to_string(), str::to_owned))
    }

    /// What is said of it, with its default.
    pub(super) fn full_doc(&self) -> String {
        match self.default_text() {
            Some(default) => format!("{} Default: `{default}`.", self.doc),
            None => self.doc.clone(),
        }
    }
}

impl Type {
    /// Its JSON Schema; names become references into this place.
    pub(super) fn schema(&self, place: &str) -> Value {
        match self {
            Type::Text | Type::OpenWords(_) => json!({ "type": "string" }),
            Type::Integer => json!({ "type": "integer" }),
            Type::Boolean => json!({ "type": "boolean" }),
            Type::Flag(flag) => json!({ "const": flag }),
            Type::Null => json!({ "type": "null" }),
            Type::Json => json!({}),
            Type::Members => json!({ "type": "object" }),
            Type::Schema => json!({ "type": ["object", "boolean"] }),
            Type::Words(words) => {
                json!({ "type": "string", "enum": words.iter().map(|(word, _)| word).collect::<Vec<_>>() })
            }
            Type::Name(name) => json!({ "$ref": format!("{place}{name}") }),
            Type::List(item) => json!({ "type": "array", "items": item.schema(place) }),
            Type::Union(kinds) => {
                json!({ "anyOf": kinds.iter().map(|kind| kind.schema(place)).collect::<Vec<_>>() })
            }
        }
    }
}
