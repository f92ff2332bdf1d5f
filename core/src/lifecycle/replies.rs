//! Replies: every one gets a receipt, by the table of section 7.

use crate::admission::plan::Plan;
use crate::lifecycle::run::Run;
use crate::types::codes::Code;
use crate::types::event::Reply;
use crate::types::plan::Profile;
use crate::types::receipt::{Receipt, ReceiptKind, Resolved};
use crate::types::state::Status;

/// Checks a reply against the table, top to bottom; the first row that fits is the answer. `None` if its question is pending
/// and this answers it.
pub(crate) fn examine(run: &Run, reply: &Reply) -> Option<Receipt> {
    let id = reply.interaction_id;
    let pending_interaction_id = run.pending().map(|pending| pending.interaction_id);
    let refusal = |kind, code, message| {
        let refusal = run.refusal(kind, code, message);
        Some(Receipt { interaction_id: Some(id), pending_interaction_id, ..refusal })
    };

    let size = reply.response_text().len();
    let limit = run.plan().limits.reply_bytes;
    if size > limit {
        let message = format!("the reply has {size} bytes, the limit is {limit}");
        return refusal(ReceiptKind::TooLarge, Code::ReplyTooLarge, message);
    }
    if !run.plan().is_interactive() {
        let message = "the run is in mode `auto`; nobody is asked".to_owned();
        return refusal(ReceiptKind::NotInteractive, Code::RunNotInteractive, message);
    }
    if let Some(first) = reply.idempotency_key.as_deref().and_then(|key| run.resolved().with_key(key)) {
        if first.interaction_id == id && first.response.as_deref() == Some(reply.response_text().as_str()) {
            return Some(Receipt {
                interaction_id: Some(id),
                status: status_after_reply(run.plan()),
                revision: first.revision,
                ..run.receipt(ReceiptKind::Duplicate)
            });
        }
        let message =
            format!("the idempotency key was used before, for a reply to interaction {}", first.interaction_id);
        return refusal(ReceiptKind::Conflict, Code::IdempotencyConflict, message);
    }
    if let Some(expected) = reply.expected_revision.filter(|expected| *expected != run.revision()) {
        let message = format!("expected revision {expected}, the run is at {}", run.revision());
        return refusal(ReceiptKind::Conflict, Code::RevisionConflict, message);
    }
    if pending_interaction_id == Some(id) {
        return None;
    }
    if let Some(record) = run.record(id) {
        let message = format!("interaction {id} was resolved before");
        let receipt = refusal(ReceiptKind::Stale, Code::StaleInteraction, message)?;
        return Some(Receipt { resolved: Some(Resolved::from(record)), ..receipt });
    }
    match pending_interaction_id {
        None => {
            let message = format!("nothing is pending; the run is {}", run.status().as_str());
            refusal(ReceiptKind::NotWaiting, Code::RunNotWaitingUser, message)
        }
        Some(pending) => {
            let message = format!("interaction {id} was never issued; {pending} is pending");
            refusal(ReceiptKind::Unknown, Code::UnknownInteraction, message)
        }
    }
}

/// Where an accepted reply takes the run.
pub(crate) fn status_after_reply(plan: &Plan) -> Status {
    match plan.profile {
        Profile::Resumable => Status::Queued,
        Profile::StickyProcess => Status::Running,
    }
}
