//! Walks every reachable state up to the fourth attempt and applies every event in each: the diagram and nothing else.

use std::collections::{BTreeSet, VecDeque};

use serde_json::{Value, json};
use turnlatch::types::{ReceiptKind, ResolutionMode};
use turnlatch::{Code, Event, Reply, Run, Status, Timestamp, TurnReport};
use turnlatch_tests::diagram::{ARROWS, Arrow, TURNS, effects, has_deadline};
use turnlatch_tests::hostile::{Setting, turn_outcome};
use turnlatch_tests::{TinyHost, laws};

#[test]
fn every_arrow_of_the_diagram_is_taken_and_no_other() {
    let (mut states, mut transitions, mut arrows) = (0, 0, 0);
    for setting in settings() {
        let walked = Walk::all(setting);
        let missing: Vec<&Arrow> =
            expected(&setting).filter(|index| !walked.taken.contains(index)).map(|index| &ARROWS[index]).collect();
        assert!(missing.is_empty(), "never taken with {setting:?}: {missing:#?}");
        states += walked.seen.len();
        transitions += walked.transitions;
        arrows += walked.taken.len() + 1;
    }
    println!("{states} states, {transitions} transitions, {arrows} arrows taken over {} settings", settings().len());
}

/// Modes, profiles, strictness and policy; interactive ones with a limit of 4 attempts, and cut off after 4.
fn settings() -> Vec<Setting> {
    let common = |setting: &Setting| setting.schema && setting.soft_completion == "unless_asking";
    let unlimited: Vec<Setting> =
        Setting::all().into_iter().filter(|setting| common(setting) && setting.max_attempt.is_none()).collect();
    let limited = unlimited.iter().filter(|setting| setting.interactive);
    let limited: Vec<Setting> =
        limited.map(|setting| Setting { max_attempt: Some(LAST_ATTEMPT), ..*setting }).collect();
    [unlimited, limited].concat()
}

/// The arrows that a setting's walk must take.
fn expected(setting: &Setting) -> impl Iterator<Item = usize> {
    let takes = move |arrow: &Arrow| {
        (arrow.when)(setting, false) || (setting.max_attempt.is_some() && (arrow.when)(setting, true))
    };
    ARROWS.iter().enumerate().filter(move |(_, arrow)| takes(arrow)).map(|(index, _)| index)
}

/// A breadth-first walk over the runs of one setting.
struct Walk {
    setting: Setting,
    seen: BTreeSet<String>,
    open: VecDeque<(Run, TinyHost)>,
    taken: BTreeSet<usize>,
    transitions: u64,
}

impl Walk {
    fn all(setting: Setting) -> Walk {
        let (run, created) = Run::create(setting.plan(), Timestamp::from_millis(1_000_000).expect("a time"));
        assert_eq!(run.status(), Status::Queued, "ARROW-1");
        let mut host = TinyHost::new(&run);
        created.effects.iter().for_each(|effect| host.perform(effect));
        let mut walk =
            Walk { setting, seen: BTreeSet::new(), open: VecDeque::new(), taken: BTreeSet::new(), transitions: 0 };
        walk.reach(run, host);
        while let Some((run, host)) = walk.open.pop_front() {
            for stimulus in stimuli(&setting, &run) {
                walk.apply(&run, &host, &stimulus);
            }
        }
        walk
    }

    fn reach(&mut self, run: Run, host: TinyHost) {
        let snapshot = run.snapshot();
        let document: Value = serde_json::from_str(&snapshot).expect("a snapshot is JSON");
        if next_attempt(&run, &document) <= u64::from(LAST_ATTEMPT)
            && self.seen.insert(key(&self.setting, &run, &document))
        {
            let restored = Run::restore(&snapshot).expect("every state can be stored");
            assert!(restored == run, "and comes back as it was");
            self.open.push_back((run, host));
        }
    }

