//! Time as data: the host passes the time in, and the core never looks.

use serde::{Deserialize, Deserializer, Serialize};

/// A moment: whole milliseconds since the Unix epoch, at most 2^53 - 1 so that every runtime holds it exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Timestamp(u64);

impl Timestamp {
    /// The last moment that can be written: 2^53 - 1, the largest integer a JavaScript number holds exactly.
    pub const MAX: Timestamp = Timestamp((1 << 53) - 1);

    /// Makes a timestamp of milliseconds since the epoch, or `None` past [`Timestamp::MAX`].
    pub const fn from_millis(millis: u64) -> Option<Timestamp> {
        if millis <= Timestamp::MAX.0 { Some(Timestamp(millis)) } else { None }
    }

    /// Milliseconds since the epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// This moment plus whole seconds; stops at [`Timestamp::MAX`] instead of overflowing.
    #[must_use]
    pub fn plus_seconds(self, seconds: u64) -> Timestamp {
        let millis = self.0.saturating_add(seconds.saturating_mul(1000));
        Timestamp(millis.min(Timestamp::MAX.0))
    }

    /// Whether this is the time in seconds where `last` was in milliseconds (LIFE-4): in seconds it lies in a year from 1973
    /// to 5138, and within ten years of `last`.
    pub(crate) fn is_in_seconds(self, last: Timestamp) -> bool {
        const SECONDS: std::ops::Range<u64> = 100_000_000..100_000_000_000;
        const TEN_YEARS_MILLIS: u64 = 315_360_000_000;
        SECONDS.contains(&self.0)
            && last.0 >= SECONDS.end
            && self.0.saturating_mul(1000).abs_diff(last.0) <= TEN_YEARS_MILLIS
    }

    /// Milliseconds from `earlier` to this moment; 0 if `earlier` is later.
    pub const fn millis_since(self, earlier: Timestamp) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let millis = u64::deserialize(deserializer)?;
        Timestamp::from_millis(millis)
            .ok_or_else(|| serde::de::Error::custom("must be at most 9007199254740991 milliseconds"))
    }
}

#[cfg(test)]
mod tests;
