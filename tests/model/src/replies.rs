//! The table of receipts: section 7 of the spec.

use crate::words::{Code, Resolution, Run, Settings};

/// An answer to a question. Keys and answers are told apart by a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reply {
    /// The question that it is for.
    pub question: u8,
    /// Its idempotency key.
    pub key: Option<u8>,
    /// What it says.
    pub answer: u8,
    /// The revision at which its sender believes the run to be.
    pub revision: Revision,
}

/// What a reply expects of the run's revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Revision {
    Any,
    Current,
    Another,
}

/// What a request is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Receipt {
    /// Its name.
    pub name: &'static str,
    /// Why the request was not taken; absent if it was.
    pub refused: Option<Code>,
}

impl Receipt {
    /// A reply that was taken.
    pub const ACCEPTED: Receipt = Receipt { name: "accepted", refused: None };
    /// A cancel that was taken.
    pub const CANCELED: Receipt = Receipt { name: "canceled", refused: None };
    /// A cancel that came too late.
    pub const ALREADY_ENDED: Receipt = refused("already_ended", "RUN_ALREADY_ENDED");
}

impl Reply {
    /// A plain reply to a question.
    #[must_use]
    pub fn to(question: u8) -> Reply {
        Reply { question, key: None, answer: 0, revision: Revision::Any }
    }
}

/// The rows in their order; the first that fits is the receipt.
#[must_use]
pub fn receipt(settings: &Settings, run: &Run, reply: &Reply) -> (Receipt, &'static str) {
    if !settings.interactive {
        return (refused("not_interactive", "RUN_NOT_INTERACTIVE"), "RCPT-1");
    }
    let with_same_key = run.history.iter().find_map(|record| match record.resolution {
        Resolution::UserReply { key: Some(key), answer } if Some(key) == reply.key => Some((record.question, answer)),
        _ => None,
    });
    match with_same_key {
        Some(first) if first == (reply.question, reply.answer) => {
            return (Receipt { name: "duplicate", refused: None }, "RCPT-2");
        }
        // REPLY-3: also for another question.
        Some(_) => return (refused("conflict", "IDEMPOTENCY_CONFLICT"), "RCPT-3 key"),
        None => {}
    }
    if reply.revision == Revision::Another {
        return (refused("conflict", "REVISION_CONFLICT"), "RCPT-3 revision");
    }
    let was_resolved = run.history.iter().any(|record| record.question == reply.question);
    match run.pending() {
        Some(pending) if pending == reply.question => (Receipt::ACCEPTED, "RCPT-4"),
        _ if was_resolved => (refused("stale", "STALE_INTERACTION"), "RCPT-5"),
        None => (refused("not_waiting", "RUN_NOT_WAITING_USER"), "RCPT-6"),
        Some(_) => (refused("unknown", "UNKNOWN_INTERACTION"), "RCPT-7"),
    }
}

const fn refused(name: &'static str, code: &'static str) -> Receipt {
    Receipt { name, refused: Some(Code(code)) }
}
