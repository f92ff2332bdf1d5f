//! The choices of a plan.

use serde::{Deserialize, Serialize};

/// Whether a run may ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The user is never asked.
    #[default]
    Auto,
    /// The run may wait for a person.
    Interactive,
}

/// What happens to the agent's process while a run waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// It ends; the next turn resumes the agent's session.
    #[default]
    Resumable,
    /// It lives on, keeps its slot, and takes the reply.
    StickyProcess,
}

/// A profile as requests and plans have it: `{"kind": "resumable"}` (ADM-15).
pub(crate) mod interactive_profile {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Profile;

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct InteractiveProfile {
        kind: Profile,
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn serialize<S: Serializer>(kind: &Profile, serializer: S) -> Result<S::Ok, S::Error> {
        InteractiveProfile { kind: *kind }.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Profile, D::Error> {
        Ok(InteractiveProfile::deserialize(deserializer)?.kind)
    }
}

/// When a valid output without a marker completes an interactive run (GATE-5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SoftCompletion {
    /// Unless the same turn asks something or says that it is not done.
    #[default]
    UnlessAsking,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What happens to a turn whose process was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InterruptedTurn {
    /// The run fails.
    #[default]
    Fail,
    /// The turn is run again under the same number.
    Retry,
}

/// The wait of a run that asks nothing special: 20 minutes.
pub(crate) const DEFAULT_SESSION_TIMEOUT_SEC: u64 = 1200;

/// The longest wait that can be asked for: ten years. A larger number is a time in milliseconds, or an accident.
pub(crate) const MAX_SESSION_TIMEOUT_SEC: u64 = 315_360_000;

impl Mode {
    /// The mode on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Mode::Auto => "auto",
            Mode::Interactive => "interactive",
        }
    }
}
