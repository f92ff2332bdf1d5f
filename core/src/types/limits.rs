//! How much of anything the core takes in before it says no (BAD-2).

use crate::json::Value;
use crate::read::Reading;
use crate::wire::record;
use serde::{Deserialize, Serialize};

/// Sizes beyond which input is refused or cut; part of the plan, so that a replay decides with the same ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Bytes of the assistant's text of one turn; more counts as no output (`OUTPUT_TOO_LARGE`).
    pub turn_text_bytes: usize,
    /// Levels of nesting in an output; more is unparsable (`OUTPUT_TOO_DEEP`). At most [`Limits::MAX_JSON_DEPTH`].
    pub json_depth: usize,
    /// Bytes of one schema's text.
    pub schema_bytes: usize,
    /// Bytes of the manifest's text.
    pub manifest_bytes: usize,
    /// Bytes of a question's prompt; a longer one is cut.
    pub prompt_bytes: usize,
    /// Options of one question; further ones are dropped.
    pub options: usize,
    /// Bytes of a reply; a larger one is refused and the question stays pending (`REPLY_TOO_LARGE`).
    pub reply_bytes: usize,
    /// Questions in the life of one run; not limited if absent (GATE-11).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactions: Option<u64>,
}

record!(Limits {
    turn_text_bytes,
    json_depth,
    schema_bytes,
    manifest_bytes,
    prompt_bytes,
    options,
    reply_bytes,
    interactions,
});

impl Limits {
    /// The deepest JSON the core will ever walk: building, validating and freeing a value recurse this far.
    pub const MAX_JSON_DEPTH: usize = 128;

    /// What holds where nobody says otherwise.
    pub const DEFAULT: Limits = Limits {
        turn_text_bytes: 16 * MIB,
        json_depth: Limits::MAX_JSON_DEPTH,
        schema_bytes: MIB,
        manifest_bytes: 256 * KIB,
        prompt_bytes: 16 * KIB,
        options: 64,
        reply_bytes: MIB,
        interactions: None,
    };

    /// Reads limits of a host's; the default holds for those that are not given.
    ///
    /// # Errors
    /// A sentence, if a name is none of a limit or a value is no whole number.
    pub fn from_value(given: Value) -> Result<Limits, String> {
        let (mut limits, mut reading) = (Limits::DEFAULT, Reading::default());
        let mut members = reading.members(given);
        members.take_if_given("turn_text_bytes", &mut limits.turn_text_bytes);
        members.take_if_given("json_depth", &mut limits.json_depth);
        members.take_if_given("schema_bytes", &mut limits.schema_bytes);
        members.take_if_given("manifest_bytes", &mut limits.manifest_bytes);
        members.take_if_given("prompt_bytes", &mut limits.prompt_bytes);
        members.take_if_given("options", &mut limits.options);
        members.take_if_given("reply_bytes", &mut limits.reply_bytes);
        members.take_if_given("interactions", &mut limits.interactions);
        members.end();
        reading.end(limits).map_err(|misread| misread.sentence("the limits"))
    }

    /// The names of the limits that make no sense.
    pub(crate) fn problems(&self) -> Vec<&'static str> {
        let sizes = [
            ("turn_text_bytes", self.turn_text_bytes),
            ("json_depth", self.json_depth),
            ("schema_bytes", self.schema_bytes),
            ("manifest_bytes", self.manifest_bytes),
            ("prompt_bytes", self.prompt_bytes),
            ("reply_bytes", self.reply_bytes),
        ];
        // A run admitted on a large machine must be readable in a browser, where a size has 32 bits. The largest of those stands
        // for all that are larger.
        let fits = |size: usize| u32::try_from(size).is_ok_and(|size| size < u32::MAX);
        let mut problems = Vec::new();
        for (name, size) in sizes {
            if size == 0 || !fits(size) {
                problems.push(name);
            }
        }
        if !fits(self.options) {
            problems.push("options");
        }
        if self.json_depth > Limits::MAX_JSON_DEPTH {
            problems.push("json_depth");
        }
        if self.interactions == Some(0) {
            problems.push("interactions");
        }
        problems
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
