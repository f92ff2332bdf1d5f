#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnlatch_tests::fuzzing::journals::check(bytes));
