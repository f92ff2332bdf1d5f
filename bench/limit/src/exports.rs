//! The limit in wasm: JavaScript writes a turn's bytes into the room that it is given, and asks for the verdict.

use std::cell::{OnceCell, RefCell};

use crate::{Limit, Verdict};

thread_local! {
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static LIMIT: OnceCell<Limit> = const { OnceCell::new() };
}

/// Room for this many bytes of text.
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *mut u8 {
    ROOM.with_borrow_mut(|room| {
        room.resize(bytes.max(room.len()), 0);
        room.as_mut_ptr()
    })
}

/// Takes the text in the room for the schema.
#[unsafe(no_mangle)]
pub extern "C" fn compile(bytes: usize) {
    with_text(bytes, |schema| LIMIT.with(|limit| drop(limit.set(Limit::new(schema)))));
}

/// The verdict on the text in the room: -2 for a failure, -1 for a wait, else how many items the output has.
#[unsafe(no_mangle)]
pub extern "C" fn judge(bytes: usize, is_stream: bool) -> i32 {
    LIMIT.with(|limit| {
        let limit = limit.get().expect("a schema");
        let judge = if is_stream { Limit::judge_stream } else { Limit::judge_text };
        match with_text(bytes, |text| judge(limit, text)) {
            Verdict::Failed => -2,
            Verdict::WaitingUser => -1,
            Verdict::Succeeded(items) => i32::try_from(items).unwrap_or(i32::MAX),
        }
    })
}

fn with_text<T>(bytes: usize, work: impl FnOnce(&str) -> T) -> T {
    ROOM.with_borrow(|room| work(std::str::from_utf8(&room[..bytes]).expect("UTF-8")))
}
