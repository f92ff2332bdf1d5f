//! What an agent's program may print, in every format: however it is cut, it says the same, and what is kept is bounded.

use serde_json::Value;
use turnlatch::agents::{Decoded, Piece, Sticky, decode_stream};
use turnlatch::types::{Stream, StreamFormat};
use turnlatch::{Event, StreamDecoder};

use super::{PART, assert_safe, choices, joined, text, vector_steps};

/// Holds a stream against the laws: the bytes choose the format, where it is cut, how it ends and what is allowed of it.
/// Behind what was printed stands, after the part's byte, what was complained of.
///
/// # Panics
/// If a law does not hold.
pub fn check(bytes: &[u8]) {
    let ([format, cut, end], printed) = choices::<3>(bytes);
    let format = StreamFormat::ALL[usize::from(format) % StreamFormat::ALL.len()];
    let cut = usize::from(cut).max(1);
    let mut parts = printed.splitn(2, |byte| *byte == PART);
    let (stdout, stderr) = (parts.next().unwrap_or_default(), text(parts.next().unwrap_or_default()));
    let exit_code = [0, 1, 130, -15][usize::from(end % 4)];
    let limit = [usize::MAX, 100][usize::from(end / 4 % 2)];

    let read = |size: usize| {
        let mut decoder = StreamDecoder::new(format, limit);
        let pieces = stdout.chunks(size.max(1)).flat_map(|chunk| decoder.feed(chunk).pieces).collect();
        (decoder.finish(stderr, Some(exit_code)), said(pieces))
    };
    let whole = read(stdout.len());
    assert_can_be_told(&whole.0);
    assert!(words(&whole.0) <= limit.saturating_add(stdout.len()), "what is kept is bounded");
    // Where a text passes its limit depends on the pieces; that it does, does not.
    let cut_up = read(cut);
    if limit == usize::MAX {
        assert_eq!(cut_up, whole, "wherever it is cut");
    } else {
        assert_can_be_told(&cut_up.0);
        assert_eq!(words(&cut_up.0) > limit, words(&whole.0) > limit, "too much is too much, wherever it is cut");
    }
    if let Ok(stdout) = str::from_utf8(stdout) {
        let (stdout, stderr, exit_code) = (stdout.to_owned(), Some(stderr.to_owned()), Some(exit_code));
        let decoded = decode_stream(&Stream { format, stdout, stderr, exit_code });
        assert!(limit != usize::MAX || decoded == whole.0, "the whole at once says the same");
    }
    assert_turns_of_a_process(format, stdout, cut);
}

/// What the vectors have of streams, whole and as they are fed.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (_, step) in vector_steps() {
        let stream = [&step["stream"], &step["event"]["stream"], &step["turn"]["stream"], &step["feed"]];
        let Some(stream) = stream.into_iter().find(|stream| stream.is_object()) else { continue };
        let format = StreamFormat::ALL.iter().position(|format| stream["format"] == serde_json::json!(format));
        let Some(format) = format.and_then(|place| u8::try_from(place).ok()) else { continue };
        let end = u8::from(stream["exit_code"].as_i64().is_some_and(|code| code != 0));
        let fed = stream["chunks"].as_array().into_iter().flatten().filter_map(Value::as_str).collect::<String>();
        let stdout = stream["stdout"].as_str().unwrap_or(&fed);
        let stderr = stream["stderr"].as_str().filter(|stderr| !stderr.is_empty());
        seeds.push(joined(&[format, 7, end], [stdout].into_iter().chain(stderr)));
    }
    seeds
}

/// The pieces of a message joined, as somebody who looks on sees them.
fn said(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::new();
    for piece in pieces {
        match joined.last_mut().filter(|last| last.message == piece.message) {
            Some(last) => last.text.push_str(&piece.text),
            None => joined.push(piece),
        }
    }
    joined
}

fn words(decoded: &Decoded) -> usize {
    decoded.messages.iter().filter(|message| message.role == "assistant").map(|message| message.text.len()).sum()
}

/// What a decoder says is a report that the core takes, within its bounds (STREAM-2, STREAM-7).
fn assert_can_be_told(decoded: &Decoded) {
    for message in decoded.messages.iter().filter(|message| message.role != "assistant") {
        assert!(message.text.len() <= 2000 && message.role.len() <= 64, "of others the beginning is kept");
    }
    let others = decoded.messages.iter().filter(|message| message.role != "assistant").count();
    assert!(others <= 1000, "and of no more than so many");
    assert!(decoded.diagnostics.len() <= 64, "a report takes no more: {}", decoded.diagnostics.len());
    decoded.diagnostics.iter().for_each(|note| assert_safe(&note.message));
    if let Some(handle) = &decoded.session_handle {
        assert!(!handle.starts_with('-') && handle.bytes().all(|byte| byte.is_ascii_graphic()), "{handle:?}");
    }
    let mut report = serde_json::json!(decoded);
    report["type"] = "turn_finished".into();
    report["attempt_number"] = 1.into();
    let told = Event::from_value(report.clone());
    assert!(told.is_ok(), "what a decoder says can be told: {told:?} of {report}");
}

/// A process that lives on: its turns are the same however its stream is cut.
fn assert_turns_of_a_process(format: StreamFormat, stdout: &[u8], cut: usize) {
    let end_of_turn = matches!(format, StreamFormat::Text | StreamFormat::Ndjson).then(|| "END".to_owned());
    let Ok(decoder) = StreamDecoder::sticky(format, usize::MAX, Sticky::new(end_of_turn, "/work".to_owned())) else {
        return;
    };
    let read = |size: usize| {
        let (mut decoder, mut turns, mut written) = (decoder.clone(), Vec::new(), decoder.clone().prompt("Go."));
        decoder.prompt("Go.");
        for chunk in stdout.chunks(size.max(1)) {
            let mut progress = decoder.feed(chunk);
            while progress.turn_over {
                written.extend(progress.write);
                turns.push(decoder.finish("", None));
                progress = decoder.feed(&[]);
            }
            written.extend(progress.write);
        }
        turns.push(decoder.finish("", Some(0)));
        (turns, written)
    };
    let whole = read(stdout.len());
    whole.0.iter().for_each(assert_can_be_told);
    assert_eq!(read(cut), whole, "the turns of a process, wherever its stream is cut");
}
