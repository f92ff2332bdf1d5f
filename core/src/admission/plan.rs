//! The plan of a run: every setting resolved. Made by admission, or read back from a snapshot; never changed.

use std::ops::Deref;
use std::sync::Arc;

use serde::de::MapAccess;
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize};

use crate::schema::OutputSchema;
use crate::schema::shared::Shared;
use crate::types::codes::Note;
use crate::types::limits::Limits;
use crate::types::plan::{InterruptedTurn, Mode, Profile, SoftCompletion, interactive_profile};
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct PlanSettings {
    /// The engine that runs the turns.
    pub engine: String,
    /// Whether anybody may be asked.
    pub execution_mode: Mode,
    /// Strict: only a person's reply goes on.
    #[serde(rename = "interactive_require_user_reply")]
    pub require_user_reply: bool,
    /// How long a wait lasts where it has a deadline.
    pub session_timeout_sec: u64,
    /// What happens to the process while the run waits.
    #[serde(rename = "interactive_profile", with = "interactive_profile")]
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
    /// Whether `format` in the skill's schemas is asserted (ADM-14).
    #[serde(default = "asserted", skip_serializing_if = "is_asserted")]
    pub assert_formats: bool,
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
        let mut settings = PlanSettings::deserialize(settings)?;
        if !settings.assert_formats {
            settings.output_schema = settings.output_schema.as_ref().map(OutputSchema::annotating_formats);
        }
        Ok(Plan::new(run_id, settings))
    }
}

impl Deref for Plan {
    type Target = PlanSettings;

    fn deref(&self) -> &PlanSettings {
        &self.settings
    }
}

static SETTINGS: Shared<PlanSettings> = Shared::new();

impl Plan {
    pub(crate) fn new(run_id: String, settings: PlanSettings) -> Plan {
        let settings = SETTINGS.find(|known| *known == settings).unwrap_or_else(|| SETTINGS.add(settings));
        Plan { run_id, settings }
    }
}

fn asserted() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_asserted(asserted: &bool) -> bool {
    *asserted
}

impl PlanSettings {
    pub(crate) fn is_interactive(&self) -> bool {
        self.execution_mode == Mode::Interactive
    }
}

#[cfg(test)]
mod tests;
