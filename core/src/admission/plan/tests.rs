use super::*;

/// One test, because the list is one for all.
#[test]
fn runs_with_the_same_settings_share_them_if_they_are_not_too_many() {
    let settings = |seconds: u64| PlanSettings { session_timeout_sec: seconds, ..PlanSettings::default() };
    let with = |seconds| Plan::new("r1".to_owned(), settings(seconds)).settings;
    let (one, same, other) = (with(1), with(1), with(2));
    assert!(Arc::ptr_eq(&one, &same));
    assert!(!Arc::ptr_eq(&one, &other));

    let living: Vec<_> = (1..1000).map(with).collect();
    assert!(SETTINGS.lock().len() <= crate::schema::shared::MOST_SHARED);
    assert!(living.iter().zip(1..).all(|(settings, seconds)| settings.session_timeout_sec == seconds));
}
