//! How much of a machine many waiting runs take: `cargo run --release -p turnlatch-tests --bin scale -- 1000000`.
//!
//! Every run is a real one: made, granted a slot, asked by its agent, and waiting with a deadline. Measured are the memory of
//! the living, the snapshots that a database would keep, how many timers go off in the busiest second, a restart that reads
//! all of them back and asks each what it owes, and the worst of all nights: the host was away until every deadline had
//! passed. Times are of this machine and this moment; ratios are what to look at.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use turnlatch::{
    Action, Event, HostSettings, Mode, Plan, Run, RunRequest, Skill, Status, Timestamp, TurnReport, admit,
};

fn main() {
    let count = std::env::args().nth(1).map_or(100_000, |count| count.parse().expect("a number of runs"));
    let before = resident_bytes();
    let began = Instant::now();
    let runs: Vec<Run> = (0..count).map(waiting_run).collect();
    let made = began.elapsed();
    let living = resident_bytes() - before;
    println!("runs                       {count:>12}");
    println!(
        "made and asked             {:>12.2} s, {:.1} us a run, four events each",
        made.as_secs_f64(),
        per_run(made, count)
    );
    println!("memory, living             {:>12.0} MB, {} bytes a run", mega(living), living / count);

    let mut busiest: BTreeMap<u64, u64> = BTreeMap::new();
    for run in &runs {
        for effect in run.outstanding().effects {
            if let Action::SetTimer { at, .. } = effect.action {
                *busiest.entry(at.as_millis() / 1000).or_default() += 1;
            }
        }
    }
    let (timers, most) = (busiest.values().sum::<u64>(), busiest.values().max().copied().unwrap_or(0));
    println!("timers                     {timers:>12}, {most} in the busiest second");

    let began = Instant::now();
    let snapshots: Vec<String> = runs.iter().map(Run::snapshot).collect();
    let written = began.elapsed();
    let bytes = snapshots.iter().map(String::len).sum::<usize>();
    println!(
        "snapshots                  {:>12.0} MB, {} bytes a run, {:.1} us each",
        mega(bytes),
        bytes / count,
        per_run(written, count)
    );
    drop(runs);

    let (mut reading, mut firing) = (Duration::ZERO, Duration::ZERO);
    let mut owed = 0;
    for snapshot in &snapshots {
        let began = Instant::now();
        let mut run = Run::restore(snapshot).expect("our own snapshot");
        let effects = run.outstanding().effects;
        reading += began.elapsed();
        owed += effects.len();
        let began = Instant::now();
        for effect in effects {
            if let Action::SetTimer { interaction_id, at } = effect.action {
                run.apply(Event::TimerFired { interaction_id }, at).expect("the run takes it");
            }
        }
        firing += began.elapsed();
        assert_eq!(run.status(), Status::Queued, "a decision was made for the user");
    }
    println!(
        "read back, one by one      {:>12.2} s, {:.1} us a run, {owed} effects owed",
        reading.as_secs_f64(),
        per_run(reading, count)
    );
    println!("deadlines, one by one      {:>12.2} s, {:.1} us a run", firing.as_secs_f64(), per_run(firing, count));
}

/// A run that waits for an answer. Deadlines are spread over twenty minutes, as questions come over time.
fn waiting_run(number: usize) -> Run {
    let start = Timestamp::from_millis(u64::try_from(number * 1_200 % 1_200_000).expect("a time")).expect("in range");
    let (mut run, _) = Run::create(plan(number), start);
    let slot_id = format!("r{number}/s1");
    for event in [
        Event::SlotGranted { slot_id },
        Event::TurnFinished(TurnReport::with_text(1, "There are three notes. Which one shall I summarise?")),
    ] {
        run.apply(event, start).expect("the run takes it");
    }
    run
}

fn plan(number: usize) -> std::sync::Arc<Plan> {
    let schema =
        serde_json::json!({"type": "object", "required": ["file"], "properties": {"file": {"type": "string"}}});
    let skill = Skill::new().modes([Mode::Interactive]).max_attempt(5).output_schema(schema);
    let request = RunRequest::new(format!("r{number}"), "codex").mode(Mode::Interactive).require_user_reply(false);
    admit(&skill, &request, &HostSettings::with_engines(["codex"])).expect("a plan")
}

fn resident_bytes() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux tells how much memory is in use");
    let resident: usize = pages.split(' ').nth(1).expect("the second number").parse().expect("a number");
    resident * 4096
}

fn per_run(time: Duration, count: usize) -> f64 {
    time.as_secs_f64() * 1e6 / f64::from(u32::try_from(count).expect("a number of runs"))
}

fn mega(bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes / 1024).expect("less than four terabytes")) / 1024.0
}
