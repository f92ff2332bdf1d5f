use super::*;

#[test]
fn adding_stops_at_the_end_of_time() {
    assert_eq!(Timestamp::MAX.plus_seconds(u64::MAX), Timestamp::MAX);
    assert_eq!(Timestamp::from_millis(5).map(|t| t.plus_seconds(2).as_millis()), Some(2005));
    assert_eq!(Timestamp::from_millis(1 << 53), None);
    assert_eq!(Timestamp::default().millis_since(Timestamp::MAX), 0);
}

#[test]
fn a_time_in_seconds_is_recognised_beside_one_in_milliseconds() {
    let is_in_seconds = |now, last| {
        let [now, last] = [now, last].map(|millis| Timestamp::from_millis(millis).unwrap());
        now.is_in_seconds(last)
    };
    let (seconds, millis, ten_years) = (1_771_200_000, 1_771_200_000_000, 315_360_000_000);
    assert!(is_in_seconds(seconds, millis));
    assert!(is_in_seconds(seconds, millis + 999));
    assert!(is_in_seconds(seconds, millis - ten_years) && is_in_seconds(seconds, millis + ten_years));
    assert!(!is_in_seconds(seconds, millis - ten_years - 1) && !is_in_seconds(seconds, millis + ten_years + 1));
    assert!(!is_in_seconds(millis, millis + 1) && !is_in_seconds(seconds, seconds + 1));
    assert!(is_in_seconds(100_000_000, 100_000_000_000));
    assert!(!is_in_seconds(99_999_999, 100_000_000_000) && !is_in_seconds(100_000_000, 99_999_999_999));
    assert!(is_in_seconds(99_999_999_999, 99_999_999_999_000) && !is_in_seconds(100_000_000_000, 100_000_000_000_000));
    assert!(!is_in_seconds(0, Timestamp::MAX.as_millis()));
}

#[test]
fn a_time_is_read_only_when_it_is_a_whole_number_in_range() {
    assert!(serde_json::from_str::<Timestamp>("1771200000000").is_ok());
    for bad in ["-1", "1.5", "9007199254740992", "\"1\"", "null", "1e400"] {
        assert!(serde_json::from_str::<Timestamp>(bad).is_err(), "{bad}");
    }
}
