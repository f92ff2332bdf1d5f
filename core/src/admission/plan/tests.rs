use super::*;

/// One test, because the list is one for all.
#[test]
fn runs_with_the_same_settings_share_them_if_they_are_not_too_many() {
    let with = |seconds: u64| PlanSettings { session_timeout_sec: seconds, ..PlanSettings::default() }.shared();
    let (one, same, other) = (with(1), with(1), with(2));
    assert!(Arc::ptr_eq(&one, &same));
    assert!(!Arc::ptr_eq(&one, &other));

    let living: Vec<_> = (1..1000).map(with).collect();
    assert!(SHARED.lock().is_ok_and(|known| known.len() <= MOST_SHARED));
    assert!(living.iter().zip(1..).all(|(settings, seconds)| settings.session_timeout_sec == seconds));
}
