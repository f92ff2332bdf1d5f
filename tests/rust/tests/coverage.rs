//! Every rule of `docs/spec.md` and every source scenario of `docs/traceability.md` has a vector, and the code table in
//! `docs/codes.md` is the one in the core.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use turnlatch::Code;
use turnlatch_tests::{repository, vector_files};

#[test]
fn every_rule_has_a_vector() {
    let spec = read("docs/spec.md");
    let rules: BTreeSet<&str> = ids(&spec).collect();
    assert!(rules.len() > 80, "the spec was read: {}", rules.len());
    let covered = covered();
    let missing: Vec<_> = rules.iter().filter(|rule| !covered.contains_key(**rule)).collect();
    assert!(missing.is_empty(), "no vector covers {missing:?}");
}

#[test]
fn every_source_scenario_has_a_vector_and_the_table_names_it() {
    let path = repository().join("docs/traceability.md");
    let text = read("docs/traceability.md");
    let covered = covered();
    let mut missing = Vec::new();
    let mut renewed = String::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let scenario = cells.first().is_some_and(|id| is_scenario(id));
        if scenario {
            let files = covered.get(cells[0]).cloned().unwrap_or_default();
            if files.is_empty() {
                missing.push(cells[0].to_owned());
            }
            let files = files.into_iter().collect::<Vec<_>>().join(", ");
            let _ = writeln!(renewed, "| {} | {} | {} | {files} |", cells[0], cells[1], cells[2]);
        } else {
            let _ = writeln!(renewed, "{line}");
        }
    }
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        std::fs::write(path, renewed).expect("a writable file");
        return;
    }
    assert!(missing.is_empty(), "no vector covers {missing:?}");
    assert_eq!(text, renewed, "docs/traceability.md is out of date: UPDATE_VECTORS=1 renews it");
}

#[test]
fn every_id_a_vector_names_exists() {
    let (spec, scenarios) = (read("docs/spec.md"), read("docs/traceability.md"));
    let known: BTreeSet<&str> =
        ids(&spec).chain(scenarios.split([' ', '|']).filter(|word| is_scenario(word))).collect();
    let unknown: Vec<_> = covered().into_keys().filter(|id| !known.contains(id.as_str())).collect();
    assert!(unknown.is_empty(), "vectors name what does not exist: {unknown:?}");
}

#[test]
fn there_are_enough_vectors() {
    let count: usize = vector_files().iter().map(|(_, file)| file.vectors.len()).sum();
    println!("{count} vectors");
    assert!(count >= 250, "{count} vectors");
}

#[test]
fn the_code_table_in_the_docs_is_the_one_in_the_core() {
    let mut table = String::from("| code | kind | HTTP | meaning | what to do |\n|---|---|---|---|---|\n");
    for info in Code::ALL.iter().map(|code| code.info()) {
        let kind = serde_json::to_value(info.kind).expect("a kind");
        let kind = kind.as_str().expect("a text");
        let _ = writeln!(table, "| `{}` | {kind} | {} | {} | {} |", info.code, info.http, info.meaning, info.remedy);
    }
    let path = repository().join("docs/codes.md");
    let text = format!(
        "# Codes\n\nEvery stable code, once. This page is written from the table in `core/src/types/codes.rs` \
         (`UPDATE_VECTORS=1`), which\n`cargo run -p turnlatch --example codes` prints too.\n\n{table}"
    );
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        std::fs::write(path, text).expect("a writable file");
        return;
    }
    assert_eq!(read("docs/codes.md"), text, "docs/codes.md is out of date: UPDATE_VECTORS=1 renews it");
}

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What is covered, and by which files.
fn covered() -> BTreeMap<String, BTreeSet<String>> {
    let vectors = repository().join("tests/vectors");
    let mut covered: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, file) in vector_files() {
        let name = path.strip_prefix(&vectors).expect("a vector file").with_extension("");
        for id in file.vectors.into_iter().flat_map(|vector| vector.covers) {
            covered.entry(id).or_default().insert(name.display().to_string());
        }
    }
    covered
}

/// Words like `GATE-3`.
fn ids(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !(character.is_ascii_alphanumeric() || character == '-')).filter(|word| {
        word.split_once('-').is_some_and(|(letters, number)| {
            RULE_FAMILIES.contains(&letters) && !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
        })
    })
}

fn is_scenario(word: &str) -> bool {
    word.split_once('-').is_some_and(|(source, number)| {
        ["L0", "L1", "D2", "J3", "P4"].contains(&source) && number.parse::<u32>().is_ok()
    })
}

const RULE_FAMILIES: [&str; 19] = [
    "ADM", "LIFE", "GATE", "MARK", "OUT", "PEND", "SLOT", "TIME", "REPLY", "HIST", "PATCH", "VIEW", "HOST", "OBS",
    "BAD", "ARROW", "WAIT", "RCPT", "STREAM",
];
