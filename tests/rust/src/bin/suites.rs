//! Carries out the suites that others wrote, and writes every case with its outcome for the other runtimes.
//! `UPDATE_VECTORS=1` pins what was found; read the diff before you commit it.

use std::process::ExitCode;

use turnlatch_tests::suites::{differences, suites_folder, try_suites, write_known};
use turnlatch_tests::{gates, write_file};

fn main() -> ExitCode {
    let report = try_suites();
    let mut wrong = report.broken;
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        write_known(&report.known);
    } else {
        wrong.extend(differences(&report.known));
    }
    std::fs::write(suites_folder().join("cases.json"), write_file(&report.cases)).expect("a writable file");
    report.counts.iter().for_each(|line| println!("{line}"));
    if wrong.is_empty() {
        let cases = |suite: &str| report.cases.vectors.iter().filter(|case| case.name.starts_with(suite)).count();
        let counts = SUITES.map(|suite| (suite, cases(suite)));
        gates::report("suites.rust", &counts);
        return ExitCode::SUCCESS;
    }
    eprintln!("{} are not as they must be:\n{}", wrong.len(), wrong.join("\n"));
    ExitCode::FAILURE
}

const SUITES: [&str; 2] = ["JSON-Schema-Test-Suite", "JSONTestSuite"];
