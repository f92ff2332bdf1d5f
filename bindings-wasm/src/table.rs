//! What lives under a handle.
//!
//! Handles are numbers and no objects of the glue, because after a panic the package has to ask the broken instance for
//! every run that it still holds.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use turnlatch::{Plan, Run};

use crate::errors::{Failed, misuse};

thread_local! {
    pub(crate) static PLANS: Table<Arc<Plan>> = const { Table::new() };
    pub(crate) static RUNS: Table<Rc<RefCell<Run>>> = const { Table::new() };
    #[cfg(feature = "streams")]
    pub(crate) static DECODERS: Table<Rc<RefCell<turnlatch::StreamDecoder>>> = const { Table::new() };
}

/// Shared values by number. A borrow never lasts while the core computes, so a panic finds the table whole.
pub(crate) struct Table<T> {
    places: RefCell<Places<T>>,
}

struct Places<T> {
    values: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T: Clone> Table<T> {
    const fn new() -> Table<T> {
        Table { places: RefCell::new(Places { values: Vec::new(), free: Vec::new() }) }
    }

    pub(crate) fn add(&self, value: T) -> u32 {
        let mut places = self.places.borrow_mut();
        let reused = places.free.pop();
        // An instance has 32 bits of memory, so there are never more places than a handle can number.
        let handle = reused.unwrap_or_else(|| u32::try_from(places.values.len()).unwrap_or(u32::MAX));
        match places.values.get_mut(handle as usize) {
            Some(place) => *place = Some(value),
            None => places.values.push(Some(value)),
        }
        handle
    }

    pub(crate) fn get(&self, handle: u32) -> Result<T, Failed> {
        let places = self.places.borrow();
        places.values.get(handle as usize).cloned().flatten().ok_or_else(|| misuse("it was freed"))
    }

    pub(crate) fn remove(&self, handle: u32) {
        let mut places = self.places.borrow_mut();
        let removed = places.values.get_mut(handle as usize).and_then(Option::take);
        if removed.is_some() {
            places.free.push(handle);
        }
        drop(places);
        drop(removed);
    }

    pub(crate) fn handles(&self) -> Vec<u32> {
        let places = self.places.borrow();
        (0..).zip(&places.values).filter_map(|(handle, value)| value.as_ref().map(|_| handle)).collect()
    }
}
