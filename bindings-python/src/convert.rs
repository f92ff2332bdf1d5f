//! Converts Python data to JSON values and back. Hostile data raises an error, never crashes.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::errors::malformed;

/// More than the depth limit of events, far less than would overflow the stack.
const MAX_DEPTH: usize = 256;
const MAX_PATH_CHARACTERS: usize = 100;

/// Copies the items first: methods of a value in the dict could change it while it is read.
fn pairs_of<'p>(dict: &Bound<'p, PyDict>) -> Vec<(Bound<'p, PyAny>, Bound<'p, PyAny>)> {
    with_critical_section(dict.as_any(), || dict.iter().collect())
}

/// Converts an event, report, effect or time: dicts with string keys, lists, strings, numbers, booleans and None. Anything
/// else is rejected as malformed, as it would be in JSON text.
pub(crate) fn event_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    value_at(object, 0).map_err(|error| match error {
        ConversionError::Raised(error) => error,
        ConversionError::NotJson { .. } => malformed(object.py(), error.to_string()),
    })
}

/// Converts any other argument. Invalid ones raise `TypeError` or `ValueError`, as is usual in Python.
pub(crate) fn argument_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    value_at(object, 0).map_err(|error| match error {
        ConversionError::Raised(error) => error,
        ConversionError::NotJson { is_type: true, .. } => PyTypeError::new_err(error.to_string()),
        ConversionError::NotJson { is_type: false, .. } => PyValueError::new_err(error.to_string()),
    })
}

/// Why Python data could not be converted.
enum ConversionError {
    /// JSON cannot represent the type (`is_type`) or the value found at `path`, whose last segment comes first.
    NotJson { is_type: bool, problem: String, path: Vec<String> },
    /// A user's own mapping raised while it was read.
    Raised(PyErr),
}

impl ConversionError {
    fn of_value(problem: impl Into<String>) -> ConversionError {
        ConversionError::NotJson { is_type: false, problem: problem.into(), path: Vec::new() }
    }

    fn of_type(problem: impl Into<String>) -> ConversionError {
        ConversionError::NotJson { is_type: true, problem: problem.into(), path: Vec::new() }
    }

    fn inside(mut self, segment: impl ToString) -> ConversionError {
        if let ConversionError::NotJson { path, .. } = &mut self {
            path.push(segment.to_string());
        }
        self
    }
}

impl From<PyErr> for ConversionError {
    fn from(error: PyErr) -> ConversionError {
        ConversionError::Raised(error)
    }
}

/// The path as a JSON pointer, safe to display, and the problem.
impl std::fmt::Display for ConversionError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ConversionError::Raised(error) => error.fmt(formatter),
            ConversionError::NotJson { problem, path, .. } if path.is_empty() => formatter.write_str(problem),
            ConversionError::NotJson { problem, path, .. } => {
                let segments =
                    path.iter().rev().map(|segment| format!("/{}", segment.replace('~', "~0").replace('/', "~1")));
                let path: String = segments.collect();
                let shown: String = path.chars().take(MAX_PATH_CHARACTERS).collect();
                let more = if shown.len() < path.len() { "…" } else { "" };
                write!(formatter, "`{}{more}`: {problem}", turnlatch::text::display_text(&shown))
            }
        }
    }
}

fn value_at(object: &Bound<'_, PyAny>, depth: usize) -> Result<Value, ConversionError> {
    if depth > MAX_DEPTH {
        return Err(ConversionError::of_value(format!("the data is nested deeper than {MAX_DEPTH}")));
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    // Before integers: `bool` is a subclass of `int`.
    if let Ok(boolean) = object.cast::<PyBool>() {
        return Ok(Value::Bool(boolean.is_true()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        let text = text.to_str().map_err(|_| ConversionError::of_value("a text has half of a surrogate pair"))?;
        return Ok(Value::String(text.to_owned()));
    }
    if object.cast::<PyInt>().is_ok() {
        let number = object.extract::<i64>().map(Number::from).or_else(|_| object.extract::<u64>().map(Number::from));
        return number
            .map(Value::Number)
            .map_err(|_| ConversionError::of_value("an integer does not fit into 64 bits"));
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        let number = Number::from_f64(number.value());
        return number.map(Value::Number).ok_or_else(|| ConversionError::of_value("a number is not finite"));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        return members(pairs_of(dict), depth);
    }
    if let Ok(list) = object.cast::<PyList>() {
        return items(list.iter(), depth);
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return items(tuple.iter(), depth);
    }
    if let Ok(mapping) = object.cast::<PyMapping>() {
        return members(mapping.items()?.extract()?, depth);
    }
    Err(ConversionError::of_type(format!("expected JSON data, found `{}`", object.get_type().name()?)))
}

fn items<'p>(items: impl Iterator<Item = Bound<'p, PyAny>>, depth: usize) -> Result<Value, ConversionError> {
    let values = items.enumerate().map(|(index, item)| value_at(&item, depth + 1).map_err(|error| error.inside(index)));
    values.collect::<Result<_, _>>().map(Value::Array)
}

fn members(pairs: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)>, depth: usize) -> Result<Value, ConversionError> {
    let mut object = Map::with_capacity(pairs.len());
    for (key, value) in pairs {
        let key = key.cast::<PyString>().map_err(|_| ConversionError::of_type("the keys of JSON data are strings"))?;
        let name = key.to_str().map_err(|_| ConversionError::of_value("a key has half of a surrogate pair"))?;
        let value = value_at(&value, depth + 1).map_err(|error| error.inside(name))?;
        object.insert(name.to_owned(), value);
    }
    Ok(Value::Object(object))
}

/// The text of a Python string, which unlike Rust's may contain lone surrogates.
pub(crate) fn text_of<'t>(text: &'t Bound<'_, PyString>) -> PyResult<std::borrow::Cow<'t, str>> {
    text.to_cow().map_err(|_| malformed(text.py(), "a text has half of a surrogate pair"))
}

/// Converts the core's data to Python data.
pub(crate) fn to_python(py: Python<'_>, data: &impl Serialize) -> PyResult<Py<PyAny>> {
    Ok(pythonize::pythonize(py, data)?.unbind())
}

/// Serializes the core's data as JSON text.
pub(crate) fn to_json(data: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(data).map_err(|error| PyValueError::new_err(error.to_string()))
}
