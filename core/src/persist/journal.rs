//! The journal: what happened to a run, in order. It replays to the same run and the same effects (HIST-2).

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::admission::plan::Plan;
use crate::json::json_text;
use crate::json::{self, MAX_DOCUMENT_DEPTH, Value};
use crate::lifecycle::invariants;
use crate::lifecycle::run::Run;
use crate::persist::digest::{check_version, digest};
use crate::types::codes::Code;
use crate::types::effect::Effect;
use crate::types::event::{DecidedTurn, Event};
use crate::types::load_error::LoadError;
use crate::types::strict::{Invalid, from_value};
use crate::types::time::Timestamp;
use crate::types::transition::JournalEntry;

/// The version of the format that this version of the library writes.
pub const JOURNAL_VERSION: u64 = 1;

impl JournalEntry {
    /// Reads an entry back from its JSON text.
    ///
    /// # Errors
    /// `JOURNAL_INVALID` with the place.
    pub fn from_json(text: &str) -> Result<JournalEntry, LoadError> {
        from_value(read_text(text)?).map_err(broken)
    }

    /// The entry without a turn's text: its digest and the evaluation instead. Other entries stay as they are.
    #[must_use]
    pub fn compact(self) -> JournalEntry {
        let JournalEntry { revision, at, event, evaluation } = self;
        let event = match (event, evaluation) {
            (Event::TurnFinished(report), Some(evaluation)) => Event::TurnDecided(DecidedTurn {
                attempt_number: report.attempt_number,
                report_digest: digest(&[&json_text(&report)]),
                slot_id: report.slot_id,
                session_handle: report.session_handle,
                evaluation,
            }),
            (event, _) => event,
        };
        JournalEntry { revision, at, event, evaluation: None }
    }

    /// The entry's JSON text chained to the text before it, for a store that keeps only the last one at hand.
    ///
    /// # Errors
    /// `JOURNAL_INVALID` if `previous` is not the text of an entry.
    pub fn encode_chained(&self, run_id: &str, previous: Option<&str>) -> Result<String, LoadError> {
        let Some(line) = previous else { return Ok(self.encode_after(run_id)) };
        let value = json::parse_value(line, MAX_DOCUMENT_DEPTH).unwrap_or_default();
        let chain = value.get("chain").and_then(Value::as_str);
        let chain = chain.ok_or_else(|| invalid("the entry before", "it has no chain"))?;
        Ok(self.encode_after(chain))
    }

    /// The same, chained to the digest of the line before, or to the run's id if there is none.
    fn encode_after(&self, head: &str) -> String {
        let event = json_text(&self.event);
        let chain = chain_digest(head, &format!("[{},{},{event}]", self.revision, self.at.as_millis()));
        format!(r#"{{"revision":{},"at":{},"event":{event},"chain":"{chain}"}}"#, self.revision, self.at.as_millis())
    }
}

/// The entries of one run, chained: each carries a digest of all before it, so that none can be changed, moved,
/// left out or brought in from another run without being noticed.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal {
    run_id: String,
    entries: Vec<ChainedEntry>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChainedEntry {
    pub(crate) revision: u64,
    pub(crate) at: Timestamp,
    pub(crate) event: Event,
    chain: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<'j> {
    /// Looked at before the rest is read, so that a newer document gets its own code.
    version: u64,
    run_id: Cow<'j, str>,
    /// The last link's digest: a journal that was cut short ends in another one.
    head: Cow<'j, str>,
    entries: Cow<'j, [ChainedEntry]>,
    /// What the run was made of, so that the document alone can be replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Cow<'j, Plan>>,
}

/// A run made again from its journal, and every effect it emitted on the way.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Replayed {
    /// The run as it was.
    pub run: Run,
    /// The effects of every entry, in order.
    pub effects: Vec<Vec<Effect>>,
}

impl Journal {
    /// An empty journal for a run.
    pub fn new(plan: &Plan) -> Journal {
        Journal { run_id: plan.run_id.clone(), entries: Vec::new() }
    }

    /// Appends what [`Run::apply`] gave.
    pub fn push(&mut self, entry: JournalEntry) {
        let chain = entry_digest(self.head(), entry.revision, entry.at, &entry.event);
        self.entries.push(ChainedEntry { revision: entry.revision, at: entry.at, event: entry.event, chain });
    }

    /// The entries as JSON texts, one each, for a store that appends them one by one.
    pub fn lines(&self) -> Vec<String> {
        self.entries.iter().map(json_text).collect()
    }

