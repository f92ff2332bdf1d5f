//! Evidence: what a turn's output shows. Done marker, output, question; found, not judged.
//!
//! Only the assistant's own words are read, once, and nothing is decided by searching a substring.

mod markdown;
mod objects;
mod place;
mod stray_brackets;

use crate::admission::plan::Plan;
use crate::json::json_text;
use crate::json::{self, Document, JsonError, Map, Value};
use crate::schema::Check;
use crate::text;
use crate::turn::question::{self, AskForm};
use crate::types::codes::{Code, Note};
use crate::types::decision::{Evidence, Marker, OutputState, Source, Violation};
use crate::types::event::{DONE_MARKER, TurnReport};
use crate::types::limits;
use objects::{Contents, FoundObject, Markers};

/// The evidence of a turn, and the parts of it that the run continues with.
#[derive(Debug, Default)]
pub(crate) struct Found<'r> {
    pub(crate) evidence: Evidence,
    /// Whether the output is an object; a host may hand over anything.
    pub(crate) has_output_object: bool,
    /// The output's JSON text without the marker.
    pub(crate) data_text: Option<String>,
    /// The fields of the question the turn carries.
    pub(crate) question: Option<Map>,
    /// The end of the assistant's last words, for a question without structure.
    pub(crate) last_words: &'r str,
    /// How long they were before they were cut.
    pub(crate) last_words_bytes: u64,
    pub(crate) diagnostics: Vec<Note>,
    /// Bytes looked at: the measure of work.
    pub(crate) steps: u64,
}

/// Reads what a turn left behind.
pub(crate) fn read<'r>(plan: &'r Plan, report: &'r TurnReport) -> Found<'r> {
    let mut reader = Reader {
        plan,
        found: Found { diagnostics: report.diagnostics.clone(), ..Found::default() },
        output: None,
        fault: None,
        looks_left: MAX_LOOKS,
        markers: Markers::default(),
        mentioned: false,
        breaks_off_done: false,
        unreadable_questions: 0,
    };
    match (&report.output, &report.messages, &report.text) {
        (Some(Value::Null), _, _) | (None, None, None) => {}
        (Some(value), _, _) => reader.host_value(value),
        (None, Some(messages), _) => {
            let own_words = messages.iter().filter(|message| message.role == "assistant");
            reader.texts(&own_words.map(|message| message.text.as_str()).collect::<Vec<_>>(), 0);
        }
        (None, None, Some(text)) => {
            let size = report.text_bytes.unwrap_or_default();
            reader.texts(&[text], size.saturating_sub(text.len() as u64));
        }
    }
    reader.finish()
}

struct Reader<'r> {
    plan: &'r Plan,
    found: Found<'r>,
    output: Option<Output>,
    fault: Option<JsonError>,
    /// How many more candidates are looked at.
    looks_left: usize,
    /// Markers that count, and `false` in the same places.
    markers: Markers,
    mentioned: bool,
    /// The last message breaks off in an object that says that the work is done.
    breaks_off_done: bool,
    unreadable_questions: usize,
}

/// An output that could be read.
struct Output {
    source: Source,
    text: String,
    is_object: bool,
    check: Option<Check>,
}

impl Output {
    fn is_good(&self) -> bool {
        matches!(self.check, None | Some(Check::Valid))
    }
}

impl<'r> Reader<'r> {
    fn note(&mut self, code: Code, message: impl Into<String>) {
        self.found.diagnostics.push(Note::new(code, message));
    }

    /// A value that the host already has (OUT-1).
    fn host_value(&mut self, value: &Value) {
        if limits::depth(value) > self.plan.limits.json_depth {
            self.fault = Some(JsonError::TooDeep);
            return;
        }
        let size = json_text(value).len() as u64;
        self.found.steps += size;
        if size > self.plan.limits.turn_text_bytes as u64 {
            self.too_large(size);
            return;
        }
        let mut output = value.clone();
        if let Value::Object(members) = &mut output {
            let marker = members.shift_remove(DONE_MARKER);
            let form = question::form_of(members);
            self.markers.count(marker.as_ref().map(json_text).as_deref());
            self.mentioned |= marker.is_some();
            let asks = marker != Some(Value::Bool(true)) && self.takes_for_question(form, members);
            if asks {
                self.consider_question(Some(question::fields_of(members)));
            } else if marker != Some(Value::Bool(true)) {
                self.unreadable_questions += usize::from(form.is_none() && members.contains_key("ask_user"));
            }
            // The marker alone is not an output, and neither is a question.
            if asks || (marker.is_some() && members.is_empty()) {
                return;
            }
        }
        let is_object = output.is_object();
        match self.judged(json_text(&output), Source::Host) {
            Ok(judged) => self.output = Some(Output { is_object, ..judged }),
            Err(fault) => self.fault = Some(fault),
        }
    }

    /// What an output, or a question, says about being done, wherever it stands.
    fn count_marker(&mut self, object: &FoundObject, text: &str) {
        if !object.is_counted {
            self.markers.count(object.marker(text));
        }
    }

