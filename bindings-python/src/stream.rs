//! Decoders of agents' output: bytes in, JSON text out.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyString;
use turnlatch::agents::Sticky;
use turnlatch::types::{Stream, StreamFormat};

use crate::convert::{event_value, text_of, to_json};
use crate::errors::{malformed, rejected};

/// Decodes a process's stream incrementally. Its lock is never held while Python runs.
#[pyclass(frozen, module = "turnlatch._core")]
pub(crate) struct StreamDecoder(Mutex<turnlatch::StreamDecoder>);

#[pymethods]
impl StreamDecoder {
    #[new]
    fn new(
        py: Python<'_>,
        format: &Bound<'_, PyString>,
        text_limit: Option<&Bound<'_, PyAny>>,
        sticky: bool,
        end_of_turn: Option<&Bound<'_, PyString>>,
        work_folder: &Bound<'_, PyString>,
    ) -> PyResult<StreamDecoder> {
        let format = StreamFormat::from_name(&text_of(format)?).map_err(|error| rejected(py, &error))?;
        let text_limit = match text_limit {
            Some(limit) => limit.extract().map_err(|_| malformed(py, "expected a number of bytes for `text_limit`"))?,
            None => usize::MAX,
        };
        if !sticky {
            return Ok(StreamDecoder(Mutex::new(turnlatch::StreamDecoder::new(format, text_limit))));
        }
        let end_of_turn = end_of_turn.map(text_of).transpose()?.map(std::borrow::Cow::into_owned);
        let sticky = Sticky::new(end_of_turn, text_of(work_folder)?.into_owned());
        let decoder = turnlatch::StreamDecoder::sticky(format, text_limit, sticky);
        Ok(StreamDecoder(Mutex::new(decoder.map_err(|error| rejected(py, &error))?)))
    }

    fn feed(&self, py: Python<'_>, data: PyBackedBytes) -> PyResult<String> {
        to_json(&self.with(py, |decoder| decoder.feed(&data)))
    }

    fn prompt(&self, py: Python<'_>, words: &Bound<'_, PyString>) -> PyResult<String> {
        let words = text_of(words)?;
        Ok(self.with(py, |decoder| decoder.prompt(&words)))
    }

    fn finish(
        &self,
        py: Python<'_>,
        stderr: &Bound<'_, PyString>,
        exit_code: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let stderr = text_of(stderr)?;
        let exit_code = exit_code.map(PyAnyMethods::extract).transpose();
        let exit_code = exit_code.map_err(|_| malformed(py, "expected a whole number of 64 bits for `exit_code`"))?;
        to_json(&self.with(py, |decoder| decoder.finish(&stderr, exit_code)))
    }
}

impl StreamDecoder {
    fn with<T: Send>(&self, py: Python<'_>, call: impl FnOnce(&mut turnlatch::StreamDecoder) -> T + Send) -> T {
        py.detach(|| call(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[pyfunction]
pub(crate) fn decode_stream(py: Python<'_>, stream: &Bound<'_, PyAny>) -> PyResult<String> {
    let stream = Stream::from_value(event_value(stream)?).map_err(|error| rejected(py, &error))?;
    to_json(&py.detach(|| turnlatch::agents::decode_stream(&stream)))
}
