use super::*;

#[test]
fn serde_json_reads_an_event_wherever_its_type_stands_and_writes_it_back() {
    let event = Event::TurnFinished(TurnReport::with_text(1, "hi"));
    let text = r#"{"type":"turn_finished","attempt_number":1,"text":"hi"}"#;
    assert_eq!(serde_json::to_string(&event).unwrap(), text);
    for text in [text, r#"{"attempt_number":1,"type":"turn_finished","text":"hi"}"#] {
        assert_eq!(serde_json::from_str::<Event>(text).unwrap(), event);
    }
    for bad in [r#"{"attempt_number":1}"#, r#"{"type":"turn_finished"}"#, r#"{"type":"cancel","who":1}"#, "[]"] {
        assert!(serde_json::from_str::<Event>(bad).is_err(), "{bad}");
    }
}