    fn apply(&mut self, before: &Run, host: &TinyHost, stimulus: &Stimulus) {
        self.transitions += 1;
        let context = || format!("{:?}\n{} --{stimulus:?}-->", self.setting, before.status().as_str());
        let (mut run, mut host) = (before.clone(), host.clone());
        let result = run.apply(stimulus.event.clone(), stimulus.at);
        let last = self.setting.max_attempt == Some(before.attempt_number());
        let arrow = Arrow::find(&self.setting, before.status(), stimulus.name, last);
        let told: Vec<Value> = result.iter().flat_map(|applied| &applied.effects).map(|effect| json!(effect)).collect();
        let told: Vec<&str> =
            told.iter().filter_map(|effect| effect["type"].as_str()).filter(|name| *name != "notify").collect();

        let (to, code, must) = match arrow.map(|index| &ARROWS[index]) {
            Some(arrow) => (arrow.to, Some(arrow.code), effects(arrow.effects, &self.setting)),
            None if stimulus.name == UNWANTED_SLOT => (before.status(), None, vec!["release_slot"]),
            None => (before.status(), None, Vec::new()),
        };
        assert_eq!(run.status(), to, "{}", context());
        assert_eq!(told, must, "{}", context());
        if let Some(code) = code {
            assert_eq!(error_code(&run), code, "{}", context());
        }
        let receipt = result.as_ref().ok().and_then(|transition| transition.receipt.clone());
        assert_eq!(receipt.map(|receipt| receipt.kind), stimulus.receipt, "{}", context());
        let unmoved = arrow.is_none() && stimulus.name != UNWANTED_SLOT;
        assert!(!unmoved || run == *before, "leaves no trace: {}", context());
        let resolved = run.history().get(before.history().len()).map(|record| record.resolution_mode);
        assert_eq!(resolved, arrow.and_then(|index| resolution(&ARROWS[index])), "{}", context());
        assert_soft_completion_warns(&self.setting, &run, stimulus.name);
        laws::assert_step(before, &result, &run);
        laws::assert_state(&run);
        if let Ok(applied) = &result {
            host.notice(&stimulus.event);
            applied.effects.iter().for_each(|effect| host.perform(effect));
        }
        host.assert_agrees_with(&run);
        self.taken.extend(arrow);
        if arrow.is_some() {
            self.reach(run, host);
        }
    }
}

/// One event, named by what it is to the run it meets; the name is made from the spec, not from what came of it.
#[derive(Debug)]
struct Stimulus {
    name: &'static str,
    event: Event,
    at: Timestamp,
    receipt: Option<ReceiptKind>,
}

fn stimuli(setting: &Setting, run: &Run) -> Vec<Stimulus> {
    let mut all = Vec::new();
    let soon = Timestamp::from_millis(run.updated_at().as_millis() + 1).expect("a time");
    let mut add = |name, event| all.push(Stimulus { name, event, at: soon, receipt: None });
    let (status, keep, current) = (run.status(), run.outstanding().keep, run.attempt_number());
    let document: Value = serde_json::from_str(&run.snapshot()).expect("a snapshot is JSON");

    let asked = (1..=slots_requested(&document) + 1).map(|number| format!("r1/s{number}"));
    for slot_id in asked.chain(["other/s1".to_owned()]) {
        let name = match keep.slot_id.as_ref() {
            Some(own) if *own == slot_id && status == Status::Queued => "slot_granted",
            Some(own) if *own == slot_id => "slot_granted again",
            _ => UNWANTED_SLOT,
        };
        add(name, Event::SlotGranted { slot_id });
    }
    let turns = TURNS.into_iter().zip([11, 12, 13, 0, 7, 14]);
    for attempt_number in BTreeSet::from([0, current.saturating_sub(1), current, current + 1]) {
        for slot_id in [None, keep.slot_id.clone(), Some("r1/s0".to_owned())] {
            let own = attempt_number == current && slot_id.as_deref() != Some("r1/s0");
            // A process is known by its slot; without one, by the number of its turn.
            let named =
                slot_id.as_ref().map_or(attempt_number == current, |slot_id| Some(slot_id) == keep.process.as_ref());
            let lost = named && keep.process.is_some();
            let name = if lost { "process_lost" } else { "process_lost of another turn" };
            add(name, Event::ProcessLost { attempt_number, slot_id: slot_id.clone() });
            for (name, outcome) in turns.clone() {
                let name = if own && status == Status::Running { name } else { "turn: not the current one" };
                let report = TurnReport { attempt_number, slot_id: slot_id.clone(), ..turn_outcome(outcome) };
                add(name, Event::TurnFinished(report));
            }
        }
    }
    add("created again", Event::Created {});
    let pending = run.pending().map(|pending| pending.interaction_id);
    for interaction_id in (0..=run.history().len() as u64 + 2).filter(|id| Some(*id) != pending) {
        add("timer of another question", Event::TimerFired { interaction_id });
    }
    if let Some(pending) = run.pending() {
        let event = Event::TimerFired { interaction_id: pending.interaction_id };
        let far = Timestamp::MAX;
        let due = pending.deadline_at.unwrap_or(far);
        let early = Timestamp::from_millis(due.as_millis() - 1).expect("a time");
        let name = if has_deadline(setting) { "deadline" } else { "timer nobody set" };
        for (name, at) in [("early timer", early), ("early timer", Timestamp::default()), (name, due), (name, far)] {
            all.push(Stimulus { name, event: event.clone(), at, receipt: None });
        }
    }
    let receipt = Some(if status.is_end() { ReceiptKind::AlreadyEnded } else { ReceiptKind::Canceled });
    all.push(Stimulus { name: "cancel", event: Event::Cancel { reason: None }, at: soon, receipt });
    all.extend(replies(setting, run).into_iter().map(|(name, reply, receipt)| {
        // An auto run answers every reply in the same way: the first row of the table.
        let receipt = Some(if setting.interactive { receipt } else { ReceiptKind::NotInteractive });
        Stimulus { name, event: Event::Reply(reply), at: soon, receipt }
    }));
    all
}

