use std::collections::BTreeSet;

use super::*;

#[test]
fn every_code_stands_once_and_is_read_back() {
    let texts: BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(texts.len(), Code::ALL.len());
    for code in Code::ALL {
        assert_eq!(Code::from_text(code.as_str()), Some(*code));
        assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
    }
    assert_eq!(Code::from_text("NO_SUCH_CODE"), None);
}

#[test]
fn every_row_is_a_sentence() {
    for info in Code::ALL.iter().map(|code| code.info()) {
        assert!(info.meaning.ends_with('.') && info.remedy.ends_with('.'), "{}", info.code);
        assert!(
            matches!(info.http, 200 | 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 500 | 503),
            "{}",
            info.code
        );
    }
}
