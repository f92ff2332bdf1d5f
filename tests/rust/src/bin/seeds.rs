//! Writes what the fuzzers in `fuzz/` begin with, into the folder that is named: inputs from the vectors, and words.
//!
//! usage: seeds folder

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use turnlatch::Code;
use turnlatch_tests::fuzzing::TARGETS;
use turnlatch_tests::vector_files;

fn main() {
    let folder = PathBuf::from(std::env::args().nth(1).expect("usage: seeds folder"));
    for target in TARGETS {
        let inputs = folder.join(target.name);
        let _ = fs::remove_dir_all(&inputs);
        fs::create_dir_all(&inputs).expect("a folder that can be made");
        let seeds: BTreeSet<_> = (target.seeds)().into_iter().filter(|seed| seed.len() <= MOST_BYTES).collect();
        for (number, seed) in seeds.iter().enumerate() {
            fs::write(inputs.join(format!("{number:04}")), seed).expect("a file that can be written");
        }
        println!("{} {} inputs", seeds.len(), target.name);
    }
    // libFuzzer takes no empty word.
    let words: BTreeSet<_> = words().into_iter().filter(|word| (1..=MOST_WORD_BYTES).contains(&word.len())).collect();
    let lines: String = words.iter().map(|word| format!("\"{}\"\n", escaped(word))).collect();
    fs::write(folder.join("words"), lines).expect("a file that can be written");
}

/// The names that stand in vectors, and the codes.
fn words() -> Vec<String> {
    let mut words: Vec<String> = Code::ALL.iter().map(|code| code.as_str().to_owned()).collect();
    let mut open: Vec<Value> = Vec::new();
    for (_, file) in vector_files() {
        for vector in file.vectors {
            open.push(Value::Object(vector.given));
            open.extend(vector.steps.into_iter().map(Value::Object));
        }
    }
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                for (key, member) in members {
                    words.push(key);
                    open.push(member);
                }
            }
            _ => {}
        }
    }
    words
}

/// As libFuzzer reads it.
fn escaped(word: &str) -> String {
    word.bytes().fold(String::new(), |escaped, byte| match byte {
        b'"' | b'\\' => format!("{escaped}\\{}", char::from(byte)),
        b' '..=b'~' => format!("{escaped}{}", char::from(byte)),
        _ => format!("{escaped}\\x{byte:02x}"),
    })
}

/// A fuzzer is fast with small inputs.
const MOST_BYTES: usize = 4096;
const MOST_WORD_BYTES: usize = 40;
