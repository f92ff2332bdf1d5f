//! `cargo run --package xtask -- wasm` builds the wasm files of the JavaScript package and their glue; `types` generates the
//! types of TypeScript, Python and `OpenAPI` from those of the core.

mod types;
mod wasm;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["wasm"] => wasm::package(),
        ["wasm", "--slim"] => wasm::slim(),
        ["wasm", "--limit"] => wasm::limit(),
        ["types"] => types::write(),
        ["types", "--check"] => types::check(),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

const USAGE: &str = "usage: cargo run --package xtask -- wasm [--slim | --limit] | types [--check]";
