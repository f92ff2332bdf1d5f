//! Reading a turn takes work in proportion to its size, on every text that was made to prevent it (OUT-3).

use turnlatch::inspect::reading_steps;
use turnlatch::{Plan, TurnReport};
use turnlatch_tests::hostile::{HostileText, hostile_texts, plans};

#[test]
fn twice_the_text_is_at_most_twice_the_work() {
    check(HostileText::as_text);
}

#[test]
fn twice_the_messages_are_at_most_twice_the_work() {
    check(HostileText::as_messages);
}

/// The measure itself: how often each part of a text is looked at.
#[test]
fn every_look_at_a_part_is_counted() {
    let plan = &plans().iter().find(|(setting, _)| setting.interactive && setting.schema).expect("a plan").1;
    let steps = |text: &str| reading_steps(plan, &TurnReport::with_text(1, text));
    let length = |text: &str| text.len() as u64;

    // For the marker's name, for the layout, and for brackets.
    let prose = "nothing but words\nin two lines";
    assert_eq!(steps(prose), 3 * length(prose));
    // Also line by line, if the marker is named.
    let named = "the marker is called __SKILL_DONE__";
    assert_eq!(steps(named), 4 * length(named));
    // For the marker's name, as an object to its end and one step behind it, and as an output or a question.
    let output = r#"{"answer": 1}"#;
    assert_eq!(steps(output), 3 * length(output) + 1);
    let question = r#"{"ask_user": {"prompt": "Which?"}}"#;
    assert_eq!(steps(question), 3 * length(question) + 1);
    let words = "words ";
    assert_eq!(steps(&format!("{words}{output}")), 3 * length(words) + 5 * length(output) + 1);
    // Of two that fit, the last is the output.
    assert_eq!(steps(&format!("{words}{output} {output}")), 3 * length(words) + 9 * length(output) + 3 + 2);
    // A placeholder is looked at up to its name.
    assert_eq!(steps(&format!("{words}{{  name}}")), 3 * length(words) + 3 * 8 + 3);
    // What is broken, to where it broke.
    assert_eq!(steps(&format!("{words}[1,,]")), 3 * length(words) + 3 * 5 + 3 + 1);
    // In a fence, as an object; and if it is none where one was wanted, once more.
    let (open, close) = ("```json\n", "\n```\n");
    assert_eq!(steps(&format!("{open}{output}{close}")), 2 * length(open) + 2 * length(close) + 4 * length(output) + 1);
    assert_eq!(steps(&format!("{open}[1]{close}")), 2 * length(open) + 2 * length(close) + 2 * 3 + 3 + 1);
    // A block of YAML is read by itself.
    let (open, yaml, close) = ("<ASK_USER_YAML>", "\nprompt: Which?\n", "</ASK_USER_YAML>");
    assert_eq!(steps(&format!("{open}{yaml}{close}")), 2 * length(open) + 2 * length(close) + 3 * length(yaml));
    // What the host has read is measured by its text.
    let given = TurnReport { output: Some(serde_json::json!({"answer": 1})), ..TurnReport::of_attempt(1) };
    assert_eq!(reading_steps(plan, &given), length(r#"{"answer":1}"#));
}

fn check(report: impl Fn(&HostileText, usize) -> TurnReport) {
    let modes = [true, false].map(|interactive| {
        let found = plans().iter().find(|(setting, _)| setting.interactive == interactive && setting.schema);
        &found.expect("a plan").1
    });
    let mut broken = Vec::new();
    for hostile in hostile_texts() {
        let (once, twice) = (report(&hostile, SIZE), report(&hostile, 2 * SIZE));
        for plan in modes {
            broken.extend(compare(hostile.name, plan, &once, &twice));
        }
    }
    assert!(broken.is_empty(), "not linear:\n{}", broken.join("\n"));
}

fn compare(name: &str, plan: &Plan, once: &TurnReport, twice: &TurnReport) -> Option<String> {
    let (few, many) = (reading_steps(plan, once), reading_steps(plan, twice));
    let per_hundred_bytes = many * 100 / size(twice);
    println!(
        "{name:36} {:12} {few:>9} {many:>9} {per_hundred_bytes:>4} steps a hundred bytes",
        plan.execution_mode.as_str()
    );
    let holds = many <= 2 * few + SLACK && many <= MOST_STEPS_PER_BYTE * size(twice) + SLACK;
    (!holds).then(|| format!("{name}: {few} steps for {} bytes, {many} for {}", size(once), size(twice)))
}

fn size(report: &TurnReport) -> u64 {
    let texts = report.messages.iter().flatten().map(|message| message.text.len());
    (texts.sum::<usize>() + report.text.as_ref().map_or(0, String::len)) as u64
}

const SIZE: usize = 256 * 1024;
/// What a text costs before its first byte.
const SLACK: u64 = 1024;
/// The text as a whole, its lines, its objects twice, its marker lines, its tags; and the output.
const MOST_STEPS_PER_BYTE: u64 = 8;
