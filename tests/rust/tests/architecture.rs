//! The folders of the core import in one direction: `types <- json <- schema, agents <- admission <- turn <- lifecycle
//! <- persist <- inspect, hosting`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders, from what knows nothing to what knows everything. A folder imports from its own level only itself.
const LEVELS: [&[&str]; 9] = [
    &["types", "text"],
    &["json"],
    &["schema", "agents"],
    &["admission"],
    &["turn"],
    &["lifecycle"],
    &["persist"],
    &["inspect", "hosting"],
    &["lib"],
];

/// Imports that still point back, as `file -> folder`. The list only gets shorter.
const BACK: &[&str] = &[];

#[test]
fn imports_point_one_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../core/src");
    let mut back = BTreeSet::new();
    for file in sources(&root) {
        let name = file.strip_prefix(&root).unwrap().with_extension("").to_string_lossy().replace('\\', "/");
        let own = name.split('/').next().unwrap();
        for folder in imported(&fs::read_to_string(&file).unwrap()) {
            if folder != own && level(&folder) >= level(own) && !same_ground(&folder, own) {
                back.insert(format!("{name} -> {folder}"));
            }
        }
    }
    let listed: BTreeSet<_> = BACK.iter().map(|arrow| (*arrow).to_owned()).collect();
    let new: Vec<_> = back.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&back).collect();
    assert!(new.is_empty(), "imports that point back: {new:#?}");
    assert!(gone.is_empty(), "no longer there, take them off the list: {gone:#?}");
}

/// `text` stands beside `types`, and they may import each other.
fn same_ground(one: &str, other: &str) -> bool {
    level(one) == 0 && level(other) == 0
}

fn level(folder: &str) -> usize {
    let found = LEVELS.iter().position(|level| level.contains(&folder));
    found.unwrap_or_else(|| panic!("core/src/{folder} has no place in the order of imports"))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            files.push(path);
        }
    }
    files
}

/// The folders that product code names in `crate::folder`; tests at the end of a file may import what they like.
fn imported(source: &str) -> BTreeSet<String> {
    assert!(!source.contains("crate::{"), "write one `use crate::folder` for each folder");
    let product = source.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = product.lines().filter(|line| !line.trim_start().starts_with("//"));
    let after = lines.flat_map(|line| line.split("crate::").skip(1));
    after
        .map(|rest| rest.chars().take_while(|sign| sign.is_ascii_lowercase() || *sign == '_').collect::<String>())
        .filter(|folder| !folder.is_empty())
        .collect()
}
