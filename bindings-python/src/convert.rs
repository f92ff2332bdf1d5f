//! Converts between Python data and the core's. Hostile data raises an error, never crashes.

use std::borrow::Cow;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde::Serialize;
use serde_json::{Map, Number, Value};
use turnlatch::Timestamp;

use crate::errors::{malformed, not_a_time};

/// More than the depth limit of events, far less than would overflow the stack.
const MAX_DEPTH: usize = 256;
/// Of a path or a value that is shown.
pub(crate) const MAX_SHOWN_CHARACTERS: usize = 100;

/// An event, a report or a stream. Anything that JSON text cannot represent is malformed.
pub(crate) struct EventValue(pub(crate) Value);

impl<'py> FromPyObject<'_, 'py> for EventValue {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<EventValue> {
        value_of(&object).map(EventValue).map_err(|error| malformed(object.py(), error))
    }
}

/// A time from outside.
pub(crate) struct Now(pub(crate) Timestamp);

impl<'py> FromPyObject<'_, 'py> for Now {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Now> {
        // What cannot be converted is no time, as null is none.
        let value = value_of(&object).unwrap_or_default();
        Timestamp::from_json(&value).map(Now).map_err(|error| not_a_time(&object, &error))
    }
}

/// A string that is no document. Python's may have lone surrogates, which are malformed.
pub(crate) struct Text(pub(crate) String);

impl FromPyObject<'_, '_> for Text {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Text> {
        let text = object.cast::<PyString>()?.to_str().map(|text| Text(text.to_owned()));
        text.map_err(|_| malformed(object.py(), NotJson::new(LONE_SURROGATE)))
    }
}

/// A document as JSON text. A string, or bytes in UTF-8, is text already; any other data is written compactly.
pub(crate) fn document_text<'t>(document: &'t Bound<'_, PyAny>) -> Result<Cow<'t, str>, NotJson> {
    if let Ok(string) = document.cast::<PyString>() {
        return string.to_cow().map_err(|_| NotJson::new(LONE_SURROGATE));
    }
    if let Ok(bytes) = document.cast::<PyBytes>() {
        return str::from_utf8(bytes.as_bytes())
            .map(Cow::Borrowed)
            .map_err(|_| NotJson::new("the bytes are not UTF-8"));
    }
    Ok(Cow::Owned(value_of(document)?.to_string()))
}

/// Why Python data is not JSON data.
pub(crate) enum NotJson {
    /// What is wrong, and where: a JSON pointer.
    Found { problem: String, path: String },
    /// A user's own mapping raised while it was read.
    Raised(PyErr),
}

impl NotJson {
    pub(crate) fn new(problem: impl Into<String>) -> NotJson {
        NotJson::Found { problem: problem.into(), path: String::new() }
    }

    fn inside(mut self, segment: impl ToString) -> NotJson {
        if let NotJson::Found { path, .. } = &mut self {
            path.insert_str(0, &format!("/{}", segment.to_string().replace('~', "~0").replace('/', "~1")));
        }
        self
    }

    /// What was raised; or the error that is made of the problem and its path, which is short and safe to display.
    pub(crate) fn into_error(self, error: impl FnOnce(String, String) -> PyErr) -> PyErr {
        match self {
            NotJson::Raised(raised) => raised,
            NotJson::Found { problem, path } => {
                let shown: String = path.chars().take(MAX_SHOWN_CHARACTERS).collect();
                let more = if shown.len() < path.len() { "…" } else { "" };
                error(problem, format!("{}{more}", turnlatch::text::display_text(&shown)))
            }
        }
    }
}

/// The one way in for data: dicts and other mappings with string keys, lists, tuples, strings, numbers, booleans and None.
pub(crate) fn value_of(object: &Bound<'_, PyAny>) -> Result<Value, NotJson> {
    value_at(object, 0)
}

fn value_at(object: &Bound<'_, PyAny>, depth: usize) -> Result<Value, NotJson> {
    if depth > MAX_DEPTH {
        return Err(NotJson::new(format!("the data is nested deeper than {MAX_DEPTH}")));
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    // Before integers: `bool` is a subclass of `int`.
    if let Ok(boolean) = object.cast::<PyBool>() {
        return Ok(Value::Bool(boolean.is_true()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::String(text.to_str().map_err(|_| NotJson::new(LONE_SURROGATE))?.to_owned()));
    }
    if object.cast::<PyInt>().is_ok() {
        let number = object.extract::<i64>().map(Number::from).or_else(|_| object.extract::<u64>().map(Number::from));
        return number.map(Value::Number).map_err(|_| NotJson::new("an integer does not fit into 64 bits"));
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        let number = Number::from_f64(number.value());
        return number.map(Value::Number).ok_or_else(|| NotJson::new("a number is not finite"));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        // Copied first: methods of a value in the dict could change it while it is read.
        return members(with_critical_section(dict, || dict.iter().collect()), depth);
    }
    if let Ok(list) = object.cast::<PyList>() {
        return items(list.iter(), depth);
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return items(tuple.iter(), depth);
    }
    if let Ok(mapping) = object.cast::<PyMapping>() {
        let pairs = mapping.items().and_then(|pairs| pairs.extract());
        return members(pairs.map_err(NotJson::Raised)?, depth);
    }
    let found = object.get_type().name().map_err(NotJson::Raised)?;
    Err(NotJson::new(format!("expected JSON data, found `{found}`")))
}

fn items<'p>(items: impl Iterator<Item = Bound<'p, PyAny>>, depth: usize) -> Result<Value, NotJson> {
    let values = items.enumerate().map(|(index, item)| value_at(&item, depth + 1).map_err(|error| error.inside(index)));
    values.collect::<Result<_, _>>().map(Value::Array)
}

fn members(pairs: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)>, depth: usize) -> Result<Value, NotJson> {
    let mut object = Map::with_capacity(pairs.len());
    for (key, value) in pairs {
        let key = key.cast::<PyString>().map_err(|_| NotJson::new("the keys of JSON data are strings"))?;
        let name = key.to_str().map_err(|_| NotJson::new("a key has half of a surrogate pair"))?;
        let value = value_at(&value, depth + 1).map_err(|error| error.inside(name))?;
        object.insert(name.to_owned(), value);
    }
    Ok(Value::Object(object))
}

const LONE_SURROGATE: &str = "a string has half of a surrogate pair";

/// Converts the core's data to Python data.
pub(crate) fn to_python(py: Python<'_>, data: &impl Serialize) -> PyResult<Py<PyAny>> {
    Ok(pythonize::pythonize(py, data)?.unbind())
}

/// Converts the core's data to Python data, or to JSON text, which is what clients are sent.
pub(crate) fn to_python_or_json(py: Python<'_>, data: &(impl Serialize + Sync), as_json: bool) -> PyResult<Py<PyAny>> {
    if !as_json {
        return to_python(py, data);
    }
    let text = py.detach(|| serde_json::to_string(data)).map_err(|error| PyTypeError::new_err(error.to_string()))?;
    text.into_py_any(py)
}
