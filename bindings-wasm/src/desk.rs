//! The desk: memory on which JavaScript lays what it hands over, and finds what it is told.
//!
//! A step of a run crosses by it in one call that takes and gives numbers; nothing is allocated on the way, and nothing has
//! to be freed. What else is handed over is longer or rarer, and goes by the glue; what else is told lies here too.

use std::cell::RefCell;

use wasm_bindgen::prelude::*;

use crate::convert::text;
use crate::errors::Failed;

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
pub(crate) fn answer(length: usize, work: &mut dyn FnMut(&str, &mut String) -> Result<(), Failed>) -> i32 {
    let (given, mut told) = (GIVEN.take(), TOLD.take());
    told.clear();
    told.shrink_to(KEPT_BYTES);
    let done = text(given.get(..length).unwrap_or_default()).and_then(|text| work(text, &mut told));
    if given.len() <= KEPT_BYTES {
        GIVEN.set(given);
    }
    lay(done.map(|()| told))
}

/// Tells a text, or an error, and answers with its length like [`answer`].
pub(crate) fn tell(work: impl FnOnce() -> Result<String, Failed>) -> i32 {
    lay(work())
}

/// Lays down what is told; an error lies there already.
fn lay(told: Result<String, Failed>) -> i32 {
    let sign = if told.is_ok() { 1 } else { -1 };
    if let Ok(text) = told {
        say(text);
    }
    // An instance has 32 bits of memory, and no text has half of it.
    sign * TOLD.with_borrow(|told| i32::try_from(told.len()).unwrap_or(i32::MAX))
}

/// Lays a text down.
pub(crate) fn say(text: String) {
    TOLD.set(text);
}

/// Takes the text that was told last away.
pub(crate) fn said() -> String {
    TOLD.take()
}

/// Tells numbers.
pub(crate) fn with_numbers<T>(write: impl FnOnce(&mut [f64]) -> T) -> T {
    NUMBERS.with_borrow_mut(|numbers| write(numbers))
}
