//! Python's data to JSON values and back. Hostile data gets an error, never a crash.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::errors::malformed;

/// Deeper than any event may be; far less than what the stack holds.
const MAX_DEPTH: usize = 256;

/// A JSON value of what Python handed over: dicts with string keys, lists, strings, numbers, booleans and None.
pub(crate) fn to_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    value_at(object, 0)
}

fn value_at(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    let py = object.py();
    if depth > MAX_DEPTH {
        return Err(malformed(py, format!("the data is nested deeper than {MAX_DEPTH}")));
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    // A bool is an int to Python, so it is asked for first.
    if let Ok(boolean) = object.cast::<PyBool>() {
        return Ok(Value::Bool(boolean.is_true()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        let text = text.to_str().map_err(|_| malformed(py, "a text has half of a surrogate pair"))?;
        return Ok(Value::String(text.to_owned()));
    }
    if object.cast::<PyInt>().is_ok() {
        let number = object.extract::<i64>().map(Number::from).or_else(|_| object.extract::<u64>().map(Number::from));
        return number.map(Value::Number).map_err(|_| malformed(py, "an integer does not fit into 64 bits"));
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        let number = Number::from_f64(number.value());
        return number.map(Value::Number).ok_or_else(|| malformed(py, "a number is not finite"));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        // A copy of the pairs: data of Python's own making could change the dict while it is read.
        return members(dict.items().extract::<Vec<_>>()?.into_iter(), depth);
    }
    if let Ok(list) = object.cast::<PyList>() {
        return list.iter().map(|item| value_at(&item, depth + 1)).collect::<PyResult<_>>().map(Value::Array);
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return tuple.iter().map(|item| value_at(&item, depth + 1)).collect::<PyResult<_>>().map(Value::Array);
    }
    if let Ok(mapping) = object.cast::<PyMapping>() {
        let pairs: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)> = mapping.items()?.extract()?;
        return members(pairs.into_iter(), depth);
    }
    let name = object.get_type().name()?.to_string();
    Err(PyTypeError::new_err(format!("expected JSON data, found {name}")))
}

fn members<'p>(pairs: impl Iterator<Item = (Bound<'p, PyAny>, Bound<'p, PyAny>)>, depth: usize) -> PyResult<Value> {
    let mut object = Map::new();
    for (key, value) in pairs {
        let key = key.cast::<PyString>().map_err(|_| PyTypeError::new_err("the keys of JSON data are strings"))?;
        let name = key.to_str().map_err(|_| malformed(key.py(), "a key has half of a surrogate pair"))?;
        object.insert(name.to_owned(), value_at(&value, depth + 1)?);
    }
    Ok(Value::Object(object))
}

/// A text that Python handed over. Python's strings may hold halves of surrogate pairs; nothing else does.
pub(crate) fn text_of<'t>(text: &'t Bound<'_, PyString>) -> PyResult<std::borrow::Cow<'t, str>> {
    text.to_cow().map_err(|_| malformed(text.py(), "a text has half of a surrogate pair"))
}

/// Any answer of the core as plain Python data.
pub(crate) fn to_python(py: Python<'_>, answer: &impl Serialize) -> PyResult<Py<PyAny>> {
    let value = serde_json::to_value(answer).map_err(|error| PyTypeError::new_err(error.to_string()))?;
    python_of(py, &value)
}

/// A JSON value as plain Python data.
fn python_of(py: Python<'_>, value: &Value) -> PyResult<Py<PyAny>> {
    Ok(match value {
        Value::Null => py.None(),
        Value::Bool(boolean) => PyBool::new(py, *boolean).to_owned().into_any().unbind(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => integer.into_pyobject(py)?.into_any().unbind(),
            (None, Some(integer)) => integer.into_pyobject(py)?.into_any().unbind(),
            (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any().unbind(),
        },
        Value::String(text) => PyString::new(py, text).into_any().unbind(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(python_of(py, item)?)?;
            }
            list.into_any().unbind()
        }
        Value::Object(members) => {
            let dict = PyDict::new(py);
            for (key, member) in members {
                dict.set_item(key, python_of(py, member)?)?;
            }
            dict.into_any().unbind()
        }
    })
}
