//! Python's data to JSON values and back. Hostile data gets an error, never a crash.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::errors::malformed;

/// Deeper than any event may be; far less than what the stack holds.
const MAX_DEPTH: usize = 256;
const MAX_PLACE_CHARACTERS: usize = 100;

/// A copy of the pairs: data of Python's own making could change the dict while it is read.
fn pairs_of<'p>(dict: &Bound<'p, PyDict>) -> Vec<(Bound<'p, PyAny>, Bound<'p, PyAny>)> {
    with_critical_section(dict.as_any(), || dict.iter().collect())
}

/// An event, report or time: dicts with string keys, lists, strings, numbers, booleans and None. Anything else in it is
/// malformed, as it would be in an event's text.
pub(crate) fn event_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    value_at(object, 0).map_err(|unfit| match unfit {
        Unfit::Raised(error) => error,
        Unfit::NotJson { .. } => malformed(object.py(), unfit.to_string()),
    })
}

/// An argument of a call: what it cannot be is a `TypeError` or a `ValueError`, as everywhere in Python.
pub(crate) fn argument_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    value_at(object, 0).map_err(|unfit| match unfit {
        Unfit::Raised(error) => error,
        Unfit::NotJson { foreign: true, .. } => PyTypeError::new_err(unfit.to_string()),
        Unfit::NotJson { foreign: false, .. } => PyValueError::new_err(unfit.to_string()),
    })
}

/// Why there is no JSON value of what Python handed over.
enum Unfit {
    /// Something that JSON has no form for, because of its type (`foreign`) or its value; `way` leads to it, last step
    /// first.
    NotJson { foreign: bool, problem: String, way: Vec<String> },
    /// Code of somebody's own mapping raised while it was read.
    Raised(PyErr),
}

impl Unfit {
    fn value(problem: impl Into<String>) -> Unfit {
        Unfit::NotJson { foreign: false, problem: problem.into(), way: Vec::new() }
    }

    fn foreign(problem: impl Into<String>) -> Unfit {
        Unfit::NotJson { foreign: true, problem: problem.into(), way: Vec::new() }
    }

    fn inside(mut self, step: impl ToString) -> Unfit {
        if let Unfit::NotJson { way, .. } = &mut self {
            way.push(step.to_string());
        }
        self
    }
}

impl From<PyErr> for Unfit {
    fn from(error: PyErr) -> Unfit {
        Unfit::Raised(error)
    }
}

/// The place as a JSON pointer, safe to show, and the problem.
impl std::fmt::Display for Unfit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unfit::Raised(error) => error.fmt(formatter),
            Unfit::NotJson { problem, way, .. } if way.is_empty() => formatter.write_str(problem),
            Unfit::NotJson { problem, way, .. } => {
                let steps = way.iter().rev().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1")));
                let place: String = steps.collect();
                let shown: String = place.chars().take(MAX_PLACE_CHARACTERS).collect();
                let more = if shown.len() < place.len() { "…" } else { "" };
                write!(formatter, "`{}{more}`: {problem}", turnlatch::display_text(&shown))
            }
        }
    }
}

fn value_at(object: &Bound<'_, PyAny>, depth: usize) -> Result<Value, Unfit> {
    if depth > MAX_DEPTH {
        return Err(Unfit::value(format!("the data is nested deeper than {MAX_DEPTH}")));
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    // A bool is an int to Python, so it is asked for first.
    if let Ok(boolean) = object.cast::<PyBool>() {
        return Ok(Value::Bool(boolean.is_true()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        let text = text.to_str().map_err(|_| Unfit::value("a text has half of a surrogate pair"))?;
        return Ok(Value::String(text.to_owned()));
    }
    if object.cast::<PyInt>().is_ok() {
        let number = object.extract::<i64>().map(Number::from).or_else(|_| object.extract::<u64>().map(Number::from));
        return number.map(Value::Number).map_err(|_| Unfit::value("an integer does not fit into 64 bits"));
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        let number = Number::from_f64(number.value());
        return number.map(Value::Number).ok_or_else(|| Unfit::value("a number is not finite"));
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
    Err(Unfit::foreign(format!("expected JSON data, found `{}`", object.get_type().name()?)))
}

fn items<'p>(items: impl Iterator<Item = Bound<'p, PyAny>>, depth: usize) -> Result<Value, Unfit> {
    let values = items.enumerate().map(|(index, item)| value_at(&item, depth + 1).map_err(|unfit| unfit.inside(index)));
    values.collect::<Result<_, _>>().map(Value::Array)
}

fn members(pairs: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)>, depth: usize) -> Result<Value, Unfit> {
    let mut object = Map::new();
    for (key, value) in pairs {
        let key = key.cast::<PyString>().map_err(|_| Unfit::foreign("the keys of JSON data are strings"))?;
        let name = key.to_str().map_err(|_| Unfit::value("a key has half of a surrogate pair"))?;
        let value = value_at(&value, depth + 1).map_err(|unfit| unfit.inside(name))?;
        object.insert(name.to_owned(), value);
    }
    Ok(Value::Object(object))
}

/// A text that Python handed over. Python's strings may hold halves of surrogate pairs; nothing else does.
pub(crate) fn text_of<'t>(text: &'t Bound<'_, PyString>) -> PyResult<std::borrow::Cow<'t, str>> {
    text.to_cow().map_err(|_| malformed(text.py(), "a text has half of a surrogate pair"))
}

/// Data of the core as plain Python data. By a `serde_json::Value`: no release of `pythonize` fits our `PyO3`.
pub(crate) fn to_python(py: Python<'_>, data: &impl Serialize) -> PyResult<Py<PyAny>> {
    let value = serde_json::to_value(data).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(python_of(py, &value)?.unbind())
}

/// Data of the core as JSON text.
pub(crate) fn to_json(data: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(data).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn python_of<'p>(py: Python<'p>, value: &Value) -> PyResult<Bound<'p, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(boolean) => boolean.into_bound_py_any(py),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => integer.into_bound_py_any(py),
            (None, Some(integer)) => integer.into_bound_py_any(py),
            (None, None) => number.as_f64().into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| python_of(py, item)).collect::<PyResult<_>>()?;
            items.into_bound_py_any(py)
        }
        Value::Object(members) => {
            let dict = PyDict::new(py);
            for (key, member) in members {
                dict.set_item(key, python_of(py, member)?)?;
            }
            Ok(dict.into_any())
        }
    }
}
