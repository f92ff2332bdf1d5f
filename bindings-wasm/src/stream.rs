//! Decoders of agents' streams, by their handle. Bytes go in as they are, and what they say comes out as text.

use std::cell::RefCell;
use std::rc::Rc;

use turnlatch::StreamDecoder;
use turnlatch::agents::Sticky;
use turnlatch::json::{Value, json_text, parse_json};
use turnlatch::types::{Stream, StreamFormat};
use wasm_bindgen::prelude::*;

use crate::convert::text;
use crate::errors::{Failed, misuse, rejected};
use crate::table::DECODERS;

/// Decodes the whole of a turn's stream, given as JSON text.
#[wasm_bindgen]
pub fn decode_stream(stream: &[u8]) -> Result<String, Failed> {
    // What is too deep for the core's JSON is no stream either, and the core says so.
    let stream = Stream::from_value(parse_json(text(stream)?).unwrap_or(Value::Null));
    Ok(json_text(&turnlatch::agents::decode_stream(&stream.map_err(|error| rejected(&error))?)))
}

/// A decoder of a process that ends with its turn or, with a folder to work in, of one that lives on.
#[wasm_bindgen]
pub fn decoder_create(
    format: &str,
    text_limit: Option<u32>,
    end_of_turn: Option<String>,
    work_folder: Option<String>,
) -> Result<u32, Failed> {
    let format = StreamFormat::from_name(format).map_err(|error| rejected(&error))?;
    let text_limit = text_limit.map_or(usize::MAX, |limit| limit as usize);
    let decoder = match work_folder {
        Some(work_folder) => StreamDecoder::sticky(format, text_limit, Sticky::new(end_of_turn, work_folder)),
        None => Ok(StreamDecoder::new(format, text_limit)),
    };
    let decoder = decoder.map_err(|error| rejected(&error))?;
    Ok(DECODERS.with(|decoders| decoders.add(Rc::new(RefCell::new(decoder)))))
}

/// Takes the next bytes of stdout.
#[wasm_bindgen]
pub fn decoder_feed(decoder: u32, bytes: &[u8]) -> Result<String, Failed> {
    with(decoder, |decoder| json_text(&decoder.feed(bytes)))
}

/// What to write to the process for a prompt or a reply.
#[wasm_bindgen]
pub fn decoder_prompt(decoder: u32, words: &[u8]) -> Result<String, Failed> {
    let words = text(words)?;
    with(decoder, |decoder| decoder.prompt(words))
}

/// What the turn says, now that it is over.
#[wasm_bindgen]
pub fn decoder_finish(decoder: u32, stderr: &[u8], exit_code: Option<i64>) -> Result<String, Failed> {
    let stderr = text(stderr)?;
    with(decoder, |decoder| json_text(&decoder.finish(stderr, exit_code)))
}

/// Gives a decoder's memory back.
#[wasm_bindgen]
pub fn decoder_free(decoder: u32) {
    DECODERS.with(|decoders| decoders.remove(decoder));
}

/// A decoder changes in place, unlike a run: after a panic it is given up with its instance, and copies would cost more
/// than the decoding.
fn with<T>(decoder: u32, work: impl FnOnce(&mut StreamDecoder) -> T) -> Result<T, Failed> {
    let decoder = DECODERS.with(|decoders| decoders.get(decoder))?;
    let mut decoder = decoder.try_borrow_mut().map_err(|_| misuse("the decoder is at work"))?;
    Ok(work(&mut decoder))
}
