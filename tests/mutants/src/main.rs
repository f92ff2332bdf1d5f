//! Writes a copy of the core that has all faults of a list in it. One of them is switched on when the copy runs; without
//! one the copy does what the core does. So thousands of faults are tried with one build.
//!
//! usage: turnlatch-mutants SOURCE COPY < list     both are folders of repositories
//!
//! The list is that of `cargo mutants --list --json`, and each fault has a number, `id`, besides. The answer on standard output
//! says where in the copy each fault stands, so that those that do not build are found by the compiler's messages, and which
//! faults cannot be switched.

mod edits;
mod faults;
mod visitor;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::faults::Fault;

/// The switch itself, which is added to the copy.
const SWITCH: &str = include_str!("switch.rs");
const SOURCES: &str = "core/src";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(source), Some(copy)) = (arguments.next(), arguments.next()) else {
        return Err("usage: turnlatch-mutants SOURCE COPY < list".into());
    };
    let mut of_file: BTreeMap<String, Vec<Fault>> = BTreeMap::new();
    for fault in serde_json::from_reader::<_, Vec<Fault>>(io::stdin())? {
        of_file.entry(fault.file.clone()).or_default().push(fault);
    }
    let (mut placed, mut left) = (Vec::new(), Vec::new());
    for path in rust_files(&source.join(SOURCES))? {
        let name = path.strip_prefix(&source)?.to_string_lossy().into_owned();
        let text = fs::read_to_string(&path)?;
        let written = visitor::write(&text, of_file.remove(&name).unwrap_or_default())?;
        let text = if name == "core/src/lib.rs" { with_switch(&written.text) } else { written.text };
        write_if_changed(&copy.join(&name), &text)?;
        placed.extend(written.placed.into_iter().map(|place| {
            let [text, whole] = [place.text, place.whole].map(|range| [range.start, range.end]);
            json!({ "id": place.id, "file": name, "text": text, "whole": whole })
        }));
        left.extend(written.left.into_iter().map(|(id, reason)| json!({ "id": id, "reason": reason })));
    }
    if let Some((file, _)) = of_file.pop_first() {
        return Err(format!("{file} has faults, but is not there").into());
    }
    write_if_changed(&copy.join(SOURCES).join("switch.rs"), SWITCH)?;
    println!("{}", Value::from_iter([("placed", placed), ("left", left)]));
    Ok(())
}

fn rust_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The switch comes last, so that nothing before it moves.
fn with_switch(library: &str) -> String {
    format!("{library}\nmod switch;\npub(crate) use switch::mutant;\n")
}

/// Cargo builds again what was written after the last build.
fn write_if_changed(path: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}
