//! Types of other languages, generated from the wire types of the core: one definition, so that none of them is out of date.
//!
//! `schemars` says in JSON Schema what `serde` writes and reads; `model` reads that into what the languages have in common,
//! and each language has an emitter.

mod described;
mod model;
mod openapi;
mod python;
mod tables;
mod typescript;

use std::path::{Path, PathBuf};

use model::Model;

/// Writes the generated files.
///
/// # Errors
/// A message, if a file cannot be read or written.
pub(crate) fn write() -> Result<(), String> {
    for (path, text) in generated()? {
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Compares the generated files with what they should be.
///
/// # Errors
/// The names of those that are not.
pub(crate) fn check() -> Result<(), String> {
    let stale: Vec<String> = generated()?
        .into_iter()
        .filter(|(path, text)| std::fs::read_to_string(path).ok().as_ref() != Some(text))
        .map(|(path, _)| path.strip_prefix(repository()).unwrap_or(&path).display().to_string())
        .collect();
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!("not up to date, run `make types`: {}", stale.join(", ")))
}

fn generated() -> Result<[(PathBuf, String); 3], String> {
    let model = Model::of_the_core()?;
    let openapi = repository().join("examples/service/openapi.json");
    let described = std::fs::read_to_string(&openapi).map_err(|error| format!("{}: {error}", openapi.display()))?;
    Ok([
        (repository().join("bindings-wasm/js/types.ts"), typescript::emit(&model)),
        (repository().join("bindings-python/python/turnlatch/types.py"), python::emit(&model)?),
        (openapi, openapi::emit(&model, &described)?),
    ])
}

/// A text broken into lines of at most so many characters.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
                if paragraph.starts_with("- ") {
                    line.push(' ');
                }
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

fn repository() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
