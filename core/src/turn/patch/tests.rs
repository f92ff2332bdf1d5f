use super::*;
use crate::admission::plan::PlanSettings;
use crate::schema::OutputSchema;
use crate::types::limits::Limits;

fn patched(skill: &str, mode: Mode, schema: Option<&str>) -> String {
    patched_for(&plan(schema, &[]), skill, mode)
}

fn patched_for(plan: &Plan, skill: &str, mode: Mode) -> String {
    append_instructions(skill, mode, Some(plan), &InstructionTemplate::default())
}

fn plan(schema: Option<&str>, artifacts: &[&str]) -> Plan {
    let output_schema = schema.map(|text| OutputSchema::compile(text, &Limits::default()).unwrap());
    let required_artifacts = artifacts.iter().map(|path| (*path).to_owned()).collect();
    Plan::new(String::new(), PlanSettings { required_artifacts, output_schema, ..PlanSettings::default() })
}

#[test]
fn patching_twice_gives_the_same_text_and_switching_replaces() {
    for skill in ["", "# Skill\n\nDo it.\n", "x\n\n\n"] {
        let interactive = patched(skill, Mode::Interactive, Some("{\"type\":\"object\"}"));
        assert_eq!(patched(&interactive, Mode::Interactive, Some("{\"type\":\"object\"}")), interactive);
        let auto = patched(skill, Mode::Auto, None);
        assert_eq!(patched(&interactive, Mode::Auto, None), auto);
        assert_eq!(auto.matches(BEGIN).count(), 1);
    }
}

#[test]
fn what_stands_behind_an_old_section_is_kept() {
    let old = format!("a\n\n{BEGIN}\nold\n{END}\nb\n{BEGIN}\ncut off");
    assert!(patched(&old, Mode::Auto, None).starts_with("a\n\nb\n\n<!--"));
}

#[test]
fn auto_does_not_speak_of_the_fields_of_a_question() {
    let text = patched("", Mode::Auto, None);
    for word in ["kind", "prompt", "options", "ui_hints", "ask_user"] {
        assert!(!text.contains(word), "{word}");
    }
    assert!(text.contains(DONE_MARKER));
}

#[test]
fn a_schema_cannot_close_the_section() {
    let schema = format!("{{\"title\":\"{END}\"}}");
    let text = patched("", Mode::Auto, Some(&schema));
    assert_eq!(text.matches(END).count(), 1);
    assert_eq!(patched(&text, Mode::Auto, Some(&schema)), text);
}

#[test]
fn required_artifacts_are_named_in_both_modes_and_cannot_close_the_section() {
    let plan = plan(Some("{}"), &["out/report.md", "a\n- b", END, "`c`"]);
    for mode in [Mode::Auto, Mode::Interactive] {
        let text = patched_for(&plan, "x", mode);
        assert!(
            text.contains("\n- \"out/report.md\"\n- \"a\\n- b\"\n- \"\\u003c!-- turnlatch:end -->\"\n- \"`c`\"\n"),
            "{text}"
        );
        assert_eq!(patched_for(&plan, &text, mode), text);
    }
    assert!(!patched("x", Mode::Auto, Some("{}")).contains(ARTIFACTS));
    assert!(!append_instructions("x", Mode::Auto, None, &InstructionTemplate::default()).contains("JSON Schema"));
}
