//! Snapshots: a run as one JSON document, and back again unless it was tampered with.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::admission::plan::Plan;
use crate::json::{self, json_text};
use crate::lifecycle::invariants;
use crate::lifecycle::run::{Life, Run};
use crate::persist::digest::{check_version, digest};
use crate::types::codes::Code;
use crate::types::interaction::InteractionRecord;
use crate::types::limits::Limits;
use crate::types::load_error::LoadError;
use crate::types::strict::from_value;

/// The version of the format that this version of the library writes.
pub const SNAPSHOT_VERSION: u64 = 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    /// Looked at before the rest is read, so that a newer document gets its own code.
    #[serde(rename = "version")]
    _version: IgnoredAny,
    digest: String,
    run: Content<'static>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content<'r> {
    plan: Cow<'r, Plan>,
    life: Cow<'r, Life>,
    history: Cow<'r, [InteractionRecord]>,
}

impl Run {
    /// The run as canonical JSON: the same run gives the same bytes, in every runtime.
    pub fn snapshot(&self) -> String {
        let (plan, life) = (Cow::Borrowed(&**self.plan()), Cow::Borrowed(self.life()));
        // The text that the digest is made of is also the text that is written.
        let text = json_text(&Content { plan, life, history: self.history().into() });
        document_text(&content_digest(&text), &text)
    }

    /// Reads a snapshot back. White space and the order of keys do not matter; everything else does.
    ///
    /// # Errors
    /// `SNAPSHOT_INVALID` if it was cut, edited, joined from two runs or breaks an invariant;
    /// `SNAPSHOT_VERSION_UNSUPPORTED` if a newer version wrote it.
    pub fn restore(snapshot: &str) -> Result<Run, LoadError> {
        let document = json::parse_value(snapshot, Limits::MAX_JSON_DEPTH)
            .map_err(|fault| invalid("the document", format!("{fault}")))?;
        check_version(&document, SNAPSHOT_VERSION, Code::SnapshotVersionUnsupported, Code::SnapshotInvalid)?;
        let document: Document = from_value(document).map_err(|misread| misread.load_error(Code::SnapshotInvalid))?;
        // Before the digest: a limit that is too large for a browser's memory is not read there as it was written.
        invariants::limits(&document.run.plan).map_err(|broken| invalid(broken.place, broken.message))?;
        let text = json_text(&document.run);
        if content_digest(&text) != document.digest {
            return Err(invalid("digest", "the content is not what the digest was made of"));
        }
        // What is absent may also be given as null when it is read; we never write it so. Most snapshots come back as the
        // very bytes that were written, and need not be read a second time to see that.
        if snapshot != document_text(&document.digest, &text) && !is_content_of(snapshot, &text) {
            return Err(invalid("run", "the content is not in the form in which it was written"));
        }
        let Content { plan, life, history } = document.run;
        let run = Run::from_parts(plan.into_owned(), life.into_owned(), history.into_owned());
        invariants::check(&run).map_err(|broken| invalid(broken.place, broken.message))?;
        Ok(run)
    }
}

impl Plan {
    /// Reads a plan back from its JSON text, as a snapshot holds it.
    ///
    /// # Errors
    /// `SNAPSHOT_INVALID` with the place, also for a plan that admission cannot have made.
    pub fn from_json(text: &str) -> Result<Plan, LoadError> {
        let plan = json::parse_value(text, Limits::MAX_JSON_DEPTH)
            .map_err(|fault| invalid("the document", fault.to_string()))?;
        let plan = from_value(plan).map_err(|misread| misread.load_error(Code::SnapshotInvalid))?;
        invariants::plan(&plan).map_err(|broken| invalid(broken.place, broken.message))?;
        Ok(plan)
    }
}

fn document_text(digest: &str, content: &str) -> String {
    format!(r#"{{"version":{SNAPSHOT_VERSION},"digest":"{digest}","run":{content}}}"#)
}

/// Whether a snapshot holds this content, whatever its white space and the order of its keys.
fn is_content_of(snapshot: &str, content: &str) -> bool {
    let document = json::parse_value(snapshot, Limits::MAX_JSON_DEPTH).unwrap_or_default();
    json::build(content).is_ok_and(|content| document.get("run") == Some(&content))
}

fn content_digest(canonical: &str) -> String {
    digest(&["turnlatch snapshot", canonical])
}

fn invalid(place: impl Into<String>, message: impl Into<String>) -> LoadError {
    LoadError::new(Code::SnapshotInvalid, place, message)
}
