//! Reading a turn takes work in proportion to its size, on every text that was made to prevent it (OUT-3).

use turnlatch::{RunPlan, TurnReport, reading_steps};
use turnlatch_tests::hostile::{HostileText, hostile_texts, plans};

#[test]
fn twice_the_text_is_at_most_twice_the_work() {
    check(HostileText::as_text);
}

#[test]
fn twice_the_messages_are_at_most_twice_the_work() {
    check(HostileText::as_messages);
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

fn compare(name: &str, plan: &RunPlan, once: &TurnReport, twice: &TurnReport) -> Option<String> {
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
