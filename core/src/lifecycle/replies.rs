//! Replies: every one gets a receipt, by the table of section 7.

use crate::admission::plan::Plan;
use crate::json::Value;
use crate::json::json_text;
use crate::lifecycle::run::Run;
use crate::types::codes::Code;
use crate::types::event::Reply;
use crate::types::plan::Profile;
use crate::types::receipt::{EventRejected, Receipt, ReceiptKind, Resolved};
use crate::types::state::Status;

/// A reply that is not refused.
pub(crate) enum Examined {
    /// The question is pending and this answers it.
    Fits,
    /// It was taken before; here is the first receipt again.
    Repeated(Receipt),
}

/// Holds a reply against the table, top to bottom; the first row that fits is the answer.
pub(crate) fn examine(run: &Run, reply: &Reply) -> Result<Examined, EventRejected> {
    let id = reply.interaction_id;
    let refuse = |kind: ReceiptKind, code: Code, message: String| {
        let pending_interaction_id = run.pending().map(|pending| pending.interaction_id);
        let receipt = Receipt { interaction_id: Some(id), pending_interaction_id, ..run.receipt(kind) };
        Err(EventRejected::with_receipt(code, message, receipt))
    };

    let size = response_size(reply);
    let limit = run.plan().limits.reply_bytes;
    if size > limit {
        let message = format!("the reply has {size} bytes, the limit is {limit}");
        return refuse(ReceiptKind::TooLarge, Code::ReplyTooLarge, message);
    }
    if !run.plan().is_interactive() {
        let message = "the run is in mode `auto`; nobody is asked".to_owned();
        return refuse(ReceiptKind::NotInteractive, Code::RunNotInteractive, message);
    }
    if let Some(first) = reply.idempotency_key.as_deref().and_then(|key| run.resolved().with_key(key)) {
        if first.interaction_id == id && first.response.as_deref() == Some(reply.response_text().as_str()) {
            return Ok(Examined::Repeated(Receipt {
                receipt: ReceiptKind::Duplicate,
                code: None,
                interaction_id: Some(id),
                pending_interaction_id: None,
                resolved: None,
                status: status_after_reply(run.plan()),
                revision: first.revision,
            }));
        }
        let message =
            format!("the idempotency key was used before, for a reply to interaction {}", first.interaction_id);
        return refuse(ReceiptKind::Conflict, Code::IdempotencyConflict, message);
    }
    if let Some(expected) = reply.expected_revision.filter(|expected| *expected != run.revision()) {
        let message = format!("expected revision {expected}, the run is at {}", run.revision());
        return refuse(ReceiptKind::Conflict, Code::RevisionConflict, message);
    }
    let pending = run.pending().map(|pending| pending.interaction_id);
    if pending == Some(id) {
        return Ok(Examined::Fits);
    }
    if let Some(record) = run.record(id) {
        let resolved = Some(Resolved::from(record));
        let receipt = Receipt {
            interaction_id: Some(id),
            pending_interaction_id: pending,
            resolved,
            ..run.receipt(ReceiptKind::Stale)
        };
        let message = format!("interaction {id} was resolved before");
        return Err(EventRejected::with_receipt(Code::StaleInteraction, message, receipt));
    }
    match pending {
        None => {
            let message = format!("nothing is pending; the run is {}", run.status().as_str());
            refuse(ReceiptKind::NotWaiting, Code::RunNotWaitingUser, message)
        }
        Some(pending) => {
            let message = format!("interaction {id} was never issued; {pending} is pending");
            refuse(ReceiptKind::Unknown, Code::UnknownInteraction, message)
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

fn response_size(reply: &Reply) -> usize {
    match &reply.response {
        Value::String(text) => text.len(),
        other => json_text(other).len(),
    }
}
