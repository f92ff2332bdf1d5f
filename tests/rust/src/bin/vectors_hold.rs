//! Whether the vectors of the files named hold; the first that does not is the end. For looking at many faults in the core,
//! where any difference will do and most files have nothing to do with the fault.

use std::path::Path;
use std::process::ExitCode;

use turnlatch_tests::{execute, read_file};

fn main() -> ExitCode {
    for path in std::env::args().skip(1) {
        // Said before, because a fault may end this.
        println!("{path}");
        for vector in read_file(Path::new(&path)).vectors {
            if execute(&vector) != vector {
                println!("does not hold: {}", vector.name);
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
