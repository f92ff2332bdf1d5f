//! The contenders of the benchmark that are native. `bench-worker NAME` answers requests on standard input, a line each;
//! `bench-worker NAME --cold CASE` decides one turn as soon as it can. `bench/README.md` has the protocol.

mod core;
mod limit;
mod machine;
mod timing;

use std::io::{BufRead, Write, stdin, stdout};
use std::path::Path;
use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};

use timing::Prepared;

/// What is to be done, as `bench/cases.py` writes it.
#[derive(Deserialize)]
struct Case {
    what: String,
    /// An assistant's text, or what its program printed.
    #[serde(default)]
    text: String,
    /// Whether the text is what `codex exec --json` printed.
    #[serde(default)]
    is_stream: bool,
}

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Request {
    Prepare { case: String },
    Run { calls: usize },
    Memory { runs: usize },
}

fn main() -> std::io::Result<()> {
    let began = Instant::now();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, rest @ ..] = arguments.as_slice() else { panic!("usage: bench-worker NAME [--cold CASE]") };
    if let [_cold, case] = rest {
        let decision = prepare(name, &read(case)).map(|prepared| prepared.decision);
        println!("{}", json!({ "nanoseconds": nanoseconds(began), "decision": decision }));
        return Ok(());
    }
    let mut prepared = None;
    for line in stdin().lock().lines() {
        let answer = match serde_json::from_str(&line?).expect("a request") {
            Request::Prepare { case } => {
                prepared = prepare(name, &read(&case));
                prepared.as_ref().map(|prepared| json!({ "decision": prepared.decision }))
            }
            Request::Run { calls } => {
                let batch = &mut prepared.as_mut().expect("something was prepared").batch;
                Some(json!({ "nanoseconds": u64::try_from(batch(calls).as_nanos()).expect("less than a century") }))
            }
            Request::Memory { runs } => {
                (name == "rust").then(|| json!({ "bytes": core::memory_of(runs), "texts": core::texts_of_a_run() }))
            }
        };
        writeln!(stdout(), "{}", answer.unwrap_or_else(|| json!({ "unsupported": true })))?;
    }
    Ok(())
}

fn prepare(name: &str, case: &Case) -> Option<Prepared> {
    match name {
        "rust" => core::prepare(case),
        "rust-limit" => limit::prepare(case),
        "memory-scan" => machine::scan(case),
        "memory-copy" => machine::copy(case),
        other => panic!("there is no contender {other}"),
    }
}

fn read(case: impl AsRef<Path>) -> Case {
    let text = std::fs::read_to_string(case).expect("a case");
    serde_json::from_str(&text).expect("a case as bench/cases.py writes it")
}

fn nanoseconds(since: Instant) -> Value {
    u64::try_from(since.elapsed().as_nanos()).expect("less than a century").into()
}
