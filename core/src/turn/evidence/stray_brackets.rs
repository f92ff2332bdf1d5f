//! Brackets in prose that turned out not to be JSON: what stands inside them, if they are closed after all, is not top level.

use super::objects::Markers;
use crate::json::Container;

/// What had been found before a bracket that turned out to be stray.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Before {
    pub(super) objects: usize,
    pub(super) markers: Markers,
}

/// Debris that has not been closed yet, the innermost last; equal neighbours are counted, not repeated.
#[derive(Default)]
pub(super) struct StrayBrackets {
    open: Vec<(Container, Before, usize)>,
    objects: usize,
    arrays: usize,
}

impl StrayBrackets {
    /// Adds what was open where a value broke, the outermost first.
    pub(super) fn open(&mut self, containers: &[Container], before: Before) {
        for container in containers {
            *self.count(*container) += 1;
            match self.open.last_mut() {
                Some((kind, known, times)) if kind == container && *known == before => *times += 1,
                _ => self.open.push((*container, before, 1)),
            }
        }
    }

    /// Whether nothing is open.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Closes the last bracket of this kind, and whatever was left open inside it.
    pub(super) fn close(&mut self, kind: Container) -> Option<Before> {
        if *self.count(kind) == 0 {
            return None;
        }
        while let Some((container, before, times)) = self.open.pop() {
            if container == kind {
                *self.count(kind) -= 1;
                if times > 1 {
                    self.open.push((container, before, times - 1));
                }
                return Some(before);
            }
            *self.count(container) -= times;
        }
        None
    }

    /// The next bracket that means something: `]` does only while an array is open.
    pub(super) fn next_bracket(&self, prose: &str, at: usize) -> Option<(usize, u8)> {
        let rest = prose.as_bytes().get(at..)?;
        // In a flood of brackets a search would cost more than it finds.
        if let Some(bracket @ (b'{' | b'}' | b'[')) = rest.first() {
            return Some((at, *bracket));
        }
        let offset = if self.arrays == 0 { memchr::memchr3(b'{', b'}', b'[', rest) } else { any_bracket(rest) }?;
        rest.get(offset).map(|bracket| (at + offset, *bracket))
    }

    fn count(&mut self, kind: Container) -> &mut usize {
        match kind {
            Container::Object => &mut self.objects,
            Container::Array => &mut self.arrays,
        }
    }
}

/// The first of all four brackets. Blocks without one are passed over, which a compiler can do many bytes at a time.
#[inline(never)]
fn any_bracket(bytes: &[u8]) -> Option<usize> {
    let has_bracket = |block: &[u8; BLOCK]| block.iter().fold(false, |found, byte| found | is_bracket(*byte));
    let clear = bytes.as_chunks().0.iter().take_while(|block| !has_bracket(block)).count() * BLOCK;
    let offset = bytes.get(clear..)?.iter().position(|byte| is_bracket(*byte))?;
    Some(clear + offset)
}

/// Braces are brackets with one bit more.
fn is_bracket(byte: u8) -> bool {
    matches!(byte & !0x20, b'[' | b']')
}

const BLOCK: usize = 32;

/// What a closing bracket closes.
pub(super) fn closed_by(bracket: u8) -> Option<Container> {
    match bracket {
        b'}' => Some(Container::Object),
        b']' => Some(Container::Array),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
