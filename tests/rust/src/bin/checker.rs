//! Answers each script on standard input (one JSON document a line) with its transcript on a line of standard output.

use std::io::{BufRead, Write, stdin, stdout};

use serde_json::json;
use turnlatch_tests::{Script, transcript};

fn main() -> std::io::Result<()> {
    for line in stdin().lock().lines() {
        let script: Script = serde_json::from_str(&line?).expect("a script as tests/README.md describes it");
        let mut out = stdout().lock();
        writeln!(out, "{}", json!(transcript(&script)))?;
        // Whoever asks may wait for the answer before it asks again.
        out.flush()?;
    }
    Ok(())
}
