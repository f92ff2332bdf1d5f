//! Values in use, so that a thousand runs of one skill share one.
//!
//! This is a memory of pure functions: it changes how long an answer takes and how much room it needs, never the answer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// There are never many, so they are compared one by one.
pub(crate) struct Shared<T>(Mutex<Vec<Weak<T>>>);

impl<T> Shared<T> {
    pub(crate) const fn new() -> Shared<T> {
        Shared(Mutex::new(Vec::new()))
    }

    pub(crate) fn find(&self, is_wanted: impl Fn(&T) -> bool) -> Option<Arc<T>> {
        self.lock().iter().filter_map(Weak::upgrade).find(|value| is_wanted(value))
    }

    /// Remembers a value as long as it is in use.
    pub(crate) fn add(&self, value: T) -> Arc<T> {
        let mut known = self.lock();
        if known.len() >= MOST_SHARED {
            known.retain(|value| value.strong_count() > 0);
            // If all of them are in use, the older half is as likely to be asked for as any.
            let too_many = known.len().saturating_sub(MOST_SHARED / 2);
            known.drain(..too_many);
        }
        let value = Arc::new(value);
        known.push(Arc::downgrade(&value));
        value
    }

    /// The list is whole at any time, so a panic elsewhere does not spoil it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<Weak<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) const MOST_SHARED: usize = 256;
