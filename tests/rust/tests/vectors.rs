//! Every vector holds. `UPDATE_VECTORS=1` rewrites what they expect; read the diff before you commit it.

use turnlatch_tests::{execute, vector_files, write_file};

#[test]
fn every_vector_holds() {
    let update = std::env::var_os("UPDATE_VECTORS").is_some();
    let mut count = 0;
    let mut broken = Vec::new();
    for (path, file) in vector_files() {
        let mut filled = file.clone();
        for vector in &mut filled.vectors {
            let executed = execute(vector);
            if executed != *vector && !update {
                broken.push(format!("{}: {}\n{}", path.display(), vector.name, difference(vector, &executed)));
            }
            *vector = executed;
            count += 1;
        }
        if update {
            std::fs::write(&path, write_file(&filled)).expect("a writable file");
        }
    }
    assert!(broken.is_empty(), "{} vectors do not hold:\n{}", broken.len(), broken.join("\n"));
    println!("{count} vectors hold");
}

#[test]
fn names_are_unique() {
    let mut names: Vec<String> =
        vector_files().into_iter().flat_map(|(_, file)| file.vectors).map(|vector| vector.name).collect();
    names.sort();
    let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| &pair[0]).collect();
    assert!(twice.is_empty(), "these names stand twice: {twice:?}");
}

fn difference(expected: &turnlatch_tests::Vector, found: &turnlatch_tests::Vector) -> String {
    if expected.admission != found.admission {
        return format!("  admission expected {}\n  admission found    {}", expected.admission, found.admission);
    }
    for (index, (expected, found)) in expected.steps.iter().zip(&found.steps).enumerate() {
        if expected != found {
            return format!(
                "  step {} expected {}\n  step {} found    {}",
                index + 1,
                expected.get("then").unwrap_or(&serde_json::Value::Null),
                index + 1,
                found.get("then").unwrap_or(&serde_json::Value::Null)
            );
        }
    }
    String::new()
}
