//! Texts that are put into a file without changing what is between them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// A text that goes in, and the fault that it belongs to, if it is one's.
pub(crate) type Piece = (String, Option<u32>);

/// Where the text of a fault stands in the copy, and the expression that it was put into.
#[derive(Debug, PartialEq)]
pub(crate) struct Placed {
    pub(crate) id: u32,
    pub(crate) text: Range<usize>,
    pub(crate) whole: Range<usize>,
}

/// What is to be done with a file.
#[derive(Default)]
pub(crate) struct Edits(Vec<Edit>);

struct Edit {
    at: usize,
    removes: usize,
    order: Order,
    pieces: Vec<Piece>,
    /// The same for what goes before an expression and behind it.
    number: usize,
}

/// What comes first where several texts go in at one place: ends of inner expressions, then of outer ones, then what stands
/// alone, then beginnings of outer expressions, then of inner ones.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    Behind(Reverse<usize>, Reverse<usize>),
    Alone(usize),
    Before(Reverse<usize>, usize),
}

impl Edits {
    /// Puts texts before and behind an expression. Outer ones have to come first.
    pub(crate) fn wrap(&mut self, around: Range<usize>, before: Vec<Piece>, behind: &str) {
        let number = self.0.len();
        let order = Order::Before(Reverse(around.end), number);
        self.0.push(Edit { at: around.start, removes: 0, order, pieces: before, number });
        let order = Order::Behind(Reverse(around.start), Reverse(number));
        self.0.push(Edit { at: around.end, removes: 0, order, pieces: vec![(behind.to_owned(), None)], number });
    }

    /// Puts texts somewhere.
    pub(crate) fn insert(&mut self, at: usize, pieces: Vec<Piece>) {
        let number = self.0.len();
        self.0.push(Edit { at, removes: 0, order: Order::Alone(number), pieces, number });
    }

    /// Takes a text away.
    pub(crate) fn remove(&mut self, range: &Range<usize>) {
        let number = self.0.len();
        let removes = range.len();
        self.0.push(Edit { at: range.start, removes, order: Order::Alone(number), pieces: Vec::new(), number });
    }

    /// The text with everything done, and where the faults stand in it.
    pub(crate) fn apply(mut self, text: &str) -> (String, Vec<Placed>) {
        self.0.sort_by(|one, other| (one.at, &one.order).cmp(&(other.at, &other.order)));
        let mut written = String::new();
        let mut done = 0;
        let mut texts = Vec::new();
        let mut wholes: BTreeMap<usize, Range<usize>> = BTreeMap::new();
        for edit in self.0 {
            written.push_str(text.get(done..edit.at).unwrap_or_default());
            done = done.max(edit.at + edit.removes);
            let whole = wholes.entry(edit.number).or_insert(written.len()..written.len());
            for (piece, id) in edit.pieces {
                let start = written.len();
                written.push_str(&piece);
                texts.extend(id.map(|id| (id, start..written.len(), edit.number)));
            }
            whole.end = written.len();
        }
        written.push_str(text.get(done..).unwrap_or_default());
        let placed = texts.into_iter().map(|(id, text, number)| Placed {
            id,
            whole: wholes.get(&number).unwrap_or(&text).clone(),
            text,
        });
        (written, placed.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inside_stays_inside() {
        let mut edits = Edits::default();
        edits.wrap(0..5, vec![("(1 ".to_owned(), Some(1))], " 1)");
        edits.wrap(0..2, vec![("(2 ".to_owned(), Some(2))], " 2)");
        edits.wrap(3..5, vec![("(3 ".to_owned(), Some(3))], " 3)");
        edits.insert(5, vec![(";".to_owned(), None)]);
        edits.remove(&(6..8));
        let (text, placed) = edits.apply("!a+!b const");
        assert_eq!(text, "(1 (2 !a 2)+(3 !b 3) 1); nst");
        let whole: Vec<_> = placed.iter().map(|place| (place.id, text.get(place.whole.clone()).unwrap())).collect();
        assert_eq!(whole, [(1, "(1 (2 !a 2)+(3 !b 3) 1)"), (2, "(2 !a 2)"), (3, "(3 !b 3)")]);
    }
}
