//! TypeScript: interfaces with the documentation of the fields, as Biome formats them.
//!
//! json-schema-to-typescript gives variants of tagged types no names, splits what is flattened into `Effect` and `Effect1`, adds
//! `null` to every optional member, and makes an object of any JSON; it knows no difference between what is written and what
//! is read.

use std::fmt::Write;

use super::model::{Body, Definition, Member, Model, Presence, Type};
use super::wrapped;

/// The text of `types.ts`.
pub(super) fn emit(model: &Model) -> String {
    let mut text = include_str!("preamble.ts").to_owned();
    for definition in &model.definitions {
        text.push('\n');
        emit_definition(definition, &mut text);
    }
    text
}

fn emit_definition(definition: &Definition, text: &mut String) {
    let Definition { name, doc, is_input, body } = definition;
    match body {
        Body::Alias(kind) => {
            let words = match kind {
                Type::Words(words) if name != "Code" => words.as_slice(),
                _ => &[],
            };
            emit_doc(&with_words(doc, words), "", text);
            emit_type(&format!("export type {name} ="), kind, *is_input, "", text);
        }
        Body::Object(members) => {
            emit_doc(doc, "", text);
            emit_interface(&format!("export interface {name}"), members, *is_input, text);
        }
        Body::Union { common, forms } => {
            // A result can be typed: `StatusView<Output>`.
            let is_generic = name == "StatusView";
            let mut extends = String::new();
            if !common.is_empty() {
                let _ = writeln!(text, "/** What every `{name}` has. */");
                emit_interface(&format!("interface {name}Base"), common, *is_input, text);
                extends = format!(" extends {name}Base");
                text.push('\n');
            }
            let mut names = Vec::new();
            for (index, form) in forms.iter().enumerate() {
                let has_data = is_generic && form.members.iter().any(is_data);
                let (generic, applied) = if has_data { ("<Data = Json>", "<Data>") } else { ("", "") };
                if index > 0 {
                    text.push('\n');
                }
                emit_doc(&form.doc, "", text);
                let head = format!("export interface {}{generic}{extends}", form.name);
                emit_interface(&head, &form.members, *is_input, text);
                names.push(Type::Name(format!("{}{applied}", form.name)));
            }
            text.push('\n');
            emit_doc(doc, "", text);
            let generic = if is_generic { "<Data = Json>" } else { "" };
            emit_type(&format!("export type {name}{generic} ="), &Type::Union(names), *is_input, "", text);
        }
    }
}

fn emit_interface(head: &str, members: &[Member], is_input: bool, text: &mut String) {
    let _ = writeln!(text, "{head} {{");
    let is_generic = head.contains("<Data");
    for member in members {
        if member.presence == Presence::Absent {
            let _ = writeln!(text, "\t{}?: undefined;", member.name);
            continue;
        }
        emit_doc(&member.full_doc(), "\t", text);
        let optional = member.presence == Presence::Optional;
        let mark = if optional { "?" } else { "" };
        let kind = if is_generic && is_data(member) { Type::Name("Data".to_owned()) } else { member.kind.clone() };
        // Hosts write `reason: maybe`, so undefined counts as absent.
        let kind = if optional && is_input && kind != Type::Json { or_undefined(kind) } else { kind };
        emit_type(&format!("\t{}{mark}:", member.name), &kind, is_input, "\t", text);
    }
    text.push_str("}\n");
}

fn is_data(member: &Member) -> bool {
    member.name == "data" && member.presence != Presence::Absent
}

fn or_undefined(kind: Type) -> Type {
    let undefined = Type::Name("undefined".to_owned());
    match kind {
        Type::Union(mut kinds) => {
            kinds.push(undefined);
            Type::Union(kinds)
        }
        kind => Type::Union(vec![kind, undefined]),
    }
}

/// Writes `head type;` in one line, or the parts of a union in lines of their own.
fn emit_type(head: &str, kind: &Type, is_input: bool, indent: &str, text: &mut String) {
    let parts = parts(kind, is_input);
    let line = format!("{head} {};", parts.join(" | "));
    if line.replace('\t', "  ").chars().count() <= WIDTH || parts.len() == 1 {
        let _ = writeln!(text, "{line}");
        return;
    }
    let _ = write!(text, "{head}");
    for part in parts {
        let _ = write!(text, "\n{indent}\t| {part}");
    }
    text.push_str(";\n");
}

fn parts(kind: &Type, is_input: bool) -> Vec<String> {
    match kind {
        Type::Union(kinds) => kinds.iter().flat_map(|kind| parts(kind, is_input)).collect(),
        Type::Words(words) => words.iter().map(|(word, _)| format!("'{word}'")).collect(),
        // Numbers that an agent or a database made may be too large for a JavaScript number.
        Type::Integer if is_input => vec!["number".to_owned(), "bigint".to_owned()],
        kind => vec![name_of(kind, is_input)],
    }
}

fn name_of(kind: &Type, is_input: bool) -> String {
    match kind {
        Type::Text => "string".to_owned(),
        Type::Integer => "number".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Flag(flag) => flag.to_string(),
        Type::Null => "null".to_owned(),
        Type::Json if is_input => "JsonInput".to_owned(),
        Type::Json => "Json".to_owned(),
        Type::Members => "{ [key: string]: Json }".to_owned(),
        Type::Schema => "boolean | object".to_owned(),
        Type::Words(_) | Type::Union(_) => format!("({})", parts(kind, is_input).join(" | ")),
        // Editors complete the words, and any other text is taken.
        Type::OpenWords(words) => format!("{} | (string & {{}})", name_of(words, is_input)),
        Type::Name(name) => name.clone(),
        Type::List(item) if is_input => format!("readonly {}[]", name_of(item, is_input)),
        Type::List(item) => format!("{}[]", name_of(item, is_input)),
    }
}

fn emit_doc(doc: &str, indent: &str, text: &mut String) {
    if doc.is_empty() {
        return;
    }
    let doc = doc.replace("*/", "*\\/");
    let line = format!("{indent}/** {doc} */");
    if !doc.contains('\n') && line.chars().count() <= WIDTH {
        let _ = writeln!(text, "{line}");
        return;
    }
    let _ = writeln!(text, "{indent}/**");
    for line in wrapped(&doc, WIDTH - 4 - indent.len()) {
        let _ = writeln!(text, "{}", format!("{indent} * {line}").trim_end());
    }
    let _ = writeln!(text, "{indent} */");
}

/// A sentence about a type of words, with what each of them means.
pub(super) fn with_words(doc: &str, words: &[(String, String)]) -> String {
    let mut text = doc.to_owned();
    if words.iter().any(|(_, meaning)| !meaning.is_empty()) {
        text.push('\n');
        for (word, meaning) in words {
            let _ = write!(text, "\n- `{word}`: {meaning}");
        }
    }
    text
}

const WIDTH: usize = 120;
