//! The JSON objects, marker lines and YAML blocks of one message, found in one pass and not parsed yet.

use std::collections::BTreeMap;
use std::ops::Range;

use memchr::memmem;

use super::Source;
use super::markdown::{Segment, segments};
use super::place::{is_last_word, is_plain_indent, is_unquoted, stands_alone};
use super::stray_brackets::{Before, StrayBrackets, closed_by};
use crate::json::{self, Container, JsonError, Member, Scanner, Shape};
use crate::turn::question;
use crate::types::event::DONE_MARKER;

/// What stands in one message of the assistant.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// The top-level objects, without lone markers, by where they were found.
    objects: BTreeMap<Source, Recent<FoundObject>>,
    /// The blocks that hold a question in YAML.
    pub(super) yaml_blocks: Recent<Range<usize>>,
    /// The markers that count by their place, whatever the output is: in objects, and lines of the bare word.
    pub(super) markers: Markers,
    /// How many questions are broken beyond reading.
    pub(super) broken_questions: usize,
    /// Whether the marker is named at all, in whatever place and form.
    pub(super) names_marker: bool,
    /// Whether the message breaks off in an object that says that the work is done.
    pub(super) breaks_off_done: bool,
    /// Why something that looked like an output is none.
    pub(super) fault: Option<JsonError>,
    /// Bytes looked at: the measure of work.
    pub(super) steps: u64,
}

impl Contents {
    /// The objects, in the order of looking.
    pub(super) fn objects(&self) -> impl Iterator<Item = &FoundObject> {
        self.objects.values().flat_map(Recent::iter)
    }
}

/// The last few of many: a flood of small objects costs no more than reading over it.
#[derive(Debug)]
pub(super) struct Recent<T> {
    kept: Vec<T>,
    dropped: usize,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Recent { kept: Vec::new(), dropped: 0 }
    }
}

impl<T> Recent<T> {
    fn push(&mut self, item: T) {
        if self.kept.len() == MAX_CANDIDATES {
            // There are few, so moving them up is quicker than it looks, and takes less code than a ring.
            self.kept.remove(0);
            self.dropped += 1;
        }
        self.kept.push(item);
    }

    /// How many there were, dropped ones included.
    fn count(&self) -> usize {
        self.dropped + self.kept.len()
    }

    /// Forgets what came after the first `count`.
    fn rewind(&mut self, count: usize) {
        self.kept.truncate(count.saturating_sub(self.dropped));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.kept.iter()
    }
}

/// How often the agent says that the work is done, or that it is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Markers {
    pub(super) done: usize,
    pub(super) declined: usize,
}

impl Markers {
    /// Counts a marker by the JSON text of its value.
    pub(super) fn count(&mut self, value: Option<&str>) {
        match value {
            Some("true") => self.done += 1,
            Some("false") => self.declined += 1,
            _ => {}
        }
    }
}

/// A complete, strict JSON object in a message.
#[derive(Debug)]
pub(super) struct FoundObject {
    pub(super) source: Source,
    pub(super) span: Range<usize>,
    /// What stands at its top level; offsets count from the span's start.
    pub(super) shape: Shape,
    /// Whether its marker counts by its place, and has been counted.
    pub(super) is_counted: bool,
}

impl FoundObject {
    /// What the object says about completion: the text of the marker's value. With the key twice it says nothing.
    pub(super) fn marker<'t>(&self, text: &'t str) -> Option<&'t str> {
        let value = single_marker(&self.shape.known)?.value.clone();
        text.get(self.span.start + value.start..self.span.start + value.end)
    }

    /// Whether the marker's key stands at its top level.
    fn names_marker(&self) -> bool {
        self.shape.member(DONE_MARKER).is_some()
    }

    /// An object with the marker and nothing else.
    fn is_lone_marker(&self) -> bool {
        self.shape.members == 1 && self.names_marker()
    }

    /// Whether it may be a question, by its keys.
    pub(super) fn may_ask(&self) -> bool {
        let members = self.shape.members - usize::from(self.names_marker());
        question::may_ask(members, |key| self.shape.member(key).is_some())
    }

    /// The object's text without the marker: what the result is made of (MARK-3). A marker that stands twice is a fault.
    pub(super) fn text_without_marker(&self, text: &str) -> Result<String, JsonError> {
        let whole = text.get(self.span.clone()).unwrap_or_default();
        match single_marker(&self.shape.known) {
            Some(member) => {
                let before = whole.get(..member.key).unwrap_or_default();
                let after = whole.get(member.value.end..).unwrap_or_default();
                // A comma goes with it: the one behind it, or else the one before.
                Ok(match after.trim_start_matches(json::SPACE).strip_prefix(',') {
                    Some(next) => [before, next.trim_start_matches(json::SPACE)].concat(),
                    None => [before.trim_end_matches(json::SPACE).strip_suffix(',').unwrap_or(before), after].concat(),
                })
            }
            None if self.names_marker() => Err(JsonError::DuplicateKey),
            None => Ok(whole.to_owned()),
        }
    }
}

