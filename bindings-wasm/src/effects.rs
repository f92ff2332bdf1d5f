//! Effects as numbers: `js/effects.ts` makes objects of them, ten times faster than JSON text is written and read.
//!
//! Their ids follow from the run's id, its revision and their places; the id of a slot, from its number.

use turnlatch::{Action, Effect, Notice, Status};

/// An effect's kind, and its members.
type Numbers = [f64; 3];

/// Writes the effects; false if there are too many, or if one has a text that the run has not made itself.
pub(crate) fn write(effects: &[Effect], run_id: &str, places: &mut [f64]) -> bool {
    let (places, _) = places.as_chunks_mut();
    let mut written = effects.iter().zip(places).map_while(|(effect, place)| {
        *place = numbers_of(&effect.action, run_id)?;
        Some(())
    });
    written.by_ref().count() == effects.len()
}

fn numbers_of(action: &Action, run_id: &str) -> Option<Numbers> {
    Some(match action {
        Action::AcquireSlot { slot_id } => [0.0, slot_number(slot_id, run_id)?, 0.0],
        Action::ReleaseSlot { slot_id } => [1.0, slot_number(slot_id, run_id)?, 0.0],
        Action::StartTurn { attempt_number, slot_id, resume: None } => {
            [2.0, slot_number(slot_id, run_id)?, f64::from(*attempt_number)]
        }
        Action::TerminateProcess { attempt_number, slot_id } => {
            [3.0, slot_number(slot_id, run_id)?, f64::from(*attempt_number)]
        }
        Action::SetTimer { interaction_id, at } => [4.0, exact(*interaction_id)?, exact(at.as_millis())?],
        Action::CancelTimer { interaction_id } => [5.0, exact(*interaction_id)?, 0.0],
        // No question has the number 0.
        Action::Notify { what: Notice::StatusChanged, status, interaction_id } => {
            let status = Status::ALL.iter().position(|known| known == status)?;
            [6.0, exact(status as u64)?, exact(interaction_id.unwrap_or(0))?]
        }
        Action::StartTurn { resume: Some(_), .. } | Action::InjectReply { .. } => return None,
    })
}

/// The number of a slot that this run has asked for.
fn slot_number(slot_id: &str, run_id: &str) -> Option<f64> {
    let number = slot_id.strip_prefix(run_id)?.strip_prefix("/s")?;
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
    if is_plain { exact(number.parse().ok()?) } else { None }
}

/// A number that JavaScript has too.
pub(crate) fn exact(number: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "these are held exactly")]
    (number <= MAX_SAFE_INTEGER).then_some(number as f64)
}

const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
