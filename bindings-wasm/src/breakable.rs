//! Ways to break an instance, for the tests of what happens then.
#![allow(clippy::panic, reason = "that is what it is for")]

use std::hint::black_box;

use wasm_bindgen::prelude::*;

/// Panics.
#[wasm_bindgen]
pub fn break_by_panic(message: &str) {
    panic!("{message}");
}

/// Recurses without an end in small steps, until the engine's stack is used up.
#[wasm_bindgen]
#[must_use]
pub fn break_by_recursion(depth: u32) -> u32 {
    if black_box(depth) == u32::MAX { 0 } else { break_by_recursion(black_box(depth) + 1) + black_box(1) }
}

/// Recurses with large frames, until the instance's own stack runs over its end.
#[wasm_bindgen]
#[must_use]
pub fn break_by_large_frames(depth: u32) -> u32 {
    let frame = black_box([depth; 16 * 1024]);
    let sum = frame.iter().fold(0_u32, |sum, value| sum.wrapping_add(*value));
    if black_box(depth) == u32::MAX { sum } else { break_by_large_frames(black_box(depth) + 1).wrapping_add(sum) }
}

/// Asks for more memory than there is.
#[wasm_bindgen]
#[must_use]
pub fn break_by_allocation() -> usize {
    let mut hoard = Vec::new();
    loop {
        hoard.push(black_box(vec![1_u8; 512 * 1024 * 1024]));
        if hoard.len() > 64 {
            return hoard.len();
        }
    }
}