/// Finds everything in one message.
pub(super) fn find(text: &str, max_depth: usize) -> Contents {
    let mut finder = Finder { text, max_depth, contents: Contents::default() };
    finder.contents.steps = text.len() as u64;
    finder.contents.names_marker = memmem::find(text.as_bytes(), DONE_MARKER.as_bytes()).is_some();
    // The first step of OUT-2. If the whole text is one object, nothing in its strings is looked at.
    if !finder.whole_object(0..text.len(), Source::WholeText) {
        finder.parts();
    }
    finder.contents
}

struct Finder<'t> {
    text: &'t str,
    max_depth: usize,
    contents: Contents,
}

impl Finder<'_> {
    fn parts(&mut self) {
        self.contents.steps += self.text.len() as u64;
        segments(self.text, &mut |segment| match segment {
            Segment::Prose(range) => self.prose(range),
            Segment::Fence { tag, content } => self.fence(tag, content),
            Segment::Yaml(content) => self.contents.yaml_blocks.push(content),
            Segment::UnclosedYaml => self.contents.broken_questions += 1,
        });
    }

    fn fence(&mut self, tag: Range<usize>, content: Range<usize>) {
        let tag = self.text.get(tag).unwrap_or_default();
        if tag.eq_ignore_ascii_case(YAML_FENCE_TAG) {
            self.contents.yaml_blocks.push(content);
            return;
        }
        let source = if tag.eq_ignore_ascii_case("json") { Source::JsonFence } else { Source::Fence };
        if !self.whole_object(content.clone(), source) && source == Source::JsonFence {
            // Nothing but an object was wanted here.
            self.contents.steps += content.len() as u64;
            self.note_fault(match json::parse_value(self.text.get(content).unwrap_or_default(), self.max_depth) {
                Ok(_) => JsonError::NotAnObject,
                Err(fault) => fault,
            });
        }
    }

    /// Takes a stretch of text that is one object and nothing else.
    fn whole_object(&mut self, range: Range<usize>, source: Source) -> bool {
        let part = self.text.get(range.clone()).unwrap_or_default();
        let trimmed = json::trim(part);
        if !trimmed.starts_with('{') {
            return false;
        }
        let start = range.start + memchr::memchr(b'{', part.as_bytes()).unwrap_or_default();
        let mut scanner = Scanner::new(trimmed, self.max_depth).wanting(&WANTED);
        let result = scanner.value(0);
        self.contents.steps += scanner.steps;
        match result {
            Ok(shape) if shape.end == trimmed.len() => {
                let object = FoundObject { source, span: start..start + trimmed.len(), shape, is_counted: false };
                // In a fence the marker counts only if this is the output.
                self.take(object, source == Source::WholeText);
                true
            }
            Ok(_) => false,
            Err(broken) => {
                // What is wrong with the whole text is found again, and reported, when it is read as prose.
                if source != Source::WholeText {
                    self.note_broken(trimmed, broken.error);
                }
                false
            }
        }
    }

    fn prose(&mut self, range: Range<usize>) {
        let start = range.start;
        let prose = self.text.get(range).unwrap_or_default();
        self.prose_objects(prose, start);
        if self.contents.names_marker {
            self.marker_lines(prose);
        }
    }

    /// Keeps an object, unless it is nothing but the marker. In some places its marker counts, whatever the output is.
    fn take(&mut self, mut object: FoundObject, counts_by_place: bool) {
        self.contents.names_marker |= object.names_marker();
        if counts_by_place {
            self.contents.markers.count(object.marker(self.text));
            object.is_counted = true;
        }
        if !object.is_lone_marker() {
            self.objects(object.source).push(object);
        }
    }

    fn objects(&mut self, source: Source) -> &mut Recent<FoundObject> {
        self.contents.objects.entry(source).or_default()
    }

    /// The fourth step of OUT-2: objects in prose, each byte read once.
    ///
    /// A bracket that turns out not to be JSON is stray, and reading continues where it broke, so that an unclosed one
    /// hides nothing behind it. If stray is closed after all, then what was found inside was not top level.
    fn prose_objects(&mut self, prose: &str, offset: usize) {
        let mut scanner = Scanner::new(prose, self.max_depth).wanting(&WANTED);
        let mut stray = StrayBrackets::default();
        let (mut brackets, mut unclosed) = (0, None);
        let ends_message = self.text.len() == offset + prose.len();
        let mut at = 0;
        while let Some((start, bracket)) = stray.next_bracket(prose, at) {
            brackets += 1;
            if brackets == MANY_BRACKETS {
                unclosed = Some(Unclosed::of(prose));
                self.contents.steps += prose.len() as u64;
            }
            if unclosed.as_ref().is_some_and(|unclosed| unclosed.tells_nothing(start, self.contents.fault)) {
                break;
            }
            if let Some(closed) = closed_by(bracket) {
                if let Some(before) = stray.close(closed) {
                    self.objects(Source::Prose).rewind(before.objects);
                    self.contents.markers = before.markers;
                }
                at = start + 1;
                continue;
            }
            if bracket == b'{' {
                match inside_brace(prose, start + 1) {
                    Inside::Nothing => {
                        at = start + 2;
                        continue;
                    }
                    Inside::Words { at: words } => {
                        stray.open(&[Container::Object], self.before());
                        self.contents.steps += (words - start) as u64;
                        at = words;
                        continue;
                    }
                    Inside::Json => {}
                }
            }
            match scanner.value(start) {
                Ok(shape) => {
                    at = shape.end;
                    // `{}` in prose is a placeholder, and what stands in an array is not top level.
                    if bracket == b'{' && shape.members > 0 {
                        let span = offset + start..offset + at;
                        let shape = relative_to(shape, start);
                        let object = FoundObject { source: Source::Prose, span, shape, is_counted: false };
                        let alone = object.names_marker() && stands_alone(prose, start..at, ends_message);
                        self.take(object, alone);
                    }
                }
                Err(broken) => {
                    at = broken.at;
                    if bracket == b'{' {
                        self.note_broken(prose.get(start..).unwrap_or_default(), broken.error);
                    }
                    if bracket == b'{' && ends_message && stray.is_empty() {
                        self.note_unfinished(prose, start..broken.at, scanner.members_before_break());
                    }
                    stray.open(scanner.still_open(), self.before());
                }
            }
        }
        self.contents.steps += scanner.steps + prose.len() as u64;
    }

    /// What there is before a bracket that is stray.
    fn before(&mut self) -> Before {
        Before { objects: self.objects(Source::Prose).count(), markers: self.contents.markers }
    }

    fn marker_lines(&mut self, prose: &str) {
        let alone = |line: &str| {
            let unindented = line.trim_start_matches([' ', '\t']);
            let indent = line.get(..line.len() - unindented.len()).unwrap_or_default();
            is_plain_indent(indent) && unindented.trim_end_matches([' ', '\t', '\r', '\n']) == DONE_MARKER
        };
        self.contents.markers.done += prose.split_inclusive('\n').filter(|line| alone(line)).count();
        self.contents.steps += prose.len() as u64;
    }

    /// A broken `{` whose first character inside could begin a key was meant as JSON; `{name}` was not.
    fn note_broken(&mut self, from_brace: &str, fault: JsonError) {
        let inside = from_brace.get(1..).unwrap_or_default().trim_start();
        if fault != JsonError::Syntax || matches!(inside.bytes().next(), Some(b'"' | b'\'')) {
            self.note_fault(fault);
        }
        if inside.starts_with(BROKEN_QUESTION) {
            self.contents.broken_questions += 1;
        }
    }

    /// Looks whether the message breaks off in this object, after it said that the work is done (MARK-6).
    fn note_unfinished(&mut self, prose: &str, Range { start, end: broken }: Range<usize>, members: &[Member]) {
        let Some(value) = single_marker(members).map(|marker| marker.value.clone()) else { return };
        let is_whole = matches!(prose.as_bytes().get(value.end), None | Some(b',' | b' ' | b'\t' | b'\n' | b'\r'));
        let says_done = is_whole && prose.get(value) == Some("true");
        // Of all brackets only the last can have nothing behind it, so what stands before is looked at once.
        if says_done && is_last_word(prose.get(broken..).unwrap_or_default()) {
            self.contents.steps += start as u64;
            self.contents.names_marker = true;
            self.contents.breaks_off_done = is_unquoted(prose.get(..start).unwrap_or_default());
        }
    }

    /// The first fault is the one that is reported.
    fn note_fault(&mut self, fault: JsonError) {
        self.contents.fault.get_or_insert(fault);
    }
}