    /// The assistant's messages of the turn, in order. So many bytes before the first of them are not there.
    fn texts(&mut self, texts: &[&'r str], missing: u64) {
        let limits = &self.plan.limits;
        let last = texts.iter().rposition(|text| !text.trim().is_empty());
        let words = last.and_then(|last| texts.get(last)).copied().unwrap_or_default();
        let size = texts.iter().map(|text| text.len() as u64).sum::<u64>() + missing;
        if missing > 0 || size > limits.turn_text_bytes as u64 {
            // The end is cut off first, so that it is the same whether the rest is there or not (OUT-12).
            let end = text::tail(words, limits.prompt_bytes);
            self.found.last_words = end.trim();
            self.found.last_words_bytes = missing + (words.len() - end.len() + end.trim().len()) as u64;
            self.too_large(size);
            return;
        }
        self.found.last_words = text::tail(words.trim(), limits.prompt_bytes);
        self.found.last_words_bytes = words.trim().len() as u64;
        for (place, text) in texts.iter().enumerate().rev() {
            let contents = objects::find(text, limits.json_depth);
            self.breaks_off_done |= contents.breaks_off_done && last == Some(place);
            self.message(text, &contents);
        }
    }

    fn too_large(&mut self, size: u64) {
        let limit = self.plan.limits.turn_text_bytes;
        self.note(Code::OutputTooLarge, format!("the turn's text has {size} bytes, the limit is {limit}"));
    }

    /// One message; the later ones have been read before.
    fn message(&mut self, text: &str, contents: &Contents) {
        self.found.steps += contents.steps;
        self.markers.done += contents.markers.done;
        self.markers.declined += contents.markers.declined;
        self.unreadable_questions += contents.broken_questions;
        self.mentioned |= contents.names_marker;
        let mut questions = Vec::new();
        let mut candidates = Vec::new();
        for object in contents.objects() {
            match self.question_in(object, text) {
                Some(fields) => {
                    self.count_marker(object, text);
                    questions.push((object.span.start, Some(fields)));
                }
                None => candidates.push(object),
            }
        }
        let mut fault = contents.fault;
        if let Some((object, output)) = self.choose(&candidates, text, &mut fault) {
            self.count_marker(object, text);
            self.take_output(output);
        }
        self.fault = self.fault.or(fault);

        for block in contents.yaml_blocks.iter() {
            self.found.steps += block.len() as u64;
            questions.push((block.start, question::fields_of_yaml(text.get(block.clone()).unwrap_or_default())));
        }
        questions.sort_by_key(|(start, _)| *start);
        for (_, fields) in questions.into_iter().rev() {
            self.consider_question(fields);
        }
    }

    /// The fields of the question that an object is, if it is one and not an output.
    fn question_in(&mut self, object: &FoundObject, text: &str) -> Option<Map> {
        if object.marker(text) == Some("true") || !object.may_ask() {
            return None;
        }
        self.found.steps += object.span.len() as u64;
        let members = members(object, text);
        let form = members.as_ref().and_then(question::form_of);
        if form.is_none() && object.shape.member("ask_user").is_some() {
            self.unreadable_questions += 1;
        }
        members.filter(|members| self.takes_for_question(form, members)).map(|members| question::fields_of(&members))
    }

    fn takes_for_question(&mut self, form: Option<AskForm>, members: &Map) -> bool {
        match form {
            Some(AskForm::Envelope) => true,
            // In auto no user is asked, so an object that could be either is an output there.
            Some(AskForm::Bare) => self.plan.is_interactive(),
            Some(AskForm::PromptAlone) => self.plan.is_interactive() && !self.may_be_valid(members),
            None => false,
        }
    }

    /// Whether an object without its marker fits the schema; also if it is one too many to be looked at (OUT-10).
    fn may_be_valid(&mut self, members: &Map) -> bool {
        if self.plan.output_schema.is_none() || self.looks_left == 0 {
            return self.plan.output_schema.is_some();
        }
        let text = json_text(members);
        self.found.steps += text.len() as u64;
        self.look_at(text, Source::Prose).is_ok_and(|output| output.is_good())
    }

    /// The last question with a prompt counts, else the last that has any field to offer.
    fn consider_question(&mut self, earlier: Option<Map>) {
        let Some(fields) = earlier else {
            self.unreadable_questions += 1;
            return;
        };
        let asks = |fields: &Map| question::prompt_of(fields).is_some();
        self.unreadable_questions += usize::from(!asks(&fields));
        if self.found.question.as_ref().is_none_or(|later| !asks(later) && asks(&fields)) {
            self.found.question = Some(fields);
        }
    }

    /// The first step with a candidate that can be read; in it the last that fits the schema, else the last.
    fn choose<'o>(
        &mut self,
        candidates: &[&'o FoundObject],
        text: &str,
        fault: &mut Option<JsonError>,
    ) -> Option<(&'o FoundObject, Output)> {
        for source in [Source::WholeText, Source::JsonFence, Source::Fence, Source::Prose] {
            let mut fallback = None;
            for object in candidates.iter().rev().filter(|object| object.source == source) {
                // A flood of messages is like a flood of objects: what is further back is only read over.
                if self.looks_left == 0 {
                    return fallback;
                }
                self.found.steps += object.span.len() as u64;
                match object.text_without_marker(text).and_then(|text| self.look_at(text, source)) {
                    Ok(output) => {
                        if output.is_good() {
                            return Some((object, output));
                        }
                        fallback.get_or_insert((*object, output));
                    }
                    Err(found) => *fault = fault.or(Some(found)),
                }
            }
            if fallback.is_some() {
                return fallback;
            }
        }
        None
    }

    /// One of the candidates of a turn as an output. Behind one that takes too much work no other is looked at.
    fn look_at(&mut self, text: String, source: Source) -> Result<Output, JsonError> {
        self.looks_left -= 1;
        let judged = self.judged(text, source);
        if judged.as_ref().is_ok_and(|output| output.check == Some(Check::TooMuchWork)) {
            self.looks_left = 0;
        }
        judged
    }

    /// An object as an output, unless a key stands twice in it.
    fn judged(&self, text: String, source: Source) -> Result<Output, JsonError> {
        let document = Document::read_scanned(&text)?;
        let check = self.plan.output_schema.as_ref().map(|schema| schema.check_document(&document));
        Ok(Output { source, text, is_object: true, check })
    }

    /// Of several messages, the last whose output fits the schema, else the last that has one.
    fn take_output(&mut self, earlier: Output) {
        let better = |later: &Output| !later.is_good() && earlier.is_good();
        if self.output.as_ref().is_none_or(better) {
            self.output = Some(earlier);
        }
    }

    /// MARK-6: a done marker in an object that breaks off counts only where nothing in the turn says otherwise.
    fn is_done_unfinished(&self) -> bool {
        let has_valid_output = self.output.as_ref().is_some_and(Output::is_good);
        let asks = self.found.question.is_some() || self.unreadable_questions > 0;
        let says_more = has_valid_output || asks || self.markers != Markers::default();
        self.breaks_off_done && !says_more && self.plan.output_schema.is_some()
    }

    fn finish(mut self) -> Found<'r> {
        self.markers.done += usize::from(self.is_done_unfinished());
        let marker = match self.markers {
            Markers { done: 1.., .. } => Marker::Found,
            Markers { done: 0, declined: 1.. } => Marker::Declined,
            Markers { done: 0, declined: 0 } => Marker::Absent,
        };
        if self.markers.done > 1 {
            let count = self.markers.done;
            self.note(Code::MultipleDoneMarkersIgnored, format!("the turn has {count} done markers; the first counts"));
        }
        if marker == Marker::Absent && self.mentioned {
            self.note(Code::DoneMarkerMentioned, "the marker is mentioned, but not in a place or form that counts");
        }
        if self.unreadable_questions > 0 && self.plan.is_interactive() {
            let count = self.unreadable_questions;
            self.note(Code::AskUserIgnored, format!("structured questions that could not be read: {count}"));
        }
        let (output, violations) = self.output_state();
        if output == OutputState::Unparsable
            && let Some(fault) = self.fault
            && let Some(code) = fault.code()
        {
            self.note(code, format!("the output cannot be taken: {fault}"));
        }
        let source = self.output.as_ref().map(|output| output.source);
        let asks = self.found.question.as_ref().is_some_and(|fields| question::prompt_of(fields).is_some());
        self.found.evidence = Evidence { marker, output, source, asks, violations };
        self.found.has_output_object = self.output.as_ref().is_some_and(|output| output.is_object);
        self.found.data_text = self.output.map(|output| output.text);
        self.found
    }

    fn output_state(&mut self) -> (OutputState, Vec<Violation>) {
        let state = match self.output.as_mut().map(|output| output.check.take()) {
            None if self.fault.is_some() => OutputState::Unparsable,
            None => OutputState::Missing,
            Some(None) => OutputState::Unchecked,
            Some(Some(Check::Valid)) => OutputState::Valid,
            Some(Some(Check::Invalid(violations))) => return (OutputState::Invalid, violations),
            Some(Some(Check::NoValidator)) => {
                self.note(Code::ValidatorMissing, "there is no validator to check the output with");
                OutputState::Invalid
            }
            Some(Some(Check::TooMuchWork)) => {
                self.note(Code::ValidationLimitExceeded, "checking the output would take too much work");
                OutputState::Invalid
            }
        };
        (state, Vec::new())
    }
}

/// How many candidates of a turn are parsed and checked (OUT-10).
const MAX_LOOKS: usize = 64;

/// The members of an object that stands in a text, without the marker, unless a key stands twice.
fn members(object: &FoundObject, text: &str) -> Option<Map> {
    match json::build(text.get(object.span.clone())?) {
        Ok(Value::Object(mut members)) => {
            members.shift_remove(DONE_MARKER);
            Some(members)
        }
        _ => None,
    }
}
