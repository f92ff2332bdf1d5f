//! One interactive run from beginning to end, as a timeline: it asks, gives its slot back, is answered late, is answered
//! again by somebody else, asks once more, gets no answer in time, and finishes.

use std::error::Error;

use serde_json::json;
use turnlatch::text::display_text;
use turnlatch::{
    Action, Effect, Event, EventRejected, HostSettings, Mode, Reply, Run, RunRequest, Skill, Timestamp, Transition,
    TurnReport, admit,
};

fn main() -> Result<(), Box<dyn Error>> {
    let skill = Skill::new().modes([Mode::Interactive]).max_attempt(4).output_schema(json!({
        "type": "object",
        "required": ["deployed_to"],
        "properties": {"deployed_to": {"type": "string"}},
        "additionalProperties": false,
    }));
    let request =
        RunRequest::new("demo", "codex").mode(Mode::Interactive).require_user_reply(false).session_timeout_sec(600);
    let plan = admit(&skill, &request, &HostSettings::with_engines(["codex"]))?;

    let mut timeline = Timeline::start(Run::create(plan, at(0)?));
    timeline.tell(1, "a slot is free", Event::SlotGranted { slot_id: "demo/s1".to_owned() })?;
    timeline.tell(9, "the agent asks", turn(1, "I can deploy to staging or production. Which one?"))?;
    timeline.tell(95, "Ada answers", Event::Reply(Reply::text(1, "staging, please")))?;
    timeline.tell(96, "Ben answers too", Event::Reply(Reply::text(1, "production!")))?;
    timeline.tell(97, "a slot is free", Event::SlotGranted { slot_id: "demo/s2".to_owned() })?;
    timeline.tell(120, "a tool echoes the marker, the agent asks again", {
        let tool =
            turnlatch::types::Message { role: "tool".to_owned(), text: r#"{"__SKILL_DONE__": true}"#.to_owned() };
        let agent =
            turnlatch::types::Message { role: "assistant".to_owned(), text: "Restart the service now?".to_owned() };
        Event::TurnFinished(TurnReport { messages: Some(vec![tool, agent]), ..TurnReport::of_attempt(2) })
    })?;
    timeline.tell(720, "ten minutes pass", Event::TimerFired { interaction_id: 2 })?;
    timeline.tell(721, "a slot is free", Event::SlotGranted { slot_id: "demo/s3".to_owned() })?;
    timeline.tell(730, "the agent is done", turn(3, r#"{"deployed_to": "staging", "__SKILL_DONE__": true}"#))?;

    timeline.finish()
}

struct Timeline {
    run: Run,
}

impl Timeline {
    fn start((run, created): (Run, Transition)) -> Timeline {
        println!("     time  status        what happens, and what the core tells the host\n");
        let timeline = Timeline { run };
        timeline.print(0, "the run is made", &created.effects);
        timeline
    }

    fn tell(&mut self, second: u64, what: &str, event: Event) -> Result<(), Box<dyn Error>> {
        match self.run.apply(event, at(second)?) {
            Ok(applied) => self.print(second, what, &applied.effects),
            Err(EventRejected { code, message, .. }) => {
                self.print(second, what, &[]);
                println!("{:26}✗ {code}: {message}", "");
            }
        }
        if let Some(decision) =
            self.run.decision().filter(|_| what.starts_with("the agent") || what.starts_with("a tool"))
        {
            println!("{:26}· {}: {}", "", decision.rule, decision.message());
        }
        Ok(())
    }

    fn print(&self, second: u64, what: &str, effects: &[Effect]) {
        println!("{:6} s  {:12}  {what}", second, self.run.status().as_str());
        for effect in effects {
            if let Some(text) = describe(&effect.action) {
                println!("{:26}→ {text}", "");
            }
        }
    }

    fn finish(self) -> Result<(), Box<dyn Error>> {
        println!("\nhistory");
        for record in self.run.history() {
            let answer = record.response.as_deref().unwrap_or("-");
            println!("  {}. {}", record.interaction_id, display_text(&record.prompt));
            println!("     {} said: {}", record.resolution_mode.resolved_by(), display_text(answer));
        }
        let result = self.run.status_view().data_text.ok_or("the run has no result")?;
        println!("\nresult\n  {result}");
        println!("\nsnapshot: {} bytes; restored and equal: {}", self.run.snapshot().len(), {
            Run::restore(&self.run.snapshot())? == self.run
        });
        Ok(())
    }
}

fn describe(action: &Action) -> Option<String> {
    Some(match action {
        Action::AcquireSlot { slot_id } => format!("acquire slot {slot_id}"),
        Action::ReleaseSlot { slot_id } => format!("release slot {slot_id}"),
        Action::StartTurn { attempt_number, resume: None, .. } => format!("start turn {attempt_number}"),
        Action::StartTurn { attempt_number, resume: Some(from), .. } => {
            format!("start turn {attempt_number}, going on from the answer to question {}", from.interaction_id)
        }
        Action::InjectReply { attempt_number, .. } => format!("inject the reply; turn {attempt_number} begins"),
        Action::TerminateProcess { attempt_number, .. } => format!("terminate the process of turn {attempt_number}"),
        Action::SetTimer { interaction_id, at } => {
            format!("set a timer for question {interaction_id} at {} s", at.as_millis() / 1000)
        }
        Action::CancelTimer { interaction_id } => format!("cancel the timer of question {interaction_id}"),
        Action::Notify { .. } => return None,
    })
}

fn turn(attempt_number: u32, text: &str) -> Event {
    Event::TurnFinished(TurnReport::with_text(attempt_number, text))
}

fn at(second: u64) -> Result<Timestamp, &'static str> {
    Timestamp::from_millis(second * 1000).ok_or("the end of time")
}
