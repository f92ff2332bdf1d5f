//! The desk: memory on which JavaScript lays what it hands over, and finds what it is told.
//!
//! A step of a run crosses by it in one call that takes and gives numbers; nothing is allocated on the way, and nothing has
//! to be freed. Whatever else crosses is longer or rarer, and goes by the glue.

use std::cell::RefCell;

use wasm_bindgen::prelude::*;

use crate::convert::text;

thread_local! {
    static GIVEN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static TOLD: RefCell<String> = const { RefCell::new(String::new()) };
    static NUMBERS: RefCell<[f64; NUMBERS_AT_MOST]> = const { RefCell::new([0.0; NUMBERS_AT_MOST]) };
}

/// More than the effects of any step; if it ever were less, they would be told as text.
const NUMBERS_AT_MOST: usize = 64;
/// What a long text needed is given back when it has been read.
const KEPT_BYTES: usize = 16 * 1024;

/// Where JavaScript may lay this many bytes; what it has laid there is still there.
#[wasm_bindgen]
#[must_use]
pub fn desk_room(bytes: usize) -> *mut u8 {
    GIVEN.with_borrow_mut(|given| {
        if given.len() < bytes {
            given.resize(bytes.max(KEPT_BYTES), 0);
        }
        given.as_mut_ptr()
    })
}

/// Where the text is that was told last.
#[wasm_bindgen]
#[must_use]
pub fn desk_told() -> *const u8 {
    TOLD.with_borrow(|told| told.as_ptr())
}

/// Where the numbers are that were told last.
#[wasm_bindgen]
#[must_use]
pub fn desk_numbers() -> *const f64 {
    NUMBERS.with_borrow(|numbers| numbers.as_ptr())
}

/// Works on a text that was laid here, and answers with the length of what is told; it is negative for an error.
///
/// Nothing is borrowed while the core works: it may ask a validator outside, and if it breaks, the desk is as good as new.
pub(crate) fn answer(length: usize, work: impl FnOnce(&str, &mut String) -> Result<(), JsValue>) -> i32 {
    let (given, mut told) = (GIVEN.take(), TOLD.take());
    told.clear();
    told.shrink_to(KEPT_BYTES);
    let done = text(given.get(..length).unwrap_or_default()).and_then(|text| work(text, &mut told));
    if given.len() <= KEPT_BYTES {
        GIVEN.set(given);
    }
    let sign = if done.is_ok() { 1 } else { -1 };
    if let Err(error) = done {
        told = error.as_string().unwrap_or_default();
    }
    // An instance has 32 bits of memory, and no text has half of it.
    let length = i32::try_from(told.len()).unwrap_or(i32::MAX);
    TOLD.set(told);
    sign * length
}

/// Tells numbers.
pub(crate) fn with_numbers<T>(write: impl FnOnce(&mut [f64]) -> T) -> T {
    NUMBERS.with_borrow_mut(|numbers| write(numbers))
}
