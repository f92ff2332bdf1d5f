//! Decoders of agents' output: bytes in, data out.

use std::sync::Mutex;

use pyo3::conversion::FromPyObjectOwned;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use turnlatch::agents::Sticky;
use turnlatch::types::{Stream, StreamFormat};

use crate::convert::{EventValue, NotJson, Text, to_python};
use crate::errors::{malformed, rejected};
use crate::lock;

/// Decodes a process's stream incrementally. Its lock is never held while Python runs.
#[pyclass(frozen, module = "turnlatch._core")]
pub(crate) struct StreamDecoder(Mutex<turnlatch::StreamDecoder>);

#[pymethods]
impl StreamDecoder {
    #[new]
    fn new(
        py: Python<'_>,
        format: Text,
        text_limit: Option<&Bound<'_, PyAny>>,
        sticky: bool,
        end_of_turn: Option<Text>,
        work_folder: Text,
    ) -> PyResult<StreamDecoder> {
        let format = StreamFormat::from_name(&format.0).map_err(|error| rejected(py, &error))?;
        let text_limit = integer(text_limit, "expected a number of bytes for `text_limit`")?.unwrap_or(usize::MAX);
        if !sticky {
            return Ok(StreamDecoder(Mutex::new(turnlatch::StreamDecoder::new(format, text_limit))));
        }
        let sticky = Sticky::new(end_of_turn.map(|line| line.0), work_folder.0);
        let decoder = turnlatch::StreamDecoder::sticky(format, text_limit, sticky);
        Ok(StreamDecoder(Mutex::new(decoder.map_err(|error| rejected(py, &error))?)))
    }

    fn feed(&self, py: Python<'_>, data: PyBackedBytes) -> PyResult<Py<PyAny>> {
        to_python(py, &py.detach(|| lock(&self.0).feed(&data)))
    }

    fn prompt(&self, py: Python<'_>, words: Text) -> String {
        py.detach(|| lock(&self.0).prompt(&words.0))
    }

    fn finish(&self, py: Python<'_>, stderr: Text, exit_code: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        let exit_code = integer(exit_code, "expected a whole number of 64 bits for `exit_code`")?;
        to_python(py, &py.detach(|| lock(&self.0).finish(&stderr.0, exit_code)))
    }
}

fn integer<'py, T: FromPyObjectOwned<'py>>(given: Option<&Bound<'py, PyAny>>, problem: &str) -> PyResult<Option<T>> {
    given.map(|given| given.extract().map_err(|_| malformed(given.py(), NotJson::new(problem)))).transpose()
}

#[pyfunction]
pub(crate) fn decode_stream(py: Python<'_>, stream: EventValue) -> PyResult<Py<PyAny>> {
    let stream = Stream::from_value(stream.0).map_err(|error| rejected(py, &error))?;
    to_python(py, &py.detach(|| turnlatch::agents::decode_stream(&stream)))
}
