//! Every combination of the settings that change what a run may do.

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};
use turnlatch::Plan;

use crate::vector::admission;

/// The settings of a run that its arrows depend on.
#[expect(clippy::struct_excessive_bools, reason = "each is a row of a table in the spec, and all of them are combined")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Whether somebody may be asked.
    pub interactive: bool,
    /// Whether the process lives on while the run waits.
    pub sticky: bool,
    /// Whether only a person's reply goes on.
    pub strict: bool,
    /// Whether an interrupted turn is run again.
    pub retry: bool,
    /// How many turns there may be.
    pub max_attempt: Option<u32>,
    /// Whether outputs are checked.
    pub schema: bool,
    /// `unless_asking`, `always` or `never`.
    pub soft_completion: &'static str,
}

impl Setting {
    /// What a vector is given for it.
    #[must_use]
    pub fn given(&self) -> Map<String, Value> {
        let mut runner = json!({"execution_modes": ["auto", "interactive"]});
        if let Some(max) = self.max_attempt {
            runner["max_attempt"] = json!(max);
        }
        let mut skill = json!({"runner": runner});
        if !self.schema {
            skill["output_schema"] = Value::Null;
        }
        let request = json!({
            "execution_mode": if self.interactive { "interactive" } else { "auto" },
            "interactive_require_user_reply": self.strict,
            "session_timeout_sec": 60,
            "interactive_profile": {"kind": if self.sticky { "sticky_process" } else { "resumable" }},
            "soft_completion": self.soft_completion,
            "interrupted_turn": if self.retry { "retry" } else { "fail" },
        });
        Map::from_iter([("skill".to_owned(), skill), ("request".to_owned(), request)])
    }

    /// The plan that admission makes of it.
    ///
    /// # Panics
    /// If admission refuses it, which no combination gives a reason for.
    #[must_use]
    pub fn plan(&self) -> Arc<Plan> {
        admission(&self.given()).unwrap_or_else(|refusal| panic!("{self:?}: {refusal}"))
    }

    /// All 384 combinations. The first is the plainest, so that a shrunk case is easy to read.
    #[must_use]
    pub fn all() -> Vec<Setting> {
        let mut all = Vec::new();
        for bits in 0_u8..32 {
            for max_attempt in [None, Some(1), Some(2), Some(3)] {
                for soft_completion in ["unless_asking", "always", "never"] {
                    all.push(Setting {
                        interactive: bits & 1 == 0,
                        sticky: bits & 2 != 0,
                        strict: bits & 4 == 0,
                        retry: bits & 8 != 0,
                        max_attempt,
                        schema: bits & 16 == 0,
                        soft_completion,
                    });
                }
            }
        }
        all
    }
}

/// The plans of [`Setting::all`], made once: compiling a schema costs more than a whole run.
#[must_use]
pub fn plans() -> &'static [(Setting, Arc<Plan>)] {
    static PLANS: LazyLock<Vec<(Setting, Arc<Plan>)>> =
        LazyLock::new(|| Setting::all().into_iter().map(|setting| (setting, setting.plan())).collect());
    &PLANS
}
