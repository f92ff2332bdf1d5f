//! Whatever happens to a run: every law holds after each event, and the host has what the core believes.

use turnlatch::{Event, Run, Timestamp};

use super::{choices, text, vector_steps};
use crate::hostile::{Case, Throw, plans};
use crate::vector::Stage;
use crate::{Loss, TinyHost};

/// Throws events at a run: two bytes choose its plan, then each event is four bytes, or the length of a JSON text and
/// that text.
///
/// # Panics
/// If a law does not hold.
pub fn check(bytes: &[u8]) {
    let ([plan, more], mut rest) = choices::<2>(bytes);
    let case = Case { plan: usize::from(u16::from_le_bytes([plan, more])) % plans().len(), throws: Vec::new() };
    let (run, created) = case.create();
    let (mut host, mut now) = (TinyHost::new(&run), run.created_at());
    let mut stage = Stage::created(run.plan().clone(), now);
    created.effects.iter().for_each(|effect| host.perform(effect));
    for _ in 0..MOST_EVENTS {
        if rest.is_empty() {
            break;
        }
        let ([kind, aim, detail, time], behind) = choices::<4>(rest);
        let throw = Throw { kind, aim, detail, time };
        rest = behind;
        now = throw.at(stage.run(), now);
        let event = match kind {
            RESTART => {
                restart(&mut stage, &mut host, aim, now);
                continue;
            }
            WRITTEN => {
                let written;
                (written, rest) = rest.split_at(usize::from(detail).min(rest.len()));
                Event::from_json(text(written))
            }
            _ => Ok(throw.event(stage.run())),
        };
        if let Ok(event) = event {
            tell(&mut stage, &mut host, &event, now);
        }
        host.assert_agrees_with(stage.run());
    }
    stage.check_laws("events");
}

/// Lives that end well and badly, and the events of the vectors as they are written there.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = (0_u8..96).map(life).collect();
    let mut written: Vec<u8> = Vec::new();
    for (_, step) in vector_steps() {
        let event = step["event"].to_string();
        if let Some(length) = u8::try_from(event.len()).ok().filter(|_| step["event"].is_object()) {
            written.extend([WRITTEN, 0, length, 0]);
            written.extend(event.as_bytes());
        }
        if written.len() > 1024 {
            seeds.push(
                [vec![u8::try_from(seeds.len() % 256).unwrap_or_default(), 0], std::mem::take(&mut written)].concat(),
            );
        }
    }
    seeds
}

/// A slot, a turn, an answer, and so on; each life with another plan and other turns, and some with a crash.
fn life(number: u8) -> Vec<u8> {
    let plan = u16::from(number) * 4;
    let mut bytes = plan.to_le_bytes().to_vec();
    for step in 0..number % 24 {
        let detail = number.wrapping_mul(31).wrapping_add(step.wrapping_mul(17));
        let kind = if step % 7 == 6 && number.is_multiple_of(2) { RESTART } else { 160 };
        bytes.extend([kind, number % 4, detail, if step % 5 == 4 { 3 } else { 0 }]);
    }
    bytes
}

/// The host crashes and comes back with what it had saved.
fn restart(stage: &mut Stage, host: &mut TinyHost, losses: u8, now: Timestamp) {
    host.crash(Loss { process: losses & 1 != 0, slots: losses & 2 != 0 });
    let restored = Run::restore(&stage.run().snapshot()).expect("our own snapshot");
    assert!(restored == *stage.run(), "what was stored is what there was");
    for fact in host.recover(&restored) {
        tell(stage, host, &fact, now);
    }
    host.assert_agrees_with(stage.run());
}

fn tell(stage: &mut Stage, host: &mut TinyHost, event: &Event, now: Timestamp) {
    if let Ok(applied) = stage.apply(event.clone(), now) {
        host.notice(event);
        applied.effects.iter().for_each(|effect| host.perform(effect));
    }
}

/// These two kinds of a throw are no events of their own.
const WRITTEN: u8 = 159;
const RESTART: u8 = 143;
const MOST_EVENTS: usize = 32;
