//! Small events read at once, without a tree of their members: nearly all that a run is told, and what it waits for.

use super::{Event, Reply, TurnReport};
use crate::json::Value;
/// A member of an event that is plain: see [`Event::from_plain`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainMember<'t> {
    /// A text.
    Text(&'t str),
    /// A whole number.
    Number(u64),
}

impl<'t> PlainMember<'t> {
    fn text(self) -> Option<&'t str> {
        match self {
            PlainMember::Text(text) => Some(text),
            PlainMember::Number(_) => None,
        }
    }

    fn number<N: TryFrom<u64>>(self) -> Option<N> {
        match self {
            PlainMember::Text(_) => None,
            PlainMember::Number(number) => N::try_from(number).ok(),
        }
    }
}

impl Event {
    /// Reads an event whose members are texts and whole numbers, without a tree of them: for bindings that find them so in
    /// their runtime's own data.
    ///
    /// None if it has another member, or if anything else is strange about it: then [`Event::from_value`] says what it is, or what is
    /// wrong with it.
    #[must_use]
    pub fn from_plain(members: &[(&str, PlainMember)]) -> Option<Event> {
        let members = Plain(members);
        let event = match members.of("type")?.text()? {
            "slot_granted" => {
                members.are_only(&["type", "slot_id"])?;
                Event::SlotGranted { slot_id: members.of("slot_id")?.text()?.to_owned() }
            }
            "turn_finished" => Event::TurnFinished(members.report()?),
            "reply" => Event::Reply(members.reply()?),
            "timer_fired" => {
                members.are_only(&["type", "interaction_id"])?;
                Event::TimerFired { interaction_id: members.of("interaction_id")?.number()? }
            }
            _ => return None,
        };
        event.check_form().ok().map(|()| event)
    }

    /// The same from JSON text, if it is written without escapes.
    pub(super) fn from_plain_json(text: &str) -> Option<Event> {
        let mut members = [("", PlainMember::Number(0)); MAX_MEMBERS];
        let mut places = members.iter_mut();
        let mut rest = text.strip_prefix('{')?;
        let mut count = 0;
        loop {
            let (name, behind) = string(rest)?;
            let (member, behind) = member(behind.strip_prefix(':')?)?;
            *places.next()? = (name, member);
            count += 1;
            match behind.strip_prefix(',') {
                Some(next) => rest = next,
                None if behind == "}" => return Event::from_plain(members.get(..count)?),
                None => return None,
            }
        }
    }
}

/// Members by their names. One that stands twice is one too many, and so is not plain.
struct Plain<'m, 't>(&'m [(&'t str, PlainMember<'t>)]);

impl<'t> Plain<'_, 't> {
    fn of(&self, name: &str) -> Option<PlainMember<'t>> {
        self.0.iter().find(|(found, _)| *found == name).map(|(_, member)| *member)
    }

    /// The text of a member that may be missing; the outer none is for what is no text.
    #[expect(clippy::option_option, reason = "a member of another kind is not a missing one")]
    fn text_if_given(&self, name: &str) -> Option<Option<String>> {
        self.of(name).map_or(Some(None), |member| member.text().map(|text| Some(text.to_owned())))
    }

    #[expect(clippy::option_option, reason = "a member of another kind is not a missing one")]
    fn number_if_given<N: TryFrom<u64>>(&self, name: &str) -> Option<Option<N>> {
        self.of(name).map_or(Some(None), |member| member.number().map(Some))
    }

    fn are_only(&self, names: &[&str]) -> Option<()> {
        let known = |name: &str| names.contains(&name);
        let twice = |(index, (name, _)): (usize, &(&str, PlainMember))| {
            self.0.iter().skip(index + 1).any(|(other, _)| other == name)
        };
        let fits = self.0.iter().all(|(name, _)| known(name)) && !self.0.iter().enumerate().any(twice);
        fits.then_some(())
    }

    fn report(&self) -> Option<TurnReport> {
        self.are_only(&["type", "attempt_number", "slot_id", "exit_code", "failure_reason", "text", "session_handle"])?;
        Some(TurnReport {
            slot_id: self.text_if_given("slot_id")?,
            exit_code: self.number_if_given("exit_code")?,
            failure_reason: self.text_if_given("failure_reason")?,
            text: self.text_if_given("text")?,
            session_handle: self.text_if_given("session_handle")?,
            ..TurnReport::of_attempt(self.of("attempt_number")?.number()?)
        })
    }

    fn reply(&self) -> Option<Reply> {
        self.are_only(&["type", "interaction_id", "response", "idempotency_key", "expected_revision"])?;
        Some(Reply {
            interaction_id: self.of("interaction_id")?.number()?,
            response: Value::String(self.of("response")?.text()?.to_owned()),
            idempotency_key: self.text_if_given("idempotency_key")?,
            expected_revision: self.number_if_given("expected_revision")?,
        })
    }
}

