//! Faults as cargo-mutants lists them.

use proc_macro2::LineColumn;
use serde::Deserialize;

/// One fault of the list.
#[derive(Debug, Deserialize)]
pub(crate) struct Fault {
    pub(crate) id: u32,
    pub(crate) file: String,
    pub(crate) genre: Genre,
    pub(crate) span: Place,
    pub(crate) replacement: String,
}

/// What kind of fault it is.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Genre {
    /// A function answers with a fixed value.
    FnValue,
    /// Another operator stands between two operands.
    BinaryOperator,
    /// An operator before an operand is missing.
    UnaryOperator,
    /// An arm of a match is missing.
    MatchArm,
    /// The guard of an arm is a fixed value.
    MatchArmGuard,
    /// A member of a struct is taken from its base.
    StructField,
}

/// From where to where the text is that the fault replaces.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    start: Position,
    end: Position,
}

/// Both count from 1, columns in characters.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    line: usize,
    column: usize,
}

impl Place {
    /// The place between two positions of the parser.
    pub(crate) fn between(start: LineColumn, end: LineColumn) -> Place {
        Place { start: start.into(), end: end.into() }
    }
}

impl From<LineColumn> for Position {
    fn from(position: LineColumn) -> Position {
        Position { line: position.line, column: position.column + 1 }
    }
}
