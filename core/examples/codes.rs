//! Prints the code table: every stable code with its HTTP status, its meaning and what to do about it.

use std::io::{self, Write};

use turnlatch::Code;

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let width = Code::ALL.iter().map(|code| code.as_str().len()).max().unwrap_or_default();
    let mut kind = None;
    for info in Code::ALL.iter().map(|code| code.info()) {
        if kind.replace(info.kind) != Some(info.kind) {
            writeln!(out, "\n{:?}", info.kind)?;
        }
        writeln!(out, "  {:width$}  {}  {}", info.code, info.http, info.meaning)?;
        writeln!(out, "  {:width$}       {}", "", info.remedy)?;
    }
    Ok(())
}
