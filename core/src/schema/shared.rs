//! Compiled schemas that are in use, so that a thousand runs of one skill share one.
//!
//! This is a memory of a pure function: it changes how long an answer takes, never the answer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::Compiled;

struct Shared {
    /// There are never many, and texts of different lengths are compared at once.
    known: Vec<Weak<Compiled>>,
    /// The last ones are kept alive: runs of one skill may come one after the other.
    recent: Vec<Arc<Compiled>>,
}

static SHARED: Mutex<Shared> = Mutex::new(Shared { known: Vec::new(), recent: Vec::new() });

/// The schema that was compiled from the same before, if it is still there.
pub(super) fn find(text: &str, json_depth: usize) -> Option<Arc<Compiled>> {
    let is_same = |schema: &Arc<Compiled>| schema.json_depth == json_depth && schema.text == text;
    lock().known.iter().filter_map(Weak::upgrade).find(is_same)
}

/// Remembers a schema as long as it is in use, and the last few longer.
pub(super) fn remember(compiled: &Arc<Compiled>) {
    let mut shared = lock();
    if shared.known.len() >= MAX_KNOWN {
        shared.known.retain(|schema| schema.strong_count() > 0);
    }
    shared.known.push(Arc::downgrade(compiled));
    if shared.recent.len() == MAX_RECENT {
        shared.recent.remove(0);
    }
    shared.recent.push(compiled.clone());
}

/// What is remembered is whole at any time, so a panic elsewhere does not spoil it.
fn lock() -> MutexGuard<'static, Shared> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

const MAX_KNOWN: usize = 1024;
const MAX_RECENT: usize = 16;
