//! The skill patch: what is added to a skill's instructions so that the agent knows the contract (PATCH-1 to PATCH-3).

use crate::admission::plan::Plan;
use crate::json::json_text;
use crate::types::event::DONE_MARKER;
use crate::types::plan::Mode;

/// The words of the patch; a host may change them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionTemplate {
    /// The heading of the section.
    pub heading: String,
    /// For an agent that may ask.
    pub interactive: String,
    /// For an agent that may not.
    pub auto: String,
    /// How an agent says that it is done.
    pub completion: String,
    /// What stands before the schema.
    pub schema: String,
    /// What stands before the paths of the required artifacts.
    pub artifacts: String,
}

impl Default for InstructionTemplate {
    fn default() -> Self {
        InstructionTemplate {
            heading: "## How this run works".to_owned(),
            interactive: INTERACTIVE.to_owned(),
            auto: AUTO.to_owned(),
            completion: completion(),
            schema: "The rest of that object must fit this JSON Schema:".to_owned(),
            artifacts: ARTIFACTS.to_owned(),
        }
    }
}

/// The skill's text with the section for this mode at its end, and what the plan demands. A section from before is replaced.
pub fn append_instructions(skill: &str, mode: Mode, plan: Option<&Plan>, wording: &InstructionTemplate) -> String {
    let mode_text = match mode {
        Mode::Auto => &wording.auto,
        Mode::Interactive => &wording.interactive,
    };
    let demands = plan.map(|plan| demands(plan, wording)).unwrap_or_default();
    let (heading, completion) = (&wording.heading, &wording.completion);
    let skill = without_section(skill);
    let separator = if skill.is_empty() { "" } else { "\n\n" };
    format!("{skill}{separator}{BEGIN}\n{heading}\n\n{mode_text}\n\n{completion}{demands}\n{END}\n")
}

/// The output schema and the required artifacts.
fn demands(plan: &Plan, wording: &InstructionTemplate) -> String {
    let schema = plan.output_schema.as_ref().map(|schema| inert(schema.text()));
    let schema = schema.map(|schema| format!("\n\n{}\n\n```json\n{schema}\n```", wording.schema));
    let mut demands = schema.unwrap_or_default();
    if !plan.required_artifacts.is_empty() {
        demands = demands + "\n\n" + &wording.artifacts + "\n";
    }
    for path in &plan.required_artifacts {
        demands = demands + "\n- " + &inert(&json_text(path));
    }
    demands
}

/// The skill's own text: what stands before and after every section of ours.
fn without_section(skill: &str) -> String {
    let mut own = String::with_capacity(skill.len());
    let mut rest = skill;
    while let Some((before, from_begin)) = rest.split_once(BEGIN) {
        own.push_str(before.trim_end());
        // A section whose end is missing was cut off there: it runs to the end of the text.
        rest = from_begin.split_once(END).map_or("", |(_, after)| after.trim_start_matches(['\r', '\n']));
        if !rest.is_empty() && !own.is_empty() {
            own.push_str("\n\n");
        }
    }
    own.push_str(rest);
    own.truncate(own.trim_end().len());
    own
}

/// In JSON a `<` stands in strings only, where its escape means the same and closes no comment.
fn inert(json: &str) -> String {
    json.trim().replace('<', "\\u003c")
}

const BEGIN: &str = "<!-- turnlatch:begin -->";
const END: &str = "<!-- turnlatch:end -->";

const INTERACTIVE: &str = "\
You work together with a user. When you need a decision, a missing fact or an approval, ask for it in plain words and \
end your turn; the user's answer comes as free text and you go on from there. Ask only when you cannot decide well \
yourself, and ask one thing at a time.

You may, but need not, make a question easier to show by adding a block like this one. Every field is optional:

```ask_user_yaml
prompt: Which environment shall I deploy to?
kind: choose_one
options:
  - label: staging
  - label: production
ui_hints: {}
default_decision_policy: choose staging
```

While you are asking, do not write the completion marker.";

const AUTO: &str = "\
You run in the background and nobody is there to answer. Never ask and never wait: where something is open, decide by \
sensible defaults, say in your result what you assumed, and carry on to the end.";

const ARTIFACTS: &str = "\
At the end these files must exist in the folder you work in, or the run fails. Each path is a JSON string:";

fn completion() -> String {
    format!(
        "When, and only when, the work is really complete, end your last message with one JSON object that has the key \
         `{DONE_MARKER}` with the value `true` beside the result. Write that object as plain JSON, once, as the last thing \
         you say."
    )
}

#[cfg(test)]
mod tests;
