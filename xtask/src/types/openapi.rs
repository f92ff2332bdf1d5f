//! `OpenAPI`: the schemas of the core's types among those that a service describes by hand.

use serde_json::{Map, Value, json};

use super::model::{Body, Definition, Member, Model, Presence, Type};

/// The document with the core's schemas as they are now: those that it refers to, behind its own.
///
/// # Errors
/// A message, if the document cannot be read.
pub(super) fn emit(model: &Model, document: &str) -> Result<String, String> {
    let mut document: Value = serde_json::from_str(document).map_err(|error| format!("openapi.json: {error}"))?;
    let place = document.pointer_mut("/components/schemas").ok_or("openapi.json has no schemas")?;
    let schemas = place.take();
    let is_own = |name: &String| name != LISTED_VIEW && generated(model, name).is_none();
    let mut all: Map<String, Value> = schemas.as_object().cloned().unwrap_or_default();
    all.retain(|name, _| is_own(name));
    let mut wanted = Vec::new();
    references(&document, &mut wanted);
    references(&Value::Object(all.clone()), &mut wanted);
    let mut found = Map::new();
    while let Some(name) = wanted.pop() {
        if all.contains_key(&name) || found.contains_key(&name) {
            continue;
        }
        let schema = if name == LISTED_VIEW {
            generated(model, "StatusView").map(|definition| schema_of(&without_result(definition)))
        } else {
            generated(model, &name).map(schema_of)
        };
        let schema = schema.ok_or_else(|| format!("openapi.json refers to {name}, which there is not"))?;
        references(&schema, &mut wanted);
        found.insert(name, schema);
    }
    for name in model.definitions.iter().map(|definition| definition.name.as_str()).chain([LISTED_VIEW]) {
        if let Some(schema) = found.shift_remove(name) {
            all.insert(name.to_owned(), schema);
        }
    }
    if let Some(place) = document.pointer_mut("/components/schemas") {
        *place = Value::Object(all);
    }
    let mut text = String::new();
    print(&document, 0, 0, true, &mut text);
    text.push('\n');
    Ok(text)
}

/// A view in a list of runs.
const LISTED_VIEW: &str = "ListedView";
const PLACE: &str = "#/components/schemas/";
const WIDTH: usize = 129;

/// What a service sends to lookers-on is another message than that of the drivers.
fn generated<'m>(model: &'m Model, name: &str) -> Option<&'m Definition> {
    model.get(name).filter(|_| name != "Said")
}

/// Results may be large, and nobody looks at them in a list.
fn without_result(definition: &Definition) -> Definition {
    let mut definition = Definition { doc: "A status view without the result.".to_owned(), ..definition.clone() };
    if let Body::Union { forms, .. } = &mut definition.body {
        for form in forms {
            form.members.retain(|member| !matches!(member.name.as_str(), "data" | "data_text"));
        }
    }
    definition
}

fn references(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if let Some(name) = members.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix(PLACE)) {
                names.push(name.to_owned());
            }
            members.values().for_each(|member| references(member, names));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, names)),
        _ => {}
    }
}

fn schema_of(definition: &Definition) -> Value {
    let schema = match &definition.body {
        Body::Alias(kind) => match kind {
            Type::Union(kinds) => {
                json!({ "oneOf": kinds.iter().map(|kind| kind.schema(PLACE)).collect::<Vec<_>>() })
            }
            kind => kind.schema(PLACE),
        },
        Body::Object(members) => object(members),
        Body::Union { common, forms } => {
            let forms = forms.iter().map(|form| {
                let members: Vec<_> = common.iter().chain(&form.members).cloned().collect();
                describe(object(&members), &form.doc)
            });
            json!({ "oneOf": forms.collect::<Vec<_>>() })
        }
    };
    describe(schema, &definition.doc)
}

fn object(members: &[Member]) -> Value {
    let members = members.iter().filter(|member| member.presence != Presence::Absent);
    let required = members.clone().filter(|member| member.presence == Presence::Required);
    let required: Vec<_> = required.map(|member| member.name.clone()).collect();
    let properties: Map<String, Value> = members.map(|member| (member.name.clone(), property(member))).collect();
    json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false })
}

fn property(member: &Member) -> Value {
    let mut schema = member.kind.schema(PLACE);
    if let Value::Object(schema) = &mut schema {
        schema.extend(member.bounds.clone());
    }
    describe(schema, &member.doc)
}

fn describe(mut schema: Value, doc: &str) -> Value {
    if let Some(members) = schema.as_object_mut().filter(|_| !doc.is_empty()) {
        members.insert("description".to_owned(), Value::String(doc.replace("\n\n", " ")));
    }
    schema
}

/// Prints what fits into one line so; `before` is what stands before it on its line.
fn print(value: &Value, indent: usize, before: usize, is_last: bool, text: &mut String) {
    let line = compact(value);
    let has_parts = value.as_object().is_some_and(|members| !members.is_empty())
        || value.as_array().is_some_and(|items| !items.is_empty());
    if !has_parts || indent + before + line.chars().count() + usize::from(!is_last) <= WIDTH {
        text.push_str(&line);
        return;
    }
    let inner = indent + 2;
    let margin = format!("\n{}", " ".repeat(inner));
    let (open, close) = if value.is_object() { ('{', '}') } else { ('[', ']') };
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(name, member)| (format!("{}: ", json!(name)), member)).collect(),
        Value::Array(items) => items.iter().map(|item| (String::new(), item)).collect(),
        _ => Vec::new(),
    };
    text.push(open);
    for (index, (name, part)) in parts.iter().enumerate() {
        text.push_str(&margin);
        text.push_str(name);
        let is_last = index + 1 == parts.len();
        print(part, inner, name.chars().count(), is_last, text);
        if !is_last {
            text.push(',');
        }
    }
    text.push('\n');
    text.push_str(&" ".repeat(indent));
    text.push(close);
}

fn compact(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter().map(|(name, member)| format!("{}: {}", json!(name), compact(member)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(compact).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}
