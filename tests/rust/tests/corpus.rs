//! What fuzzing has found so far, and what it began with, holds with any compiler.

use std::fs;

use turnlatch_tests::fuzzing::{TARGETS, Target};
use turnlatch_tests::repository;

fn check(target: &Target) {
    let folder = repository().join("fuzz/corpus").join(target.name);
    let kept = fs::read_dir(&folder).expect("a folder of inputs").map(|entry| entry.expect("an entry").path());
    let mut count = 0;
    for path in kept {
        let input = fs::read(&path).expect("an input that can be read");
        println!("{}", path.display());
        (target.check)(&input);
        count += 1;
    }
    assert!(count > 0, "no inputs are kept for {}", target.name);
    let seeds = (target.seeds)();
    assert!(seeds.len() > 20, "the vectors have {} inputs for {}", seeds.len(), target.name);
    seeds.iter().for_each(|seed| (target.check)(seed));
    println!("{}: {count} inputs that are kept and {} from the vectors hold", target.name, seeds.len());
}

#[test]
fn every_input_holds() {
    TARGETS.iter().for_each(check);
}
