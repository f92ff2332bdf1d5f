//! The questions that came to their end, in order. What is asked of them at every event costs the same for a run with ten
//! thousand of them as for a young one.

use std::ops::Deref;

use crate::types::interaction::{InteractionRecord, ResolutionMode};

/// Append-only (HIST-1).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct History {
    records: Vec<InteractionRecord>,
    /// Which of them have an idempotency key, in the order of their keys.
    keyed: Vec<u32>,
    /// How many got an answer, of a person or an automatic one.
    pub(crate) answered: u64,
    /// How many were decided automatically, at their deadline.
    pub(crate) auto_decided: u64,
}

impl History {
    pub(crate) fn push(&mut self, record: InteractionRecord) {
        if let Some(key) = record.idempotency_key.as_deref() {
            let place = self.place_of(key);
            // A run has far fewer interactions than that (BAD-2).
            self.keyed.insert(place, u32::try_from(self.records.len()).unwrap_or(u32::MAX));
        }
        self.answered += u64::from(record.response.is_some());
        self.auto_decided += u64::from(record.resolution_mode == ResolutionMode::AutoDecideTimeout);
        self.records.push(record);
    }

    /// The reply that was taken under this key.
    pub(crate) fn with_key(&self, key: &str) -> Option<&InteractionRecord> {
        let index = self.keyed.get(self.place_of(key))?;
        self.records.get(*index as usize).filter(|record| record.idempotency_key.as_deref() == Some(key))
    }

    /// Whether each key stands for one reply; what comes back from outside may say anything.
    pub(crate) fn has_each_key_once(&self) -> bool {
        self.keyed.array_windows().all(|[one, next]| self.key(*one) != self.key(*next))
    }

    /// Where a key stands among the others, or would.
    fn place_of(&self, key: &str) -> usize {
        self.keyed.partition_point(|index| self.key(*index) < Some(key))
    }

    fn key(&self, index: u32) -> Option<&str> {
        self.records.get(index as usize)?.idempotency_key.as_deref()
    }
}

impl From<Vec<InteractionRecord>> for History {
    fn from(records: Vec<InteractionRecord>) -> History {
        let mut history = History::default();
        for record in records {
            history.push(record);
        }
        history
    }
}

impl Deref for History {
    type Target = [InteractionRecord];

    fn deref(&self) -> &[InteractionRecord] {
        &self.records
    }
}
