use super::*;

#[test]
fn plain_patterns_are_cheap() {
    let plain = [
        "^[a-z]+$",
        "^[A-Za-z0-9_.-]{1,64}$",
        r"^\d{4}-\d{2}-\d{2}$",
        "^x",
        "^[A-Z]{2,5}-\\d+$",
        "^.{1,200}$",
        r"^\S*$",
        "^[^/]+/[^/]+$",
        "^abc$",
        "^v\\d+\\.\\d+$",
        "^#[0-9a-f]{6}$",
        "^a?b*c$",
        "^a*é",
        "^x*a{1,2}x",
        r"^[\d.]+[a]",
        r"^\w+-",
        r"^\s+a",
        r"^\D+1",
        r"^\W+a",
        r"^\S+ ",
        r"^\n+\r+\t+a",
        r"^\.+a",
    ];
    for pattern in plain {
        assert!(is_deterministic(pattern), "{pattern}");
        assert_eq!(regex_cost(pattern), PLAIN, "{pattern}");
    }
    for pattern in [
        "[a-z]+",
        "^[ab]*a[ab]{9}",
        "^(a|b)$",
        "^a*?b",
        "^a?a",
        r"^\s*\S+é*è",
        "^[a-z]*[^b]",
        "^a|b",
        r"^\w{1,3}\d",
        "^a*b?a",
        "^x*a{0,2}x",
        r"^[\d]+1",
        r"^[a-\d]+b",
        "^[a-[b]+c",
        r"^\s+é",
        r"^\q+a",
        "^[a-za]+a",
        "^[éa]+è",
    ] {
        assert!(!is_deterministic(pattern), "{pattern}");
    }
}

#[test]
fn repetitions_are_written_out() {
    let table = [
        ("abc", 3),
        ("a{5}", 6),
        ("a{2,7}", 8),
        ("(ab){3}", 8),
        ("((a{9}){9}){9}", 1000),
        ("[a-z]{4}", 5),
        ("{x}", 3),
        ("a{}", 3),
        ("a{,5}", 5),
        (r"\d{5}", 6),
        (r"\pLabc", 404),
        (r"\p{L}abc", 403),
        (r"[\p{L}\p{N}]{10}", 2211),
    ];
    for (pattern, positions_of_it) in table {
        assert_eq!(positions(pattern, PROPERTY_SIZE), positions_of_it, "{pattern}");
    }
    assert_eq!(positions("((((a{99999999999}){99999999999}){99999999999}", PROPERTY_SIZE), u64::MAX);
    assert!(!is_too_large("^.{1,400}$") && !is_too_large(r"^[\p{L}\p{N} _-]{1,15}$"));
    assert!(is_too_large(r"\p{L}{30}") && is_too_large("a{5000}") && is_too_large(&"[a-c]".repeat(4001)));
    assert!(!is_too_large(&"a".repeat(4000)) && is_too_large(&"a".repeat(4001)));
}
