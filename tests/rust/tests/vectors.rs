//! Every vector holds. `UPDATE_VECTORS=1` rewrites what they expect; read the diff before you commit it.

use turnlatch_tests::holding::{assert_all_hold, repeated_names};
use turnlatch_tests::{gates, vector_files};

#[test]
fn every_vector_holds() {
    let (vectors, steps) = assert_all_hold(vector_files());
    println!("{vectors} vectors hold");
    gates::report("vectors.rust", &[("vectors", vectors), ("steps", steps)]);
}

#[test]
fn names_are_unique() {
    let twice = repeated_names(vector_files());
    assert!(twice.is_empty(), "these names stand twice: {twice:?}");
}
