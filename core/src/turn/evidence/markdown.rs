//! The layout of a message: which lines are prose and which stand inside a code fence, as Markdown sees it.

use std::ops::Range;

/// A stretch of a message, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    /// Lines outside of every block.
    Prose(Range<usize>),
    /// A fenced block; one that is never closed runs to the end of the message.
    Fence {
        /// The first word behind the opening fence.
        tag: Range<usize>,
        /// The lines between the fences.
        content: Range<usize>,
    },
    /// What stands between the tags of a question in YAML.
    Yaml(Range<usize>),
    /// An opening tag of such a question that is never closed.
    UnclosedYaml,
}

/// Splits a message into prose and blocks, and hands them over in order.
pub(super) fn segments(text: &str, found: &mut dyn FnMut(Segment)) {
    let (mut prose_start, mut read_to) = (0, 0);
    let mut open: Option<OpenFence> = None;
    let mut yaml = YamlTags::new(text);
    while let Some(line) = next_line_with_sign(text, read_to, &yaml) {
        read_to = line.end;
        let words = text.get(line.clone()).unwrap_or_default();
        if let Some(tag) = yaml_tag(words).filter(|_| open.is_none()) {
            let tag = line.start + tag;
            match yaml.close_after(tag) {
                Some(close) => {
                    push_prose(found, prose_start..tag);
                    found(Segment::Yaml(tag + YAML_OPEN.len()..close));
                    prose_start = close + YAML_CLOSE.len();
                    // The rest of that line is prose, whatever stands in it.
                    read_to = end_of_line(text, prose_start);
                }
                None if !yaml.is_reported => {
                    yaml.is_reported = true;
                    found(Segment::UnclosedYaml);
                }
                None => {}
            }
            continue;
        }
        let Some(fence) = fence_line(words) else { continue };
        match &open {
            None if fence.opens => {
                push_prose(found, prose_start..line.start);
                let info = line.start + fence.info_start..line.end;
                let tag = if fence.bare { info.start..info.start } else { first_word(text, info) };
                open = Some(OpenFence { fence, tag, content: line.end });
            }
            Some(opened) if fence.closes(&opened.fence) => {
                let OpenFence { tag, content, .. } = opened.clone();
                found(Segment::Fence { tag, content: content..line.start });
                prose_start = line.end;
                open = None;
            }
            // A shorter fence, another character or a line with an info string is content of the open block.
            None | Some(_) => {}
        }
    }
    match open {
        Some(OpenFence { tag, content, .. }) => found(Segment::Fence { tag, content: content..text.len() }),
        None => push_prose(found, prose_start..text.len()),
    }
}

/// The next line with a sign by which blocks begin or end. Most messages have none, and one fast search says so.
fn next_line_with_sign(text: &str, from: usize, yaml: &YamlTags<'_>) -> Option<Range<usize>> {
    let rest = text.as_bytes().get(from..)?;
    let is_sign = |at: &usize| {
        let here = rest.get(*at..).unwrap_or_default();
        here.starts_with(b"```") || here.starts_with(b"~~~") || starts_with_tag(here, YAML_OPEN)
    };
    // In a flood of fences a search would cost more than it finds. Tags that are never closed mean nothing once one of
    // them has been reported.
    let sign = if rest.starts_with(b"```") {
        Some(0)
    } else if yaml.is_reported {
        memchr::memchr2_iter(b'`', b'~', rest).find(is_sign)
    } else {
        memchr::memchr3_iter(b'`', b'~', b'<', rest).find(is_sign)
    }?;
    let start = memchr::memrchr(b'\n', rest.get(..sign)?).map_or(0, |end| end + 1);
    Some(from + start..end_of_line(text, from + sign))
}

/// Where the line ends, with its line break, that this place is in.
fn end_of_line(text: &str, from: usize) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(text.len(), |end| from + end + 1)
}

/// Where a line opens a question in YAML. Behind a quotation mark the tag could stand in a JSON string.
fn yaml_tag(line: &str) -> Option<usize> {
    // In a flood of short lines a search would cost more than it finds.
    if line.len() < YAML_OPEN.len() {
        return None;
    }
    tags(line, YAML_OPEN, 0).last().filter(|tag| line.get(..*tag).is_some_and(|before| !before.contains('"')))
}

/// Where a tag stands, in letters of any case; found by a byte of it that is no letter.
fn tags(text: &str, tag: &str, rare: usize) -> impl Iterator<Item = usize> {
    let text = text.as_bytes();
    let byte = tag.as_bytes().get(rare).copied().unwrap_or_default();
    let starts = memchr::memchr_iter(byte, text).filter_map(move |at| at.checked_sub(rare));
    starts.filter(move |at| text.get(*at..).is_some_and(|rest| starts_with_tag(rest, tag)))
}

/// Whether a text begins with this tag, in letters of any case.
fn starts_with_tag(text: &[u8], tag: &str) -> bool {
    text.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag.as_bytes()))
}

/// Where the closing tags are; once there is none ahead, the search is not repeated.
struct YamlTags<'t> {
    text: &'t str,
    exhausted: bool,
    /// Whether a tag that is never closed has been reported.
    is_reported: bool,
}

impl<'t> YamlTags<'t> {
    fn new(text: &'t str) -> YamlTags<'t> {
        YamlTags { text, exhausted: false, is_reported: false }
    }

    fn close_after(&mut self, start: usize) -> Option<usize> {
        if self.exhausted {
            return None;
        }
        // By its slash: in a flood of opening tags there is none.
        let found = tags(self.text.get(start..)?, YAML_CLOSE, 1).next();
        self.exhausted = found.is_none();
        found.map(|offset| start + offset)
    }
}

#[derive(Clone, Debug)]
struct OpenFence {
    fence: FenceLine,
    tag: Range<usize>,
    content: usize,
}

/// A line that could open or close a block.
#[derive(Clone, Debug)]
struct FenceLine {
    character: u8,
    length: usize,
    info_start: usize,
    /// A fence of backticks cannot have a backtick in its info string: that is inline code.
    opens: bool,
    bare: bool,
}

impl FenceLine {
    fn closes(&self, opened: &FenceLine) -> bool {
        self.bare && self.character == opened.character && self.length >= opened.length
    }
}

fn fence_line(line: &str) -> Option<FenceLine> {
    let unindented = line.trim_start_matches(' ');
    let indent = line.len() - unindented.len();
    let character = *unindented.as_bytes().first()?;
    // Four spaces make an indented code block, in which fences are just text.
    if indent > 3 || !matches!(character, b'`' | b'~') {
        return None;
    }
    let length = unindented.bytes().take_while(|byte| *byte == character).count();
    let info = unindented.get(length..)?;
    let bare = info == "\n" || info.trim().is_empty();
    (length >= 3).then(|| FenceLine {
        character,
        length,
        info_start: indent + length,
        opens: bare || character == b'~' || !info.contains('`'),
        bare,
    })
}

fn first_word(text: &str, info: Range<usize>) -> Range<usize> {
    let rest = text.get(info.clone()).unwrap_or_default().trim_start();
    let start = info.end - rest.len();
    start..start + rest.split_whitespace().next().map_or(0, str::len)
}

fn push_prose(found: &mut dyn FnMut(Segment), range: Range<usize>) {
    if !range.is_empty() {
        found(Segment::Prose(range));
    }
}

const YAML_OPEN: &str = "<ASK_USER_YAML>";
const YAML_CLOSE: &str = "</ASK_USER_YAML>";

#[cfg(test)]
mod tests;
