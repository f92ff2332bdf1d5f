//! What a panic leaves behind. No input reaches one; if one happens anyway, its message must not be lost. Builds for
//! browsers have no messages of panics, to be small: all that they leave is the trap.

#[cfg(feature = "panic-messages")]
use std::cell::RefCell;

use wasm_bindgen::prelude::*;

#[cfg(feature = "panic-messages")]
thread_local! {
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs once per instance, before anything else.
#[cfg(feature = "panic-messages")]
#[wasm_bindgen(start)]
pub fn remember_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.to_string();
        LAST.with(|last| last.replace(Some(message)));
    }));
}

/// The message of the panic that broke this instance.
#[wasm_bindgen]
#[must_use]
pub fn last_panic() -> Option<String> {
    #[cfg(feature = "panic-messages")]
    return LAST.with(|last| last.borrow().clone());
    #[cfg(not(feature = "panic-messages"))]
    None
}