/// The table of section 7, row by row.
fn replies(setting: &Setting, run: &Run) -> Vec<(&'static str, Reply, ReceiptKind)> {
    let mut all = Vec::new();
    let next = run.history().len() as u64 + 1;
    let with_key = |reply: Reply, key: &str| Reply { idempotency_key: Some(key.to_owned()), ..reply };
    let at_revision = |reply: Reply, revision| Reply { expected_revision: Some(revision), ..reply };
    let reply = || Reply::text(next, "yes");
    for record in run.history() {
        let id = record.interaction_id;
        all.push(("stale reply", Reply::text(id, "yes"), ReceiptKind::Stale));
        if let Some(key) = &record.idempotency_key {
            let again = with_key(Reply::text(id, "yes"), key);
            all.push(("repeated reply", again.clone(), ReceiptKind::Duplicate));
            all.push(("repeated reply", at_revision(again, 0), ReceiptKind::Duplicate));
            all.push(("other reply", with_key(Reply::text(id, "no"), key), ReceiptKind::Conflict));
            all.push(("other question", with_key(reply(), key), ReceiptKind::Conflict));
        }
    }
    all.push(("reply to another revision", at_revision(reply(), run.revision() + 1), ReceiptKind::Conflict));
    if run.pending().is_some() {
        all.push(("reply", reply(), ReceiptKind::Accepted));
        all.push(("reply", at_revision(reply(), run.revision()), ReceiptKind::Accepted));
        all.push(("keyed reply", with_key(reply(), &format!("key {next}")), ReceiptKind::Accepted));
        all.push(("unknown reply", Reply::text(next + 1, "yes"), ReceiptKind::Unknown));
        all.push(("unknown reply", Reply::text(0, "yes"), ReceiptKind::Unknown));
    } else {
        all.push(("reply to nothing", reply(), ReceiptKind::NotWaiting));
    }
    assert!(setting.interactive || run.history().is_empty(), "auto asks nobody");
    all
}

/// How an arrow resolves the pending question (HIST-1, HIST-3).
fn resolution(arrow: &Arrow) -> Option<ResolutionMode> {
    match (arrow.from, arrow.on, arrow.to) {
        (Status::WaitingUser, "reply" | "keyed reply", _) => Some(ResolutionMode::UserReply),
        (Status::WaitingUser, "deadline", Status::Failed) => Some(ResolutionMode::Expired),
        (Status::WaitingUser, "deadline", _) => Some(ResolutionMode::AutoDecideTimeout),
        (Status::WaitingUser, "cancel" | "process_lost", _) => Some(ResolutionMode::Canceled),
        _ => None,
    }
}

fn assert_soft_completion_warns(setting: &Setting, run: &Run, name: &str) {
    if run.status() == Status::Succeeded && TURNS.contains(&name) {
        let soft =
            run.status_view().warnings.iter().any(|note| note.code == Code::InteractiveCompletedWithoutDoneMarker);
        assert_eq!(soft, setting.interactive && name == TURNS[2], "{setting:?} {name}");
    }
}

/// Two runs with the same key have the same future, but for numbers that only name things.
///
/// Left out: revisions and times (events are aimed relative to them), the ids of slots (always the last one asked for,
/// which restoring checks), prompts and decisions (told to people, never asked by an arrow), and how many retries there
/// have been beyond the second (each makes one more stale slot, like the one before). Kept: everything that an event or a
/// receipt can depend on, so the way each question was resolved, and with which key.
fn key(setting: &Setting, run: &Run, document: &Value) -> String {
    let state = &document["run"]["life"]["state"];
    let without_retries = if setting.sticky { 1 } else { next_attempt(run, document).max(1) };
    let retries = (slots_requested(document) - without_retries).min(2);
    let history: Vec<_> =
        run.history().iter().map(|record| (record.resolution_mode, record.idempotency_key.as_deref())).collect();
    format!(
        "{:?} {} {} {retries} {} {} {history:?}",
        run.status(),
        run.attempt_number(),
        next_attempt(run, document),
        state["begun_by"],
        error_code(run),
    )
}

/// The turn that is under way or asked for.
fn next_attempt(run: &Run, document: &Value) -> u64 {
    document["run"]["life"]["state"]["next_attempt"].as_u64().unwrap_or_else(|| run.attempt_number().into())
}

fn slots_requested(document: &Value) -> u64 {
    document["run"]["life"]["slots_requested"].as_u64().expect("a number")
}

fn error_code(run: &Run) -> String {
    run.status_view().error.map(|error| error.code).unwrap_or_default()
}

const LAST_ATTEMPT: u32 = 4;
const UNWANTED_SLOT: &str = "slot_granted to nobody";
