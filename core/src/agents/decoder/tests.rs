//! What a vector would be too large for; all else is in `tests/vectors/stream`.

use super::super::turn;
use super::*;

fn codex_message(text: &str) -> String {
    format!("{{\"type\":\"item.completed\",\"item\":{{\"type\":\"agent_message\",\"text\":\"{text}\"}}}}\n")
}

#[test]
fn a_row_that_never_ends_takes_no_memory() {
    let mut decoder = StreamDecoder::new(StreamFormat::CodexJsonl, 1000);
    // No number of these is as long as a row may be.
    let chunk = vec![b'x'; MAX_ROW_BYTES / 8 + 1];
    for _ in 0..12 {
        decoder.feed(&chunk);
        assert!(decoder.begun.capacity() <= 2 * MAX_ROW_BYTES);
    }
    decoder.feed(b"\n");
    decoder.feed(codex_message("after").as_bytes());
    let said = decoder.finish("", Some(0));
    assert_eq!(said.messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>(), ["after"]);
    assert_eq!(said.diagnostics.iter().filter(|note| note.code.as_str() == "STREAM_ROW_TOO_LONG").count(), 1);
}

#[test]
fn a_row_is_read_up_to_the_last_byte_that_it_may_have() {
    let row = codex_message("");
    let longest = codex_message(&"x".repeat(MAX_ROW_BYTES + "\n".len() - row.len()));
    let (first, second) = longest.as_bytes().split_at(longest.len() / 2);
    let longer = codex_message(&"x".repeat(MAX_ROW_BYTES + "\n".len() - row.len() + 1));
    let all: [&[&[u8]]; 3] = [&[longest.as_bytes()], &[first, second], &[longer.as_bytes()]];
    let read = all.map(|pieces| {
        let mut decoder = StreamDecoder::new(StreamFormat::CodexJsonl, usize::MAX);
        for piece in pieces {
            decoder.feed(piece);
        }
        decoder.finish("", None).messages.len()
    });
    assert_eq!(read, [1, 1, 0]);
}

#[test]
fn an_object_that_is_longer_than_a_row_may_be_is_told_as_such() {
    let mut decoder = StreamDecoder::new(StreamFormat::GeminiJson, usize::MAX);
    decoder.feed(&vec![b' '; MAX_ROW_BYTES + 1]);
    decoder.feed(b"{}");
    let codes: Vec<_> = decoder.finish("", None).diagnostics.iter().map(|note| note.code.as_str()).collect();
    assert_eq!(codes, ["STREAM_ROW_TOO_LONG"]);
}

#[test]
fn a_text_that_is_as_long_as_it_may_be_does_not_hide_that_there_is_more() {
    let mut decoder = StreamDecoder::new(StreamFormat::CodexJsonl, 100);
    for length in [60, 40, 4, 4] {
        decoder.feed(codex_message(&"x".repeat(length)).as_bytes());
    }
    let kept: usize = decoder.finish("", Some(0)).messages.iter().map(|message| message.text.len()).sum();
    assert_eq!(kept, 104);
}

#[test]
fn text_beyond_the_limit_is_not_kept_but_seen_to_be_too_much() {
    let mut decoder = StreamDecoder::new(StreamFormat::CodexJsonl, 100);
    for _ in 0..1000 {
        decoder.feed(codex_message(&"x".repeat(60)).as_bytes());
    }
    let kept: usize = decoder.finish("", Some(0)).messages.iter().map(|message| message.text.len()).sum();
    assert_eq!(kept, 120);
}

#[test]
fn a_flood_of_messages_is_joined() {
    let mut decoder = StreamDecoder::new(StreamFormat::CodexJsonl, usize::MAX);
    for _ in 0..MANY {
        decoder.feed(codex_message("a").as_bytes());
        decoder.feed(codex_message("").as_bytes());
    }
    let said = decoder.finish("", Some(0));
    assert!(said.messages.len() < MANY);
    let words = said.messages.iter().map(|message| message.text.matches('a').count()).sum::<usize>();
    assert_eq!(words, MANY, "no word is lost");
}

#[test]
fn a_flood_of_turns_is_told_one_by_one() {
    let sticky = Sticky::new(Some("---".to_owned()), String::new());
    let mut decoder = StreamDecoder::sticky(StreamFormat::Text, usize::MAX, sticky).expect("a decoder");
    let mut turns = 0;
    let mut bytes = "a\n---\n".repeat(MANY) + "b";
    while decoder.feed(std::mem::take(&mut bytes).as_bytes()).turn_over {
        assert_eq!(decoder.finish("", None).messages.len(), 1);
        turns += 1;
    }
    assert_eq!((turns, decoder.later.len()), (MANY, 0));
    assert_eq!(decoder.finish("", Some(0)).messages[0].text, "b\n");
}

#[test]
fn a_flood_of_tools_is_bounded() {
    let mut decoder = StreamDecoder::new(StreamFormat::Ndjson, usize::MAX);
    for _ in 0..MANY {
        decoder.feed(format!("{{\"role\":\"tool\",\"text\":\"{}\"}}\n", "x".repeat(3000)).as_bytes());
        decoder.feed(b"what is this\n");
    }
    let said = decoder.finish("", Some(0));
    let kept: usize = said.messages.iter().map(|message| message.text.len()).sum();
    assert!(kept <= 1000 * turn::MAX_OTHER_BYTES, "{kept}");
    assert!(said.diagnostics.len() < 10);
}

const MANY: usize = 20_000;
