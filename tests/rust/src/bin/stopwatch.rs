//! Answers each script on standard input with the nanoseconds that its last event takes at best, without any binding.

use std::hint::black_box;
use std::io::{BufRead, Write, stdin, stdout};
use std::time::{Duration, Instant};

use turnlatch_tests::{Script, before_last_event};

const ENOUGH: Duration = Duration::from_millis(20);
/// Of a long turn the first call alone would mostly measure the machine.
const ENOUGH_CALLS: u32 = 5;

fn main() -> std::io::Result<()> {
    for line in stdin().lock().lines() {
        let script: Script = serde_json::from_str(&line?).expect("a script as tests/README.md describes it");
        let mut out = stdout().lock();
        writeln!(out, "{}", best(&script).as_nanos())?;
        out.flush()?;
    }
    Ok(())
}

fn best(script: &Script) -> Duration {
    let (run, event, now) = before_last_event(script);
    let (mut best, mut all, mut calls) = (Duration::MAX, Duration::ZERO, 0);
    while all < ENOUGH || calls < ENOUGH_CALLS {
        let (mut run, event) = (run.clone(), event.clone());
        let start = Instant::now();
        let applied = black_box(run.apply(black_box(event), now));
        let once = start.elapsed();
        applied.expect("an event that is taken");
        best = best.min(once);
        all += once;
        calls += 1;
    }
    best
}
