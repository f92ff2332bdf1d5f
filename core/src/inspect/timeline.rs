//! The timeline: a journal read line by line, each with what it did to the run (HIST-5).

use std::sync::Arc;

use serde::Serialize;

use crate::admission::plan::Plan;
use crate::inspect::explain::explained;
use crate::lifecycle::invariants;
use crate::lifecycle::run::Run;
use crate::persist::journal::{ChainedEntry, invalid, read_line};
use crate::text::display_text;
use crate::types::decision::Decision;
use crate::types::event::{Event, Origin};
use crate::types::interaction::ResolutionMode;
use crate::types::load_error::LoadError;
use crate::types::state::Status;
use crate::types::time::Timestamp;

/// One entry of a journal as a person reads it: what happened, by whom, and where the run stood after it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct TimelineEntry {
    /// The run's revision after it.
    pub revision: u64,
    /// The time the host gave.
    pub at: Timestamp,
    /// The name of what happened. A turn is `turn_finished`, also where only its decision was recorded.
    pub event: &'static str,
    /// Who brought it.
    pub by: Origin,
    /// Where the run was after it.
    pub status: Status,
    /// The number of the last turn that had started.
    pub attempt_number: u32,
    /// Why the run was there.
    pub reason: String,
    /// The code, if the run had ended without success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The slot that the run held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot_id: Option<String>,
    /// The question that was asked or came to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interaction_id: Option<u64>,
    /// The question, if one was asked, with control and bidi characters made visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_prompt: Option<String>,
    /// When waiting ends by itself, if a question was asked and it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<Timestamp>,
    /// The answer that the agent gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// How the question came to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution_mode: Option<ResolutionMode>,
    /// What the gates decided about a turn.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "explained")]
    #[cfg_attr(feature = "json-schema", schemars(with = "Option<crate::inspect::explain::Explained>"))]
    pub decision: Option<Decision>,
}

/// Makes a run again from the lines of its journal, one by one, and says what each of them did.
///
/// The chain is not checked: lines that may have been changed are read with [`crate::Journal::from_lines`] first.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayer {
    plan: Arc<Plan>,
    run: Option<Run>,
}

impl Replayer {
    /// Before the first line.
    pub fn new(plan: impl Into<Arc<Plan>>) -> Replayer {
        Replayer { plan: plan.into(), run: None }
    }

    /// The run after the last line; none before the first.
    pub const fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// Replays the next line.
    ///
    /// # Errors
    /// `JOURNAL_INVALID` if the line cannot be the next one; the run is unchanged.
    pub fn next(&mut self, line: &str) -> Result<TimelineEntry, LoadError> {
        match &mut self.run {
            Some(run) => run.replay_next(line),
            none => {
                let (run, created) = Run::replay_first(self.plan.clone(), line)?;
                *none = Some(run);
                Ok(created)
            }
        }
    }
}

/// Continues after the line that brought the run here.
impl From<Run> for Replayer {
    fn from(run: Run) -> Replayer {
        Replayer { plan: run.plan().clone(), run: Some(run) }
    }
}

impl Run {
    fn replay_first(plan: Arc<Plan>, line: &str) -> Result<(Run, TimelineEntry), LoadError> {
        let entry = read_line(line, 1)?;
        let ChainedEntry { revision: 1, at, event: Event::Created {}, .. } = entry else {
            return Err(invalid("entry 1", "a journal begins with `created`"));
        };
        let (run, _) = Run::create(plan, at);
        // The plan may come from a file.
        invariants::check(&run).map_err(|broken| invalid(broken.place, broken.message))?;
        let entry = run.timeline_entry(&entry, 0);
        Ok((run, entry))
    }

    fn replay_next(&mut self, line: &str) -> Result<TimelineEntry, LoadError> {
        let expected = self.revision() + 1;
        let entry = read_line(line, expected)?;
        if entry.revision != expected {
            let found = format!("expected revision {expected}, found {}", entry.revision);
            return Err(invalid(format!("entry {expected}"), found));
        }
        let resolved_before = self.history().len();
        // Only a recorded decision can be found wrong after it was taken, and it adds nothing to the history.
        let before = matches!(entry.event, Event::TurnDecided(_)).then(|| self.life().clone());
        if let Err(error) = self.replay_entry(&entry) {
            if let Some(before) = before {
                self.go_back_to(before);
            }
            return Err(error);
        }
        Ok(self.timeline_entry(&entry, resolved_before))
    }

    /// The entry that has just been replayed; so many questions had come to their end before it.
    fn timeline_entry(&self, entry: &ChainedEntry, resolved_before: usize) -> TimelineEntry {
        let (event, by) = (entry.event.public_name(), entry.event.origin());
        let explanation = self.explain();
        let is_turn = event == "turn_finished";
        let asked = self.pending().filter(|_| is_turn);
        let resolved = self.history().get(resolved_before);
        TimelineEntry {
            revision: entry.revision,
            at: entry.at,
            event,
            by,
            status: explanation.status,
            attempt_number: self.attempt_number(),
            reason: explanation.reason,
            code: explanation.code,
            slot_id: self.state().held_slot().cloned(),
            interaction_id: asked.map(|asked| asked.interaction_id).or(resolved.map(|record| record.interaction_id)),
            display_prompt: asked.map(|asked| display_text(&asked.question.prompt).into_owned()),
            deadline_at: asked.and_then(|asked| asked.deadline_at),
            response: resolved.and_then(|record| record.response.clone()),
            resolution_mode: resolved.map(|record| record.resolution_mode),
            decision: explanation.decision.filter(|_| is_turn),
        }
    }
}