/// What stands behind the last closing bracket: no object ends there, and nothing that was found is undone. All that can be
/// learnt is what was meant as JSON, so that a flood of brackets is not read one by one.
struct Unclosed {
    start: usize,
    /// Without a quotation mark there is no key.
    has_quotes: bool,
    /// Broken questions are counted; of everything else the first fault is reported.
    names_question: bool,
    /// The message may break off in an object that has the marker, by its name or with escapes in it.
    may_name_marker: bool,
}

impl Unclosed {
    fn of(prose: &str) -> Unclosed {
        let start = memchr::memrchr2(b'}', b']', prose.as_bytes()).map_or(0, |last| last + 1);
        let rest = prose.get(start..).unwrap_or_default();
        let has_quotes = memchr::memchr2(b'"', b'\'', rest.as_bytes()).is_some();
        let names = |sign: &str| memmem::find(rest.as_bytes(), sign.as_bytes()).is_some();
        let names_question = has_quotes && names(BROKEN_QUESTION);
        let may_name_marker = names(DONE_MARKER) || memchr::memchr(b'\\', rest.as_bytes()).is_some();
        Unclosed { start, has_quotes, names_question, may_name_marker }
    }

    fn tells_nothing(&self, at: usize, fault: Option<JsonError>) -> bool {
        let may_tell = fault.is_none() || self.names_question || self.may_name_marker;
        at >= self.start && !(self.has_quotes && may_tell)
    }
}