/// A value, and what stands behind it.
fn member(text: &str) -> Option<(PlainMember<'_>, &str)> {
    if text.starts_with('"') {
        return string(text).map(|(text, behind)| (PlainMember::Text(text), behind));
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, behind) = text.split_at_checked(digits)?;
    // No longer than what every number can hold exactly, and written as it is always written.
    let is_plain = digits == 1 || ((2..=15).contains(&digits) && !number.starts_with('0'));
    let number = if is_plain { number.parse().ok()? } else { return None };
    Some((PlainMember::Number(number), behind))
}

fn string(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('"')?;
    let end = crate::json::end_of_plain(inside.as_bytes(), 0);
    let (string, behind) = inside.split_at_checked(end)?;
    Some((string, behind.strip_prefix('"')?))
}

/// More than any plain event has.
const MAX_MEMBERS: usize = 8;

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn check(text: &str, is_plain: bool) {
        let found = Event::from_plain_json(text);
        assert_eq!(found.is_some(), is_plain, "{text}");
        if let Some(event) = found {
            assert_eq!(Ok(event), parse(text).and_then(Event::from_value), "{text}");
        }
    }

    #[test]
    fn a_plain_event_is_what_it_is_when_it_is_read_member_by_member() {
        check(r#"{"type":"slot_granted","slot_id":"r1/s1"}"#, true);
        check(r#"{"slot_id":"","type":"slot_granted"}"#, true);
        check(r#"{"type":"turn_finished","attempt_number":1}"#, true);
        check(r#"{"type":"turn_finished","attempt_number":4294967295,"text":"é 中","exit_code":0}"#, true);
        let all = r#""failure_reason":"TIMEOUT","session_handle":"s","slot_id":"r1/s1","exit_code":999999999999999"#;
        check(&format!(r#"{{"type":"turn_finished","attempt_number":0,"text":"",{all}}}"#), true);
        check(r#"{"type":"reply","interaction_id":1,"response":"yes"}"#, true);
        check(
            r#"{"type":"reply","interaction_id":12,"response":"","idempotency_key":"k","expected_revision":3}"#,
            true,
        );
        check(r#"{"type":"timer_fired","interaction_id":10}"#, true);
    }

    #[test]
    fn whatever_is_strange_is_left_to_the_general_way() {
        for text in [
            "",
            "{}",
            "null",
            r#"{"type":"created"}"#,
            r#"{"type":"turn_decided","attempt_number":1}"#,
            r#"{"type":"cancel"}"#,
            r#"{"type":"slot_granted"}"#,
            r#"{"type":"slot_granted","slot_id":"a","slot_id":"a"}"#,
            r#"{"type":"slot_granted","type":"slot_granted","slot_id":"a"}"#,
            r#"{"type":"slot_granted","slot_id":"a","more":1}"#,
            r#"{"type":"slot_granted","slot_id":"a"} "#,
            r#" {"type":"slot_granted","slot_id":"a"}"#,
            r#"{"type":"slot_granted","slot_id":"a",}"#,
            r#"{"type":"slot_granted","slot_id":"a"}{"#,
            r#"{"type":"slot_granted","slot_id":"\u0061"}"#,
            r#"{"type":"slot_granted","slot_id":null}"#,
            r#"{"type":"slot_granted","slot_id":1}"#,
            r#"{"type":"turn_finished","attempt_number":01}"#,
            r#"{"type":"turn_finished","attempt_number":1.0}"#,
            r#"{"type":"turn_finished","attempt_number":-1}"#,
            r#"{"type":"turn_finished","attempt_number":4294967296}"#,
            r#"{"type":"turn_finished","attempt_number":1,"exit_code":1000000000000000}"#,
            r#"{"type":"turn_finished","attempt_number":1,"text":null}"#,
            r#"{"type":"turn_finished","attempt_number":1,"failure_reason":"no code"}"#,
            r#"{"type":"turn_finished","attempt_number":1,"artifacts":[]}"#,
            r#"{"type":"turn_finished","attempt_number":}"#,
            r#"{"type":"turn_finished","attempt_number":1"#,
            r#"{"type":"reply","interaction_id":1,"response":1}"#,
            r#"{"type":"reply","interaction_id":1,"response":"a","idempotency_key":""}"#,
            "{\"type\":\"slot_granted\",\"slot_id\":\"a\nb\"}",
        ] {
            check(text, false);
        }
    }

    #[test]
    fn what_a_program_printed_may_come_beside_the_report() {
        let stdout = "{\"type\":\"x\"}\n\"";
        let report = r#"{"type":"turn_finished","attempt_number":1,"stream":{"format":"codex-jsonl","exit_code":0}}"#;
        let mut whole = parse(report).unwrap();
        whole["stream"]["stdout"] = Value::from(stdout);
        assert_eq!(Event::from_json_and_stdout(report, stdout), Event::from_value(whole));
        assert!(Event::from_json_and_stdout(r#"{"type":"cancel"}"#, stdout).is_ok());
        assert!(Event::from_json_and_stdout("{", stdout).is_err());
    }
}