    /// Reads a journal back from the texts of its entries and checks its chain.
    ///
    /// # Errors
    /// `JOURNAL_INVALID` with the place if an entry was changed, moved, left out or brought in from another run. That
    /// entries are missing at the end can only be seen by comparing the length with the run's revision.
    pub fn from_lines<'l>(run_id: &str, lines: impl IntoIterator<Item = &'l str>) -> Result<Journal, LoadError> {
        let mut journal = Journal { run_id: run_id.to_owned(), entries: Vec::new() };
        for line in lines {
            let entry = read_line(line, journal.len() as u64 + 1)?;
            journal.check_and_push(entry)?;
        }
        Ok(journal)
    }

    /// The id of the run.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The journal as JSON text.
    pub fn to_json(&self) -> String {
        self.document(None)
    }

    /// The journal together with its plan: a record, which can be replayed by itself (HIST-6).
    pub fn export_run(&self, plan: &Plan) -> String {
        self.document(Some(plan))
    }

    fn document(&self, plan: Option<&Plan>) -> String {
        json_text(&Document {
            version: JOURNAL_VERSION,
            run_id: self.run_id().into(),
            head: self.head().into(),
            entries: self.entries.as_slice().into(),
            plan: plan.map(Cow::Borrowed),
        })
    }

    /// Reads a journal back, also from a record, and checks its chain.
    ///
    /// # Errors
    /// `JOURNAL_INVALID` with the place if it was cut, edited, reordered or joined from two runs;
    /// `JOURNAL_VERSION_UNSUPPORTED` if a newer version wrote it.
    pub fn from_json(text: &str) -> Result<Journal, LoadError> {
        Journal::from_document(text).map(|(journal, _)| journal)
    }

    /// Reads a record back: a journal and its plan.
    ///
    /// # Errors
    /// Those of [`Journal::from_json`], and `JOURNAL_INVALID` if there is no plan in it, or that of another run.
    pub fn import_run(text: &str) -> Result<(Plan, Journal), LoadError> {
        let (journal, plan) = Journal::from_document(text)?;
        let plan = plan.ok_or_else(|| invalid("plan", "is missing: this is a journal without its plan"))?;
        if plan.run_id != journal.run_id {
            return Err(invalid("plan.run_id", "the plan is of another run"));
        }
        Ok((plan, journal))
    }

    fn from_document(text: &str) -> Result<(Journal, Option<Plan>), LoadError> {
        let document = read_text(text)?;
        check_version(&document, JOURNAL_VERSION, Code::JournalVersionUnsupported, Code::JournalInvalid)?;
        let document: Document<'_> = from_value(document).map_err(broken)?;
        let mut journal = Journal { run_id: document.run_id.into_owned(), entries: Vec::new() };
        for entry in document.entries.into_owned() {
            journal.check_and_push(entry)?;
        }
        if journal.head() != document.head {
            return Err(invalid("head", "the end of the journal is missing"));
        }
        Ok((journal, document.plan.map(Cow::into_owned)))
    }

    fn check_and_push(&mut self, entry: ChainedEntry) -> Result<(), LoadError> {
        let expected = self.len() as u64 + 1;
        let place = || format!("entry {expected}");
        if entry.revision != expected {
            return Err(invalid(place(), format!("expected revision {expected}, found {}", entry.revision)));
        }
        if entry.chain != entry_digest(self.head(), entry.revision, entry.at, &entry.event) {
            return Err(invalid(place(), "the entry is not the one that was written here"));
        }
        self.entries.push(entry);
        Ok(())
    }

    /// What the next entry is chained to.
    fn head(&self) -> &str {
        self.entries.last().map_or(&self.run_id, |entry| &entry.chain)
    }
}

/// Makes a run again from its plan and journal, full or compact.
///
/// # Errors
/// `JOURNAL_INVALID` with the place if the journal is not one that this plan can have led to.
pub fn replay(plan: impl Into<Arc<Plan>>, journal: &Journal) -> Result<Replayed, LoadError> {
    let plan = plan.into();
    if journal.run_id != plan.run_id {
        return Err(invalid("run_id", "the journal is of another run"));
    }
    let mut entries = journal.entries.iter();
    let Some(ChainedEntry { at, event: Event::Created {}, .. }) = entries.next() else {
        return Err(invalid("entry 1", "a journal begins with `created`"));
    };
    let (mut run, created) = Run::create(plan, *at);
    let mut effects = vec![created.effects];
    for entry in entries {
        effects.push(run.replay_entry(entry)?);
    }
    invariants::check(&run).map_err(|broken| invalid(broken.place, broken.message))?;
    Ok(Replayed { run, effects })
}

impl Run {
    /// Applies an entry again, and returns the effects it emitted. If it cannot have been written, the run may have changed.
    pub(crate) fn replay_entry(&mut self, entry: &ChainedEntry) -> Result<Vec<Effect>, LoadError> {
        let place = || format!("entry {}", entry.revision);
        entry.event.check_form().map_err(|rejected| invalid(place(), rejected.message))?;
        let follows = entry.revision == self.revision() + 1;
        let effects = self
            .apply_recorded(&entry.event, entry.at)
            .map_err(|rejected| invalid(place(), format!("the run does not take it: {}", rejected.code())))?
            .filter(|_| follows)
            .ok_or_else(|| invalid(place(), "the event changes nothing here"))?;
        // A recorded evaluation is taken as it stands, so what it led to is checked like a snapshot, before anything else hides it.
        if let Event::TurnDecided(_) = entry.event {
            invariants::check_life(self).map_err(|broken| invalid(broken.place, broken.message))?;
        }
        Ok(effects)
    }
}

/// Reads one line of a journal, which should be the entry of this number.
pub(crate) fn read_line(line: &str, number: u64) -> Result<ChainedEntry, LoadError> {
    let place = || format!("entry {number}");
    let value = json::parse_value(line, MAX_DOCUMENT_DEPTH).map_err(|fault| invalid(place(), fault.to_string()))?;
    from_value(value).map_err(|misread| invalid(place(), misread.sentence("it")))
}

fn chain_digest(previous: &str, entry_text: &str) -> String {
    digest(&["turnlatch journal", previous, entry_text])
}

fn entry_digest(previous: &str, revision: u64, at: Timestamp, event: &Event) -> String {
    chain_digest(previous, &json_text(&(revision, at, event)))
}

fn read_text(text: &str) -> Result<Value, LoadError> {
    json::parse_value(text, MAX_DOCUMENT_DEPTH).map_err(|fault| invalid("the document", fault.to_string()))
}

fn broken(misread: Invalid) -> LoadError {
    misread.load_error(Code::JournalInvalid)
}

pub(crate) fn invalid(place: impl Into<String>, message: impl Into<String>) -> LoadError {
    LoadError::new(Code::JournalInvalid, place, message)
}
