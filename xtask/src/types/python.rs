//! Python: `TypedDict`s with the documentation of the fields, as Ruff formats them.
//!
//! datamodel-code-generator numbers the forms of unions (`ExplainedCheck1` to `ExplainedCheck23`), adds `None` to every
//! optional member, and postpones annotations, from which `__required_keys__` is wrong.

use std::fmt::Write;

use super::model::{Body, Definition, Member, Model, Presence, Type};
use super::typescript::with_words;
use super::wrapped;

/// The text of `types.py`.
///
/// # Errors
/// A message, if a name is not known.
pub(super) fn emit(model: &Model) -> Result<String, String> {
    let mut emitter = Emitter { model, done: Vec::new(), text: include_str!("preamble.py").to_owned() };
    for definition in &model.definitions {
        emitter.definition(definition)?;
    }
    Ok(emitter.text)
}

struct Emitter<'m> {
    model: &'m Model,
    done: Vec<&'m str>,
    text: String,
}

impl<'m> Emitter<'m> {
    /// A definition, behind those that it uses.
    fn definition(&mut self, definition: &'m Definition) -> Result<(), String> {
        if self.done.contains(&definition.name.as_str()) {
            return Ok(());
        }
        self.done.push(&definition.name);
        for name in names_in(definition) {
            let used = self.model.get(name).ok_or_else(|| format!("there is no type {name}"))?;
            self.definition(used)?;
        }
        let Definition { name, doc, body, .. } = definition;
        match body {
            Body::Alias(kind) => {
                let words = match kind {
                    Type::Words(words) if name != "Code" => words.as_slice(),
                    _ => &[],
                };
                self.alias(name, kind, &with_words(doc, words));
            }
            Body::Object(members) => self.class(name, "TypedDict", doc, members),
            Body::Union { common, forms } => {
                let mut base = "TypedDict".to_owned();
                if !common.is_empty() {
                    base = format!("_{name}Base");
                    self.class(&base, "TypedDict", &format!("What every `{name}` has."), common);
                }
                for form in forms {
                    self.class(&form.name, &base, &form.doc, &form.members);
                }
                let names = forms.iter().map(|form| Type::Name(form.name.clone())).collect();
                self.text.push('\n');
                self.alias(name, &Type::Union(names), doc);
            }
        }
        Ok(())
    }

    fn alias(&mut self, name: &str, kind: &Type, doc: &str) {
        let head = format!("{name}: TypeAlias = ");
        let separator = if self.text.ends_with("\n\n") || !self.after_class() { "\n" } else { "\n\n" };
        self.text.push_str(separator);
        let line = format!("{head}{}", name_of(kind));
        if line.chars().count() <= WIDTH {
            let _ = writeln!(self.text, "{line}");
        } else if let Type::Union(kinds) = kind {
            let names: Vec<_> = kinds.iter().map(name_of).collect();
            let inner = format!("    {}", names.join(" | "));
            let parts = if inner.chars().count() <= WIDTH { inner } else { format!("    {}", names.join("\n    | ")) };
            let _ = writeln!(self.text, "{head}(\n{parts}\n)");
        } else {
            let _ = writeln!(self.text, "{}", exploded(&head, kind, ""));
        }
        self.docstring(doc, "");
    }

    fn after_class(&self) -> bool {
        let last = self.text.lines().last().unwrap_or_default();
        last.starts_with("    ")
    }

    fn class(&mut self, name: &str, base: &str, doc: &str, members: &[Member]) {
        self.text.push_str(if self.text.ends_with("\n\n") { "\n" } else { "\n\n" });
        let _ = writeln!(self.text, "class {name}({base}):");
        self.docstring(doc, "    ");
        self.text.push('\n');
        for member in members {
            let head = format!("    {}: ", member.name);
            let line = match member.presence {
                Presence::Required => format!("{head}{}", name_of(&member.kind)),
                Presence::Optional => format!("{head}NotRequired[{}]", name_of(&member.kind)),
                // Some forms have it: so it can be read, as absent, before the form is known.
                Presence::Absent => format!("{head}NotRequired[Absent]"),
            };
            if line.chars().count() <= WIDTH {
                let _ = writeln!(self.text, "{line}");
            } else if let (Presence::Optional, kind) = (member.presence, &member.kind) {
                let inner = exploded("        ", kind, "        ");
                let _ = writeln!(self.text, "{head}NotRequired[\n{inner}\n    ]");
            } else {
                let _ = writeln!(self.text, "{}", exploded(&head, &member.kind, "    "));
            }
            if member.presence != Presence::Absent {
                self.docstring(&member.full_doc(), "    ");
            }
        }
    }

    fn docstring(&mut self, doc: &str, indent: &str) {
        if doc.is_empty() {
            return;
        }
        let doc = doc.replace('\\', "\\\\");
        if !doc.contains('\n') && indent.len() + doc.chars().count() + 6 <= WIDTH {
            let _ = writeln!(self.text, "{indent}\"\"\"{doc}\"\"\"");
            return;
        }
        let lines = wrapped(&doc, WIDTH - indent.len() - 3);
        let body = lines.join(&format!("\n{indent}")).replace(&format!("\n{indent}\n"), "\n\n");
        let _ = writeln!(self.text, "{indent}\"\"\"{body}\n{indent}\"\"\"");
    }
}

/// Words in lines of their own.
fn exploded(head: &str, kind: &Type, indent: &str) -> String {
    match kind {
        Type::Words(words) => {
            let lines: Vec<_> = words.iter().map(|(word, _)| format!("{indent}    \"{word}\",")).collect();
            format!("{head}Literal[\n{}\n{indent}]", lines.join("\n"))
        }
        kind => format!("{head}{}", name_of(kind)),
    }
}

fn names_in(definition: &Definition) -> Vec<&str> {
    let mut names = Vec::new();
    match &definition.body {
        Body::Alias(kind) => collect(kind, &mut names),
        Body::Object(members) => members.iter().for_each(|member| collect(&member.kind, &mut names)),
        Body::Union { common, forms } => {
            let members = common.iter().chain(forms.iter().flat_map(|form| &form.members));
            members.for_each(|member| collect(&member.kind, &mut names));
        }
    }
    names
}

fn collect<'t>(kind: &'t Type, names: &mut Vec<&'t str>) {
    match kind {
        Type::Name(name) => names.push(name),
        Type::List(item) => collect(item, names),
        Type::OpenWords(words) => collect(words, names),
        Type::Union(kinds) => kinds.iter().for_each(|kind| collect(kind, names)),
        _ => {}
    }
}

fn name_of(kind: &Type) -> String {
    match kind {
        Type::Text => "str".to_owned(),
        Type::Integer => "int".to_owned(),
        Type::Boolean => "bool".to_owned(),
        Type::Flag(true) => "Literal[True]".to_owned(),
        Type::Flag(false) => "Literal[False]".to_owned(),
        Type::Null => "None".to_owned(),
        Type::Json => "Json".to_owned(),
        Type::Members => "dict[str, Json]".to_owned(),
        Type::Schema => "dict[str, Json] | bool".to_owned(),
        Type::Words(words) => {
            let words: Vec<_> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            format!("Literal[{}]", words.join(", "))
        }
        // The words are for readers: a checker takes any text.
        Type::OpenWords(words) => format!("{} | str", name_of(words)),
        Type::Name(name) => name.clone(),
        Type::List(item) => format!("list[{}]", name_of(item)),
        Type::Union(kinds) => kinds.iter().map(name_of).collect::<Vec<_>>().join(" | "),
    }
}

const WIDTH: usize = 120;
