//! What a step tells, as dicts that are made at once: their keys and most of their words are the same strings every time.
//!
//! Nearly every call of a host gets some; whatever else the core answers is rarer, and goes by `convert::to_python`.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use turnlatch::{Action, Effect, Notice, Receipt, ResumeFrom, Status};

use crate::convert::to_python;

/// A dict with these members, in this order.
macro_rules! dict {
    ($py:ident, $($name:literal: $value:expr),+ $(,)?) => {{
        let dict = PyDict::new($py);
        $(dict.set_item(intern!($py, $name), $value)?;)+
        dict
    }};
}

/// Adds a member if there is one.
macro_rules! add_if_given {
    ($dict:ident, $name:literal: $value:expr) => {
        if let Some(value) = $value {
            $dict.set_item(intern!($dict.py(), $name), value)?;
        }
    };
}

pub(crate) fn effects<'p>(py: Python<'p>, effects: &[Effect]) -> PyResult<Bound<'p, PyList>> {
    let effects: Vec<_> = effects.iter().map(|effect| effect_dict(py, effect)).collect::<PyResult<_>>()?;
    PyList::new(py, effects)
}

fn effect_dict<'p>(py: Python<'p>, effect: &Effect) -> PyResult<Bound<'p, PyDict>> {
    let dict = match &effect.action {
        Action::AcquireSlot { slot_id } => {
            dict!(py, "type": intern!(py, "acquire_slot"), "slot_id": slot_id)
        }
        Action::ReleaseSlot { slot_id } => {
            dict!(py, "type": intern!(py, "release_slot"), "slot_id": slot_id)
        }
        Action::StartTurn { attempt_number, slot_id, resume } => {
            let name = intern!(py, "start_turn");
            let dict = dict!(py, "type": name, "attempt_number": attempt_number, "slot_id": slot_id);
            add_if_given!(dict, "resume": resume.as_ref().map(|resume| resume_dict(py, resume)).transpose()?);
            dict
        }
        Action::InjectReply { attempt_number, slot_id, interaction_id, response } => dict!(
            py,
            "type": intern!(py, "inject_reply"),
            "attempt_number": attempt_number,
            "slot_id": slot_id,
            "interaction_id": interaction_id,
            "response": response,
        ),
        Action::TerminateProcess { attempt_number, slot_id } => {
            let name = intern!(py, "terminate_process");
            dict!(py, "type": name, "attempt_number": attempt_number, "slot_id": slot_id)
        }
        Action::SetTimer { interaction_id, at } => {
            let name = intern!(py, "set_timer");
            dict!(py, "type": name, "interaction_id": interaction_id, "at": at.as_millis())
        }
        Action::CancelTimer { interaction_id } => {
            dict!(py, "type": intern!(py, "cancel_timer"), "interaction_id": interaction_id)
        }
        Action::Notify { what, status, interaction_id } => {
            let what = match what {
                Notice::StatusChanged => intern!(py, "status_changed"),
            };
            let dict = dict!(py, "type": intern!(py, "notify"), "what": what, "status": status_name(py, *status));
            add_if_given!(dict, "interaction_id": interaction_id);
            dict
        }
    };
    dict.set_item(intern!(py, "id"), &effect.id)?;
    Ok(dict)
}

fn resume_dict<'p>(py: Python<'p>, resume: &ResumeFrom) -> PyResult<Bound<'p, PyDict>> {
    let dict = PyDict::new(py);
    add_if_given!(dict, "session_handle": &resume.session_handle);
    dict.set_item(intern!(py, "interaction_id"), resume.interaction_id)?;
    dict.set_item(intern!(py, "response"), &resume.response)?;
    Ok(dict)
}

pub(crate) fn receipt<'p>(py: Python<'p>, receipt: &Receipt) -> PyResult<Bound<'p, PyDict>> {
    let dict = dict!(py, "receipt": to_python(py, &receipt.receipt)?);
    add_if_given!(dict, "code": receipt.code.map(turnlatch::Code::as_str));
    add_if_given!(dict, "interaction_id": receipt.interaction_id);
    add_if_given!(dict, "pending_interaction_id": receipt.pending_interaction_id);
    add_if_given!(dict, "resolved": receipt.resolved.as_ref().map(|resolved| to_python(py, resolved)).transpose()?);
    dict.set_item(intern!(py, "status"), status_name(py, receipt.status))?;
    dict.set_item(intern!(py, "revision"), receipt.revision)?;
    Ok(dict)
}

fn status_name(py: Python<'_>, status: Status) -> &Bound<'_, PyString> {
    match status {
        Status::Queued => intern!(py, Status::Queued.as_str()),
        Status::Running => intern!(py, Status::Running.as_str()),
        Status::WaitingUser => intern!(py, Status::WaitingUser.as_str()),
        Status::Succeeded => intern!(py, Status::Succeeded.as_str()),
        Status::Failed => intern!(py, Status::Failed.as_str()),
        Status::Canceled => intern!(py, Status::Canceled.as_str()),
    }
}
