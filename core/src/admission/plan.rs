//! The plan of a run: every setting resolved. Made by admission, or read back from a snapshot; never changed.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde::de::MapAccess;
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize};

use crate::schema::OutputSchema;
use crate::types::codes::Note;
use crate::types::limits::Limits;
use crate::types::plan::{InterruptedTurn, Mode, Profile, SoftCompletion};
use crate::types::tagged::{self, Tagged};

/// An admitted run's id and its settings, which it derefs to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Plan {
    /// The run's id, chosen by the host.
    pub run_id: String,
    #[serde(flatten)]
    settings: Arc<PlanSettings>,
}

/// An admitted run's settings. Runs that have the same share them.
#[cfg_attr(test, derive(Default))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct PlanSettings {
    /// The engine that runs the turns.
    pub engine: String,
    /// Whether anybody may be asked.
    pub execution_mode: Mode,
    /// Strict: only a person's reply goes on (`interactive_require_user_reply`).
    pub require_user_reply: bool,
    /// How long a wait lasts where it has a deadline.
    pub session_timeout_sec: u64,
    /// What happens to the process while the run waits.
    pub profile: Profile,
    /// How many turns an interactive run may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempt: Option<u32>,
    /// When a valid output without a marker completes an interactive run.
    pub soft_completion: SoftCompletion,
    /// What happens to a turn whose process was lost.
    pub interrupted_turn: InterruptedTurn,
    /// Paths that must exist for the run to succeed.
    pub required_artifacts: Vec<String>,
    /// What the output must look like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<OutputSchema>,
    /// Sizes beyond which input is refused or cut.
    pub limits: Limits,
    /// What admission warned of.
    pub warnings: Vec<Note>,
}

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Plan, D::Error> {
        tagged::deserialize(deserializer)
    }
}

impl<'de> Tagged<'de> for Plan {
    const TAG: &'static [&'static str; 1] = &["run_id"];

    fn read<A: MapAccess<'de>>(run_id: String, settings: MapAccessDeserializer<A>) -> Result<Plan, A::Error> {
        Ok(Plan::new(run_id, PlanSettings::deserialize(settings)?))
    }
}

impl Deref for Plan {
    type Target = PlanSettings;

    fn deref(&self) -> &PlanSettings {
        &self.settings
    }
}

/// Settings in use, so that a thousand runs of one skill share theirs. A memory that never changes an answer.
static SHARED: Mutex<Vec<Weak<PlanSettings>>> = Mutex::new(Vec::new());

impl PlanSettings {
    /// The same settings in one place for all, if they are known.
    fn shared(self) -> Arc<PlanSettings> {
        // The list is whole at any time, so a panic elsewhere does not spoil it.
        let mut known = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = known.iter().filter_map(Weak::upgrade).find(|known| known.can_stand_for(&self)) {
            return same;
        }
        if known.len() >= MOST_SHARED {
            known.retain(|settings| settings.strong_count() > 0);
            // If all of them are in use, the older half is as likely to be asked for as any.
            let too_many = known.len().saturating_sub(MOST_SHARED / 2);
            known.drain(..too_many);
        }
        let settings = Arc::new(self);
        known.push(Arc::downgrade(&settings));
        settings
    }

    /// Equal is not enough: a schema of the same text may be known to another validator.
    fn can_stand_for(&self, other: &PlanSettings) -> bool {
        let same_schema = match (&self.output_schema, &other.output_schema) {
            (Some(one), Some(other)) => one.is_shared_with(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        same_schema && self == other
    }
}

const MOST_SHARED: usize = 256;

impl Plan {
    pub(crate) fn new(run_id: String, settings: PlanSettings) -> Plan {
        Plan { run_id, settings: settings.shared() }
    }
}

impl PlanSettings {
    pub(crate) fn is_interactive(&self) -> bool {
        self.execution_mode == Mode::Interactive
    }
}

#[cfg(test)]
mod tests;