/// The marker among these members of one object, unless it stands there twice.
fn single_marker(members: &[Member]) -> Option<&Member> {
    let mut markers = members.iter().filter(|member| member.name == DONE_MARKER);
    markers.next().filter(|_| markers.next().is_none())
}

/// What a brace begins; code and templates are full of those that are no JSON.
enum Inside {
    /// `{}`, a placeholder that is closed at once. Nothing comes of it, so it is not read.
    Nothing,
    /// As in `{name}`, which cannot be an object and was not meant to.
    Words { at: usize },
    /// A key, an end, or what has to be looked at more closely to see what was meant.
    Json,
}

fn inside_brace(prose: &str, inside: usize) -> Inside {
    let rest = prose.as_bytes().get(inside..).unwrap_or_default();
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
    match rest.get(blanks) {
        Some(b'}') if blanks == 0 => Inside::Nothing,
        None | Some(b'"' | b'\'' | b'}' | ..=b' ' | 0x7f..) => Inside::Json,
        Some(_) => Inside::Words { at: inside + blanks },
    }
}

fn relative_to(mut shape: Shape, start: usize) -> Shape {
    shape.end -= start;
    for member in &mut shape.known {
        member.value = member.value.start - start..member.value.end - start;
        member.key -= start;
    }
    shape
}

/// How many candidates of a step, and how many YAML blocks, are looked at (OUT-10).
const MAX_CANDIDATES: usize = 16;
/// The top-level keys that mean something here.
const WANTED: [&str; 11] = {
    let [a, b, c, d, e, f, g, h, i, j] = question::ASK_KEYS;
    [DONE_MARKER, a, b, c, d, e, f, g, h, i, j]
};
/// Fewer are read sooner than a long text is searched for the last one.
const MANY_BRACKETS: usize = 64;
const YAML_FENCE_TAG: &str = "ask_user_yaml";
/// What a question that cannot be read begins with, behind its brace.
const BROKEN_QUESTION: &str = "\"ask_user\"";

#[cfg(test)]
mod tests;
