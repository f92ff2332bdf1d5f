//! Properties of every run, over random settings and random events. `PROPTEST_CASES` raises the number of cases.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, proptest};
use proptest::sample::select;
use turnlatch::persist::replay;
use turnlatch::types::{ReceiptKind, ResolutionMode};
use turnlatch::{Event, Journal, Mode, Run, Status, Timestamp, TurnReport};
use turnlatch_tests::hostile::{Case, Seen, Setting, Throw, plans};
use turnlatch_tests::{Loss, TinyHost, laws};

fn config() -> ProptestConfig {
    let cases = ProptestConfig::default().cases.max(10_000);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn throw() -> impl Strategy<Value = Throw> {
    any::<[u8; 4]>().prop_map(|[kind, aim, detail, time]| Throw { kind, aim, detail, time })
}

/// Interactive runs have more to go wrong: three of them for each auto run.
fn case() -> impl Strategy<Value = Case> {
    let (asking, silent): (Vec<usize>, Vec<usize>) = (0..plans().len()).partition(|plan| plans()[*plan].0.interactive);
    let weighted = [asking.clone(), asking.clone(), asking, silent].concat();
    (select(weighted), vec(throw(), 0..60)).prop_map(|(plan, throws)| Case { plan, throws })
}

/// A case and a place in it.
fn case_and_place() -> impl Strategy<Value = (Case, usize)> {
    case().prop_flat_map(|case| {
        let length = case.throws.len();
        (Just(case), 0..=length)
    })
}

#[derive(Clone, Copy, Debug)]
struct Crash {
    /// Behind which event.
    behind: usize,
    /// After how many of its effects.
    performed: usize,
    loss: Loss,
}

fn crash() -> impl Strategy<Value = Crash> {
    (0_usize..60, 0_usize..5, any::<bool>(), any::<bool>()).prop_map(|(behind, performed, process, slots)| Crash {
        behind,
        performed,
        loss: Loss { process, slots },
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_event_makes_it_panic_and_every_rejection_has_a_code(case in case()) {
        case.walk(|seen| if let Err(rejected) = seen.result {
            assert!(rejected.code().bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'_')), "{rejected:?}");
            let fact = !matches!(seen.event, Event::Reply(_) | Event::Cancel { .. });
            let never_happened = matches!(rejected.code(), "EVENT_MALFORMED" | "EVENT_UNKNOWN_ATTEMPT");
            assert!(!fact || never_happened, "a fact is never rejected: {rejected:?}");
        });
    }

    #[test]
    fn an_ended_run_stays_ended(case in case()) {
        case.walk(|seen| if seen.before.status().is_end() {
            laws::assert_step(seen.before, seen.result, seen.after);
        });
    }

    #[test]
    fn the_host_has_exactly_what_the_core_believes_and_nothing_at_the_end(case in case()) {
        let (run, created) = case.create();
        let mut host = TinyHost::new(&run);
        created.effects.iter().for_each(|effect| host.perform(effect));
        case.walk(|seen| {
            if let Ok(applied) = seen.result {
                host.notice(seen.event);
                applied.effects.iter().for_each(|effect| host.perform(effect));
            }
            host.assert_agrees_with(seen.after);
        });
    }

    #[test]
    fn a_question_is_pending_exactly_while_waiting(case in case()) {
        case.walk(|seen| {
            let waiting = seen.after.status() == Status::WaitingUser;
            assert_eq!(seen.after.pending().is_some(), waiting);
            assert_eq!(seen.after.pending_view().pending.is_some(), waiting);
        });
    }

    #[test]
    fn the_attempt_never_falls_and_never_passes_its_limit(case in case()) {
        let max = case.setting().max_attempt.filter(|_| case.setting().interactive).unwrap_or(u32::MAX);
        case.walk(|seen| {
            assert!(seen.after.attempt_number() >= seen.before.attempt_number());
            assert!(seen.after.attempt_number() <= max);
        });
    }

    #[test]
    fn an_auto_run_never_waits_and_asks_nobody(case in case()) {
        case.walk(|seen| if seen.after.plan().execution_mode == Mode::Auto {
            assert_ne!(seen.after.status(), Status::WaitingUser);
            assert!(seen.after.history().is_empty());
        });
    }

    #[test]
    fn an_error_code_belongs_to_a_bad_end_and_to_nothing_else(case in case()) {
        case.walk(|seen| laws::assert_error_belongs_to_a_bad_end(seen.after));
    }

    #[test]
    fn history_only_grows_and_each_question_is_pending_or_resolved_once(case in case()) {
        let mut asked = BTreeSet::new();
        let run = case.walk(|seen| {
            let known = seen.before.history();
            assert_eq!(seen.after.history().get(..known.len()), Some(known), "append-only");
            if let Some(pending) = seen.after.pending() {
                let new = asked.insert(pending.interaction_id);
                let same = seen.before.pending().is_some_and(|before| before.interaction_id == pending.interaction_id);
                assert!(new != same, "an id is never given twice: {}", pending.interaction_id);
            }
        });
        let resolved = run.history().iter().map(|record| record.interaction_id);
        let found: Vec<u64> = resolved.chain(run.pending().map(|pending| pending.interaction_id)).collect();
        assert_eq!(found, asked.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn each_accepted_reply_is_recorded_exactly_once(case in case()) {
        let mut accepted = Vec::new();
        let run = case.walk(|seen| accepted.extend(accepted_reply(seen)));
        assert_eq!(recorded_replies(&run), accepted);
    }

    #[test]
    fn only_a_deadline_that_has_passed_ends_a_wait_by_itself(case in case()) {
        case.walk(|seen| if let (Some(pending), Event::TimerFired { .. }) = (seen.before.pending(), seen.event) {
            let left = seen.after.pending() != Some(pending);
            let passed = pending.deadline_at.is_some_and(|deadline| seen.at.max(seen.before.updated_at()) >= deadline);
            assert!(passed || !left, "left {} before its deadline", pending.interaction_id);
        });
    }

    #[test]
    fn what_is_rejected_or_absorbed_leaves_no_trace(case in case()) {
        case.walk(|seen| match seen.result {
            Ok(applied) if applied.entry.is_some() => assert_ne!(seen.before.revision(), seen.after.revision()),
            Ok(applied) => {
                assert!(applied.effects.is_empty());
                assert_eq!(seen.before.snapshot(), seen.after.snapshot());
            }
            Err(_) => assert_eq!(seen.before.snapshot(), seen.after.snapshot()),
        });
    }

    #[test]
    fn every_law_holds_in_every_state_and_step(case in case()) {
        case.walk(|seen| {
            laws::assert_step(seen.before, seen.result, seen.after);
            laws::assert_state(seen.after);
        });
    }

    #[test]
    fn a_restored_run_goes_on_like_the_one_that_was_never_stored((case, place) in case_and_place()) {
        let mut restored: Option<Run> = None;
        let mut step = 0;
        case.walk(|seen| {
            if step == place {
                restored = Some(Run::restore(&seen.before.snapshot()).expect("our own snapshot"));
            }
            if let Some(run) = &mut restored {
                assert_eq!(run.apply(seen.event.clone(), seen.at), *seen.result);
                assert_eq!(run, seen.after);
                assert_eq!(run.snapshot(), seen.after.snapshot());
            }
            step += 1;
        });
    }

    #[test]
    fn both_journals_replay_to_the_same_run_and_effects_at_every_prefix((case, place) in case_and_place()) {
        let (run, created) = case.create();
        let plan = plans()[case.plan].1.clone();
        let (mut full, mut compact) = (Journal::new(&plan), Journal::new(&plan));
        let mut effects = vec![created.effects];
        let entry = created.entry.expect("a creation is recorded");
        full.push(entry.clone());
        compact.push(entry.compact());
        let check = |full: &Journal, compact: &Journal, effects: &Vec<_>, run: &Run| {
            for journal in [full, compact] {
                let read = Journal::from_json(&journal.to_json()).expect("our own journal");
                let replayed = replay(plan.clone(), &read).expect("our own journal");
                assert_eq!(replayed.run.snapshot(), run.snapshot());
                assert_eq!(&replayed.effects, effects);
            }
        };
        check(&full, &compact, &effects, &run);
        let last = case.throws.len();
        let mut step = 0;
        case.walk(|seen| {
            if let Ok(applied) = seen.result && let Some(entry) = &applied.entry {
                full.push(entry.clone());
                compact.push(entry.clone().compact());
                effects.push(applied.effects.clone());
            }
            step += 1;
            if step == place || step == place / 2 || step == last {
                check(&full, &compact, &effects, seen.after);
            }
        });
    }

    #[test]
    fn after_any_crash_nothing_is_lost_and_nothing_doubled(case in case(), crashes in vec(crash(), 1..4)) {
        survive(&case, &crashes);
    }
}

/// A few lives without a schema and without a random source: short enough for an interpreter (`make miri`).
#[test]
fn short_lives_keep_every_law() {
    let settings = Setting::all().into_iter().filter(|setting| !setting.schema && setting.interactive);
    for (number, setting) in (0_u8..).zip(settings.step_by(12)) {
        let (mut run, created) = Run::create(setting.plan(), Timestamp::default());
        let mut journal = Journal::new(run.plan());
        journal.push(created.entry.expect("a creation is recorded"));
        for step in 0..6_u8 {
            let throw = Throw { kind: 160, detail: step * 3 + number, time: step, ..Throw::default() };
            let before = run.clone();
            let result = run.apply(throw.event(&run), throw.at(&run, run.updated_at()));
            laws::assert_step(&before, &result, &run);
            laws::assert_state(&run);
            result.into_iter().filter_map(|applied| applied.entry).for_each(|entry| journal.push(entry));
        }
        assert!(run.revision() > 4, "it lived: {run:?}");
        assert_eq!(Run::restore(&run.snapshot()).as_ref(), Ok(&run), "our own snapshot");
        let read = Journal::from_json(&journal.to_json()).expect("our own journal");
        assert_eq!(replay(run.plan().clone(), &read).expect("our own journal").run, run);
    }
}

/// A life with crashes. The host itself panics on a turn that starts twice, and on a second process.
fn survive(case: &Case, crashes: &[Crash]) {
    let (mut run, created) = case.create();
    let mut host = TinyHost::new(&run);
    let mut accepted = Vec::new();
    let mut now = run.created_at();
    created.effects.iter().for_each(|effect| host.perform(effect));
    let end = Throw { kind: 14, ..Throw::default() };
    for (step, throw) in case.throws.iter().chain([&end]).enumerate() {
        let event = throw.event(&run);
        now = throw.at(&run, now);
        let before = run.clone();
        let result = run.apply(event.clone(), now);
        accepted.extend(accepted_reply(&Seen {
            before: &before,
            event: &event,
            at: now,
            result: &result,
            after: &run,
        }));
        let Ok(applied) = result else { continue };
        host.notice(&event);
        match crashes.iter().find(|crash| crash.behind == step) {
            None => host.perform_due(&run, &applied.effects),
            Some(crash) => {
                let saved = run.snapshot();
                applied.effects.iter().take(crash.performed).for_each(|effect| host.perform(effect));
                host.crash(crash.loss);
                run = Run::restore(&saved).expect("our own snapshot");
                for fact in host.recover(&run) {
                    let applied = run.apply(fact.clone(), now).expect("a fact is never rejected");
                    host.notice(&fact);
                    host.perform_due(&run, &applied.effects);
                }
            }
        }
        host.assert_agrees_with(&run);
        assert_delivered(&host, &run);
    }
    assert!(run.status().is_end());
    assert_eq!(recorded_replies(&run), accepted, "no accepted reply is lost or doubled");
}

#[test]
fn a_decision_that_a_lost_process_overtakes_is_not_handed_over() {
    let sticky = |setting: &Setting| setting.interactive && setting.sticky && !setting.strict && !setting.schema;
    for setting in Setting::all().into_iter().filter(sticky) {
        let (mut run, created) = Run::create(setting.plan(), Timestamp::default());
        let mut host = TinyHost::new(&run);
        host.perform_due(&run, &created.effects);
        let at = |millis| Timestamp::from_millis(millis).expect("a time");
        let deadline = 1000 * setting.plan().session_timeout_sec;
        for (event, now) in [
            (Event::SlotGranted { slot_id: "r1/s1".into() }, at(0)),
            (Event::TurnFinished(TurnReport::with_text(1, "Which file?")), at(0)),
            (Event::ProcessLost { attempt_number: 1, slot_id: Some("r1/s1".into()) }, at(deadline)),
        ] {
            if matches!(event, Event::ProcessLost { .. }) {
                host.crash(Loss { process: true, slots: false });
            }
            let transition = run.apply(event.clone(), now).expect("a fact is never rejected");
            host.notice(&event);
            host.perform_due(&run, &transition.effects);
        }
        host.assert_agrees_with(&run);
    }
}

/// A question comes from a turn, and the turn came from the answer before: that answer must have reached the agent.
fn assert_delivered(host: &TinyHost, run: &Run) {
    let asked = run.history().len() + usize::from(run.pending().is_some());
    for record in run.history().iter().take(asked.saturating_sub(1)) {
        assert!(host.delivered().contains(&record.interaction_id), "answer {} is lost", record.interaction_id);
    }
}

fn accepted_reply(seen: &Seen<'_>) -> Option<(u64, String)> {
    let Event::Reply(reply) = seen.event else { return None };
    let receipt = seen.result.as_ref().ok()?.receipt.as_ref()?;
    let text = reply.response.as_str().map_or_else(|| reply.response.to_string(), str::to_owned);
    (receipt.kind == ReceiptKind::Accepted).then_some((reply.interaction_id, text))
}

fn recorded_replies(run: &Run) -> Vec<(u64, String)> {
    let by_users = run.history().iter().filter(|record| record.resolution_mode == ResolutionMode::UserReply);
    by_users.map(|record| (record.interaction_id, record.response.clone().expect("an answer"))).collect()
}
