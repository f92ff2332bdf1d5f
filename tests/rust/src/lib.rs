//! Runs the vectors of `tests/vectors` against the core. The format is described in `tests/README.md`.
//!
//! A vector is executed into its own filled-in form; it holds if that form equals the file.

pub mod diagram;
pub mod differential;
mod format;
pub mod fuzzing;
pub mod gates;
pub mod holding;
pub mod hostile;
pub mod hostile_schemas;
pub mod laws;
pub mod suites;
mod tamper;
mod tiny_host;
mod transcript;
mod vector;
pub mod watched;

pub use format::write_file;
pub use tiny_host::{Loss, TinyHost};
pub use transcript::{Script, Telling, TextMark, Thrown, digest, transcript};
pub use vector::{Vector, VectorFile, execute, expand};

use std::path::{Path, PathBuf};

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The folder of the repository.
#[must_use]
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every vector file, in a fixed order.
///
/// # Panics
/// If a folder cannot be read or a file is not a vector file.
#[must_use]
pub fn vector_files() -> Vec<(PathBuf, VectorFile)> {
    files_below("tests/vectors")
}

/// Every attack, a file of one vector each, in a fixed order.
///
/// # Panics
/// If a folder cannot be read or a file is not a vector file.
#[must_use]
pub fn attack_files() -> Vec<(PathBuf, VectorFile)> {
    files_below("tests/adversarial")
}

fn files_below(folder: &str) -> Vec<(PathBuf, VectorFile)> {
    let mut paths = Vec::new();
    let mut folders = vec![repository().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of vectors") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), read_file(&path))).collect()
}

/// A file of vectors.
///
/// # Panics
/// If it cannot be read or is not one.
#[must_use]
pub fn read_file(path: &Path) -> VectorFile {
    let text = std::fs::read_to_string(path).expect("a readable file");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
