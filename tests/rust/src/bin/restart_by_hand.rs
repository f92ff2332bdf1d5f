//! The host of the README's section "Restarting by hand", as a program that tests can kill.
//!
//! usage: `restart_by_hand FOLDER AGENT POLICY`. Starts the run, or goes on with it; prints its status and error at the end.

use std::error::Error;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use turnlatch::hosting::{Perform, RecoveryFacts};
use turnlatch::{Action, Effect, Event, Plan, Run, Timestamp, TurnReport};

/// A host of one run. What has to survive a crash is in its folder.
struct Host {
    folder: PathBuf,
    agent: PathBuf,
}

impl Host {
    fn start(&self, plan: Arc<Plan>) -> Result<Run, Box<dyn Error>> {
        let (mut run, created) = Run::create(plan, now()?);
        self.keep("run.json", &run.snapshot())?;
        self.perform(&mut run, &created.effects)?;
        Ok(run)
    }

    fn restart(&self) -> Result<Run, Box<dyn Error>> {
        let mut run = Run::restore(&fs::read_to_string(self.folder.join("run.json"))?)?;
        // The agent of a host that died may live on. Nothing hears it any more: wait until it is gone.
        drop(self.locked()?);
        let noted = fs::read_to_string(self.folder.join("begun")).ok();
        let begun = noted.is_some() && noted == run.outstanding().turn_effect_id;
        let next = run.after_restart(RecoveryFacts { begun, process_alive: false, slot_lost: false });
        self.perform(&mut run, &next.effects)?;
        next.event.map_or(Ok(()), |event| self.handle(&mut run, event))?;
        Ok(run)
    }

    fn handle(&self, run: &mut Run, event: Event) -> Result<(), Box<dyn Error>> {
        let applied = run.apply(event, now()?)?;
        self.keep("run.json", &run.snapshot())?; // saved before anything is performed
        self.perform(run, &applied.effects)
    }

    fn perform(&self, run: &mut Run, effects: &[Effect]) -> Result<(), Box<dyn Error>> {
        for effect in effects {
            let due = run.due(effect, &[]);
            if due.perform != Perform::Now {
                continue; // the run has gone on without it
            }
            if due.once {
                self.keep("begun", &effect.id)?; // a turn begins: noted before it does
            }
            match &effect.action {
                Action::AcquireSlot { slot_id } => self.handle(run, Event::SlotGranted { slot_id: slot_id.clone() })?,
                Action::StartTurn { attempt_number, .. } => {
                    // The agent's input is the locked file: the lock lasts as long as the agent lives.
                    let agent = Command::new(&self.agent).stdin(self.locked()?).stderr(Stdio::inherit()).output()?;
                    let said = String::from_utf8_lossy(&agent.stdout);
                    self.handle(run, Event::TurnFinished(TurnReport::with_text(*attempt_number, said)))?;
                }
                _ => {} // replies, timers and notifications, as your host has them
            }
        }
        Ok(())
    }

    fn locked(&self) -> Result<File, Box<dyn Error>> {
        let file = File::create(self.folder.join("agent.lock"))?;
        file.lock()?;
        Ok(file)
    }

    fn keep(&self, name: &str, text: &str) -> Result<(), Box<dyn Error>> {
        let (part, whole) = (self.folder.join(format!("{name}.part")), self.folder.join(name));
        fs::write(&part, text)?;
        File::open(&part)?.sync_all()?;
        fs::rename(part, whole)?;
        Ok(File::open(&self.folder)?.sync_all()?)
    }
}

fn now() -> Result<Timestamp, Box<dyn Error>> {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    Ok(Timestamp::from_millis(millis.try_into()?).ok_or("no time of this calendar")?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let [folder, agent, policy] = <[String; 3]>::try_from(std::env::args().skip(1).collect::<Vec<_>>())
        .map_err(|_| "usage: restart_by_hand FOLDER AGENT POLICY")?;
    let host = Host { folder: folder.into(), agent: agent.into() };
    let run = if host.folder.join("run.json").exists() { host.restart()? } else { host.start(plan(&policy)?)? };
    let view = run.status_view();
    println!("{} {}", view.status.as_str(), view.error.map_or("-".to_owned(), |error| error.code));
    Ok(())
}

fn plan(policy: &str) -> Result<Arc<Plan>, Box<dyn Error>> {
    let request = format!(r#"{{"run_id": "r1", "engine": "test", "interrupted_turn": "{policy}"}}"#);
    let host = turnlatch::HostSettings::with_engines(["test"]);
    Ok(turnlatch::admit(&turnlatch::Skill::new(), &turnlatch::RunRequest::from_json(&request), &host)?)
}
