//! The table of section 6: what waiting means for a profile and a strictness.

use crate::admission::plan::Plan;
use crate::types::plan::Profile;

/// How a run waits for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitRule {
    pub(crate) slot: SlotWhileWaiting,
    /// What ends the wait by itself; nothing does where this is `None`.
    pub(crate) expiry: Option<Expiry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotWhileWaiting {
    Released,
    Kept,
}

/// What happens at the deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    /// The core answers in the user's place and the run goes on.
    AutoDecision,
    /// The run fails.
    Failure,
}

impl WaitRule {
    pub(crate) fn of(plan: &Plan) -> WaitRule {
        use Expiry::{AutoDecision, Failure};
        use Profile::{Resumable, StickyProcess};
        use SlotWhileWaiting::{Kept, Released};
        match (plan.profile, plan.require_user_reply) {
            (Resumable, true) => WaitRule { slot: Released, expiry: None },
            (Resumable, false) => WaitRule { slot: Released, expiry: Some(AutoDecision) },
            (StickyProcess, true) => WaitRule { slot: Kept, expiry: Some(Failure) },
            (StickyProcess, false) => WaitRule { slot: Kept, expiry: Some(AutoDecision) },
        }
    }
}
