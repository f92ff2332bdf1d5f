//! What a host in Rust can call and no vector comes to.

use serde_json::{Value, json};
use turnlatch::inspect::Replayer;
use turnlatch::json::{json_text, parse_json};
use turnlatch::schema::{Check, OutputSchema};
use turnlatch::types::{FreeForm, JournalEntry, Verdict};
use turnlatch::{Event, HostSettings, Journal, Limits, Mode, Run, RunRequest, Skill, Timestamp, TurnReport, admit};

fn host() -> HostSettings {
    HostSettings::with_engines(["codex"])
}

#[test]
fn a_skill_is_made_piece_by_piece_and_a_report_too() {
    let skill = Skill::new().output_schema(json!({"required": ["answer"]}));
    let plan = admit(&skill, &RunRequest::new("r1", "codex"), &host()).expect("a plan");
    assert_eq!(plan.output_schema.as_ref().map(OutputSchema::text), Some(r#"{"required":["answer"]}"#));

    let report = TurnReport::with_text(1, "words");
    assert_eq!((report.attempt_number, report.text.as_deref()), (1, Some("words")));
    assert_eq!(report, TurnReport { text: Some("words".to_owned()), ..TurnReport::of_attempt(1) });
    let (mut run, _) = Run::create(plan, Timestamp::default());
    let granted = Event::SlotGranted { slot_id: "r1/s1".to_owned() };
    run.apply(granted, Timestamp::default()).expect("a slot");
    let done = TurnReport::with_text(1, r#"{"answer": 1, "__SKILL_DONE__": true}"#);
    run.apply(Event::TurnFinished(done), Timestamp::default()).expect("a turn");
    assert_eq!(run.status().as_str(), "succeeded");
}

#[test]
fn a_refusal_tells_the_code_of_its_first_problem() {
    let refusal =
        admit(&Skill::new(), &RunRequest::new("r1", "nobody"), &host()).expect_err("an engine that nobody has");
    assert_eq!(refusal.code(), refusal.problems[0].code.as_str());
    assert_eq!(refusal.http_status(), refusal.problems[0].code.http());
}

#[test]
fn each_limit_is_read_and_the_others_stay_as_they_are() {
    let defaults = Limits::default();
    assert_eq!(Limits::from_value(json!({})), Ok(defaults));
    let names = [
        "turn_text_bytes",
        "json_depth",
        "schema_bytes",
        "manifest_bytes",
        "prompt_bytes",
        "options",
        "reply_bytes",
        "interactions",
    ];
    for name in names {
        let limits = Limits::from_value(json!({name: 7})).expect("limits");
        let of = |limits: &Limits| {
            [
                limits.turn_text_bytes,
                limits.json_depth,
                limits.schema_bytes,
                limits.manifest_bytes,
                limits.prompt_bytes,
                limits.options,
                limits.reply_bytes,
                limits.interactions.unwrap_or_default().try_into().expect("a size"),
            ]
        };
        for ((known, found), default) in names.into_iter().zip(of(&limits)).zip(of(&defaults)) {
            assert_eq!(found, if known == name { 7 } else { default }, "{known} if {name} is given");
        }
        assert!(Limits::from_value(json!({name: "7"})).is_err_and(|sentence| sentence.contains(name)), "{name}");
    }
    assert!(Limits::from_value(json!({"reply_byte": 7})).is_err_and(|sentence| sentence.contains("reply_byte")));
}

#[test]
fn a_run_may_ask_as_often_as_it_likes_unless_the_host_limits_it() {
    let request = RunRequest::new("r1", "codex").mode(Mode::Interactive);
    let skill = Skill::new().modes([Mode::Interactive]);
    let status_after = |limit: Option<u64>, questions: u32| {
        let host = HostSettings { limits: Limits { interactions: limit, ..Limits::default() }, ..host() };
        let (mut run, _) = Run::create(admit(&skill, &request, &host).expect("a plan"), Timestamp::default());
        for attempt in 1..=questions {
            let granted = Event::SlotGranted { slot_id: format!("r1/s{attempt}") };
            run.apply(granted, Timestamp::default()).expect("a slot");
            let asked = TurnReport::with_text(attempt, "And now?");
            run.apply(Event::TurnFinished(asked), Timestamp::default()).expect("a turn");
            if attempt < questions {
                let reply = json!({"type": "reply", "interaction_id": attempt, "response": "On."}).to_string();
                run.apply(Event::from_json(&reply).expect("a reply"), Timestamp::default()).expect("a receipt");
            }
        }
        run.status().as_str()
    };
    assert_eq!(status_after(None, 10_001), "waiting_user");
    assert_eq!(status_after(Some(10), 10), "waiting_user");
    assert_eq!(status_after(Some(10), 11), "failed");
}

#[test]
fn of_a_text_over_the_limit_only_the_end_is_recorded_whether_it_came_whole_or_not() {
    let limits = Limits { turn_text_bytes: 1_000_000, prompt_bytes: 100, ..Limits::default() };
    let skill = Skill::new().modes([Mode::Interactive]);
    let request = RunRequest::new("r1", "codex").mode(Mode::Interactive);
    let plan = admit(&skill, &request, &HostSettings { limits, ..host() }).expect("a plan");
    let apply = |report: TurnReport| {
        let (mut run, _) = Run::create(plan.clone(), Timestamp::default());
        run.apply(Event::SlotGranted { slot_id: "r1/s1".to_owned() }, Timestamp::default()).expect("a slot");
        let transition = run.apply(Event::TurnFinished(report), Timestamp::default()).expect("a turn");
        (transition, run)
    };
    let text = "ö".repeat(600_000);
    let whole = apply(TurnReport::with_text(1, text.as_str()));
    let recorded = json_text(&whole.0.entry.as_ref().expect("an entry").event);
    let end = "ö".repeat(50);
    let expected = format!(r#"{{"type":"turn_finished","attempt_number":1,"text":"{end}","text_bytes":1200000}}"#);
    assert_eq!(recorded, expected);
    for kept in [50, 51, 60_000, 600_000] {
        let report = TurnReport { text_bytes: Some(1_200_000), ..TurnReport::with_text(1, "ö".repeat(kept)) };
        assert_eq!(apply(report), whole, "{kept} characters");
    }
}

#[test]
fn json_for_a_binding_is_read_as_strictly_as_all_json() {
    assert_eq!(parse_json(r#" {"a": [1, null]} "#), Some(json!({"a": [1, null]})));
    assert_eq!(parse_json(r#"{"a": 1, "a": 1}"#), None);
    assert_eq!(parse_json("{} {}"), None);
}

#[test]
fn free_forms_are_equal_if_their_members_are() {
    let of = |value: Value| FreeForm::from(value.as_object().expect("an object").clone());
    assert_eq!(of(json!({"a": 1})), of(json!({"a": 1})));
    assert_ne!(of(json!({"a": 1})), of(json!({"a": 2})));
    assert_ne!(of(json!({"a": 1})), of(json!({})));
    assert_eq!(of(json!({})), FreeForm::default());
}

#[test]
fn schemas_are_equal_if_their_texts_are_even_if_each_was_compiled() {
    let compiled = |text: &str, json_depth: usize| {
        OutputSchema::compile(text, &Limits { json_depth, ..Limits::default() }).expect("a schema")
    };
    // With another limit it is not the one that was compiled before.
    assert_eq!(compiled("{}", 64), compiled("{}", 64));
    assert_eq!(compiled("{}", 64), compiled("{}", 63));
    assert_ne!(compiled("{}", 64), compiled("true", 64));
}

#[test]
fn a_schema_checks_values_up_to_the_depth_that_json_may_have() {
    let schema = OutputSchema::compile("{}", &Limits::default()).expect("a schema");
    assert!(schema.can_check());
    let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(schema.check(&json!({"a": 1})), Check::Valid);
    assert_eq!(schema.check(&nested(Limits::MAX_JSON_DEPTH)), Check::Valid);
    for more in 1..3 {
        assert_eq!(schema.check(&nested(Limits::MAX_JSON_DEPTH + more)), Check::TooMuchWork, "{more} more");
    }
}

fn waiting_run(mode: Mode) -> (Run, Journal, Vec<JournalEntry>) {
    let skill = Skill::new().modes([Mode::Auto, Mode::Interactive]);
    let plan = admit(&skill, &RunRequest::new("r1", "codex").mode(mode), &host()).expect("a plan");
    let mut journal = Journal::new(&plan);
    let (mut run, created) = Run::create(plan, Timestamp::default());
    let mut entries = vec![created.entry.expect("an entry")];
    for event in [
        Event::SlotGranted { slot_id: "r1/s1".to_owned() },
        Event::TurnFinished(TurnReport::with_text(1, "Which file?")),
    ] {
        entries.extend(run.apply(event, Timestamp::default()).expect("an event").entry);
    }
    for entry in &entries {
        journal.push(entry.clone());
    }
    (run, journal, entries)
}

#[test]
fn a_journal_says_whose_it_is_and_where_it_is_broken() {
    let (run, journal, entries) = waiting_run(Mode::Interactive);
    assert_eq!((journal.run_id(), journal.len(), journal.is_empty()), ("r1", 3, false));
    assert!(Journal::new(run.plan()).is_empty());
    let lines = journal.lines();
    let broken = Journal::from_lines("r1", [lines[0].as_str(), "{"]).expect_err("no line");
    assert_eq!((broken.code(), broken.place.as_str()), ("JOURNAL_INVALID", "entry 2"));
    assert_eq!(entries.len(), 3);
}

#[test]
fn the_entry_of_a_turn_has_its_evaluation_and_is_read_back_from_json() {
    let (_, _, entries) = waiting_run(Mode::Interactive);
    assert_eq!(entries[1].evaluation, None);
    let turn = &entries[2];
    let evaluation = turn.evaluation.as_ref().expect("an evaluation");
    assert_eq!(evaluation.decision.outcome, Verdict::WaitingUser);
    assert_eq!(evaluation.question.as_ref().map(|question| question.prompt.as_str()), Some("Which file?"));
    assert_eq!(evaluation.data_text, None);

    let read = JournalEntry::from_json(&serde_json::to_string(turn).expect("JSON")).expect("an entry");
    assert_eq!(&read, turn);
    assert_eq!(read.compact(), turn.clone().compact());
}

#[test]
fn a_line_that_cannot_be_replayed_leaves_the_run_as_it_was() {
    let (_, _, entries) = waiting_run(Mode::Interactive);
    let (mut run, _) = Run::create(waiting_run(Mode::Auto).0.plan().clone(), Timestamp::default());
    run.apply(Event::SlotGranted { slot_id: "r1/s1".to_owned() }, Timestamp::default()).expect("a slot");
    let before = run.snapshot();
    // In auto nobody is asked, whatever a journal says was decided.
    let mut journal = Journal::new(run.plan());
    for entry in entries {
        journal.push(entry.compact());
    }
    let mut replayer = Replayer::from(run);
    let refused = replayer.next(journal.lines().last().expect("a line")).expect_err("a run in auto that waits");
    assert_eq!(refused.code(), "JOURNAL_INVALID");
    assert_eq!(replayer.run().map(Run::snapshot), Some(before));
}
