//! Whether vectors hold, for every test that runs files of them.

use std::path::PathBuf;

use serde_json::Value;

use crate::{Vector, VectorFile, execute, write_file};

/// Carries out every vector of the files and says how many there were, and how many steps; with `UPDATE_VECTORS=1` what
/// they expect is rewritten.
///
/// # Panics
/// If one does not hold, with what is different.
pub fn assert_all_hold(files: Vec<(PathBuf, VectorFile)>) -> (usize, usize) {
    let update = std::env::var_os("UPDATE_VECTORS").is_some();
    let (mut count, mut steps) = (0, 0);
    let mut broken = Vec::new();
    for (path, file) in files {
        let mut filled = file.clone();
        for vector in &mut filled.vectors {
            let executed = execute(vector);
            if executed != *vector && !update {
                broken.push(format!("{}: {}\n{}", path.display(), vector.name, difference(vector, &executed)));
            }
            *vector = executed;
            count += 1;
            steps += vector.steps.len();
        }
        if update {
            std::fs::write(&path, write_file(&filled)).expect("a writable file");
        }
    }
    assert!(broken.is_empty(), "{} vectors do not hold:\n{}", broken.len(), broken.join("\n"));
    (count, steps)
}

/// The names that stand more than once in the files.
#[must_use]
pub fn repeated_names(files: Vec<(PathBuf, VectorFile)>) -> Vec<String> {
    let mut names: Vec<String> =
        files.into_iter().flat_map(|(_, file)| file.vectors).map(|vector| vector.name).collect();
    names.sort();
    names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone()).collect()
}

fn difference(expected: &Vector, found: &Vector) -> String {
    if expected.admission != found.admission {
        return format!("  admission expected {}\n  admission found    {}", expected.admission, found.admission);
    }
    for (index, (expected, found)) in expected.steps.iter().zip(&found.steps).enumerate() {
        if expected != found {
            return format!(
                "  step {} expected {}\n  step {} found    {}",
                index + 1,
                expected.get("then").unwrap_or(&Value::Null),
                index + 1,
                found.get("then").unwrap_or(&Value::Null)
            );
        }
    }
    String::new()
}
