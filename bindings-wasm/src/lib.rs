//! The core for JavaScript. Each method converts in, calls the core, and converts out; `js/` gives it its types.

#[cfg(feature = "full")]
mod admission;
mod convert;
mod errors;
#[cfg(feature = "full")]
mod hosting;
mod journal;
mod run;
#[cfg(feature = "full")]
mod stream;

use wasm_bindgen::prelude::*;

use convert::text;
use errors::Thrown;

/// A step makes some fifty small allocations; here each takes a fraction of what it takes with the standard one, which is
/// also larger.
#[cfg(all(target_family = "wasm", not(target_feature = "atomics")))]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

/// Throws what a panic says, because a trap alone has no message. Builds for browsers have none, to be small.
#[cfg(feature = "panic-messages")]
#[wasm_bindgen(start)]
pub fn throw_panics() {
    std::panic::set_hook(Box::new(|panic| wasm_bindgen::throw_str(&panic.to_string())));
}

/// Every stable code.
#[cfg(feature = "full")]
#[wasm_bindgen]
pub fn codes() -> Result<JsValue, JsValue> {
    convert::data(&turnlatch::Code::ALL.iter().map(|code| code.info()).collect::<Vec<_>>())
}

/// The run that asked for this slot.
#[wasm_bindgen]
#[must_use]
pub fn run_of_slot(slot_id: &str) -> Option<String> {
    turnlatch::hosting::run_of_slot(slot_id).map(str::to_owned)
}

/// The text with escapes, control and bidi characters made visible.
#[wasm_bindgen]
pub fn display_text(shown: &[u8]) -> Result<String, Thrown> {
    Ok(turnlatch::text::display_text(text(shown)?).into_owned())
}

/// The version of the package.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
