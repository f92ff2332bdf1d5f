//! Decoders of agents' streams. Bytes go in as they are.

use turnlatch::agents::Sticky;
use turnlatch::json::{Value, parse_json};
use turnlatch::types::{Stream, StreamFormat};
use wasm_bindgen::prelude::*;

use crate::convert::{data, text};
use crate::errors::Thrown;

/// Decodes the whole of a turn's stream, given as JSON text.
#[wasm_bindgen]
pub fn decode_stream(stream: &[u8]) -> Result<JsValue, JsValue> {
    // What is too deep for the core's JSON is no stream either, and the core says so.
    let stream = Stream::from_value(parse_json(text(stream)?).unwrap_or(Value::Null)).map_err(Thrown::from)?;
    data(&turnlatch::agents::decode_stream(&stream))
}

/// Reads a process's stream while it is written.
#[wasm_bindgen]
pub struct StreamDecoder(turnlatch::StreamDecoder);

#[wasm_bindgen]
impl StreamDecoder {
    /// A decoder of a process that ends with its turn or, with a folder to work in, of one that lives on.
    #[wasm_bindgen(constructor)]
    pub fn new(
        format: &str,
        text_limit: Option<u32>,
        end_of_turn: Option<String>,
        work_folder: Option<String>,
    ) -> Result<StreamDecoder, Thrown> {
        let format = StreamFormat::from_name(format)?;
        let text_limit = text_limit.map_or(usize::MAX, |limit| limit as usize);
        Ok(StreamDecoder(match work_folder {
            Some(folder) => turnlatch::StreamDecoder::sticky(format, text_limit, Sticky::new(end_of_turn, folder))?,
            None => turnlatch::StreamDecoder::new(format, text_limit),
        }))
    }

    pub fn feed(&mut self, bytes: &[u8]) -> Result<JsValue, JsValue> {
        data(&self.0.feed(bytes))
    }

    pub fn prompt(&mut self, words: &[u8]) -> Result<String, Thrown> {
        Ok(self.0.prompt(text(words)?))
    }

    pub fn finish(&mut self, stderr: &[u8], exit_code: Option<i64>) -> Result<JsValue, JsValue> {
        data(&self.0.finish(text(stderr)?, exit_code))
    }
}
