//! Snapshots: a run as one JSON document, and back again if nobody has tampered with it.

use crate::codes::Code;
use crate::interaction::InteractionRecord;
use crate::invariants;
use crate::json;
use crate::limits::Limits;
use crate::plan::RunPlan;
use crate::read::{read, readable};
use crate::run::{Life, Run};
use crate::storage::{LoadError, check_version, digest};
use crate::write::{json_text, writable};

/// The version of the format that this version of the library writes.
pub const SNAPSHOT_VERSION: u64 = 1;

#[derive(Clone, Copy)]
struct ContentOut<'r> {
    plan: &'r RunPlan,
    life: &'r Life,
    history: &'r [InteractionRecord],
}

writable!(ContentOut<'r> { plan, life, history });

struct DocumentIn {
    /// Looked at before the rest is read, so that a newer document gets its own code.
    version: u64,
    digest: String,
    run: ContentIn,
}

readable!(DocumentIn { version, digest, run });

struct ContentIn {
    plan: RunPlan,
    life: Life,
    history: Vec<InteractionRecord>,
}

readable!(ContentIn { plan, life, history });

impl Run {
    /// The run as canonical JSON: the same run gives the same bytes, in every runtime.
    #[must_use]
    pub fn snapshot(&self) -> String {
        let run = ContentOut { plan: self.plan(), life: self.life(), history: self.history() };
        // The text that the digest is made of is also the text that is written.
        let text = json_text(&run);
        format!(r#"{{"version":{SNAPSHOT_VERSION},"digest":"{}","run":{text}}}"#, content_digest(&text))
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
        let written = document.get("run").cloned();
        let document: DocumentIn = read(document).map_err(|misread| misread.load_error(Code::SnapshotInvalid))?;
        let ContentIn { plan, life, history } = document.run;
        // Before the digest: a limit that is too large for a browser's memory is not read there as it was written.
        invariants::limits(&plan).map_err(|broken| invalid(broken.place, broken.message))?;
        let read = ContentOut { plan: &plan, life: &life, history: &history };
        let text = json_text(&read);
        if content_digest(&text) != document.digest {
            return Err(invalid("digest", "the content is not what the digest was made of"));
        }
        // What is absent may also be given as null when it is read; we never write it so.
        if json::build(&text).ok() != written {
            return Err(invalid("run", "the content is not in the form in which it was written"));
        }
        let run = Run::from_parts(plan, life, history);
        invariants::check(&run).map_err(|broken| invalid(broken.place, broken.message))?;
        Ok(run)
    }
}

fn content_digest(canonical: &str) -> String {
    digest(&["turnlatch snapshot", canonical])
}

fn invalid(place: impl Into<String>, message: impl Into<String>) -> LoadError {
    LoadError::new(Code::SnapshotInvalid, place, message)
}
