//! Texts an agent could write to make reading slow: each is easy to make n bytes long.

use turnlatch::TurnReport;
use turnlatch::types::Message;

/// A text of any length that is unpleasant to read.
#[derive(Clone, Debug)]
pub struct HostileText {
    /// What is unpleasant about it.
    pub name: &'static str,
    begin: &'static str,
    repeat: String,
    end: &'static str,
}

impl HostileText {
    /// About `bytes` bytes of it: whole repetitions only, so that a doubled size is doubled trouble.
    #[must_use]
    pub fn text(&self, bytes: usize) -> String {
        let times = (bytes / self.repeat.len()).max(1);
        format!("{}{}{}", self.begin, self.repeat.repeat(times), self.end)
    }

    /// The text as one turn's report.
    #[must_use]
    pub fn as_text(&self, bytes: usize) -> TurnReport {
        TurnReport { attempt_number: 1, text: Some(self.text(bytes)), ..TurnReport::default() }
    }

    /// About `bytes` bytes in many small messages of about 32 bytes, or of one repetition if that is longer.
    #[must_use]
    pub fn as_messages(&self, bytes: usize) -> TurnReport {
        let text = self.text(SMALL_MESSAGE);
        let message = Message { role: "assistant".to_owned(), text };
        let count = bytes / message.text.len().max(1);
        TurnReport { attempt_number: 1, messages: Some(vec![message; count]), ..TurnReport::default() }
    }
}

/// All of them.
#[must_use]
pub fn hostile_texts() -> Vec<HostileText> {
    let around = |name, begin, repeat: &str, end| HostileText { name, begin, repeat: repeat.to_owned(), end };
    let plain = |name, repeat: &str| around(name, "", repeat, "");
    let nest = |name, open: &str, close: &str, levels| {
        plain(name, &format!("{}{}\n", open.repeat(levels), close.repeat(levels)))
    };
    // Blocks just below the size at which YAML is not read any more.
    let yaml_with = |name, open: &str, content: &str| {
        let content = content.repeat(YAML_BLOCK / content.len());
        plain(name, &format!("<ASK_USER_YAML>\n{open}{content}\n</ASK_USER_YAML>\n"))
    };
    let yaml = |name, content: &str| yaml_with(name, "", content);
    vec![
        plain("open braces", "{"),
        plain("open members", r#"{"a":"#),
        plain("backtick fences", "```\n"),
        plain("tilde fences", "~~~\n"),
        plain("json fences that hold no json", "```json\n{\"a\": oops}\n```\n"),
        plain("one json fence after the other", "```json\n{\"a\":1}\n```\n"),
        plain("quoted markers", r#""__SKILL_DONE__""#),
        plain("marker lines", "__SKILL_DONE__\n"),
        plain("marker objects", r#"{"__SKILL_DONE__":true}"#),
        plain("objects with the marker", "{\"a\":1,\"__SKILL_DONE__\":true}\n"),
        plain("objects broken behind the marker", "{\"__SKILL_DONE__\":true,x\n"),
        plain("closed objects broken behind the marker", "{\"__SKILL_DONE__\":true,x}\n"),
        around("quotations before an unfinished marker", "", "> \"`a` ", "\n{\"__SKILL_DONE__\":true,x"),
        around("paragraphs before an unfinished marker", "", "a\n\n", "{\"__SKILL_DONE__\":true,x"),
        around("blanks behind an unfinished marker", "{\"__SKILL_DONE__\":true,", " \n", ""),
        around("a word behind an unfinished marker", "{\"__SKILL_DONE__\":true,", "x", ""),
        plain("open yaml tags", "<ASK_USER_YAML>"),
        plain("closed yaml tags", "<ASK_USER_YAML></ASK_USER_YAML>"),
        plain("yaml questions", "<ASK_USER_YAML>\nprompt: x\n</ASK_USER_YAML>\n"),
        yaml("yaml of open brackets", "["),
        yaml("yaml of open braces", "{"),
        yaml("yaml of keys in keys", "? "),
        yaml("yaml of lists in lists", "- "),
        yaml("yaml of values in values", "a: "),
        yaml("yaml of anchors", "&a "),
        yaml(
            "yaml of one long list",
            "- a
",
        ),
        yaml_with("yaml of one flow list", "[", "a, "),
        yaml_with("yaml of one flow list of pairs", "[", "a: b, "),
        yaml_with("yaml of flow lists in a list", "[", "[a], "),
        // As deep as the parser looks ahead for a colon behind it.
        yaml_with("yaml of one list in many", &"[".repeat(255), "a, "),
        yaml_with("yaml of one long string", "\"", "a\\n\n "),
        yaml_with("yaml of one long block", "a: |\n", " b\n"),
        yaml("yaml of quotes", "'' "),
        yaml("yaml of tabs", "	"),
        yaml(
            "yaml of blank lines",
            "a

",
        ),
        yaml(
            "yaml of documents",
            "---
",
        ),
        yaml(
            "yaml of comments",
            "# c
",
        ),
        plain("open brackets", "["),
        plain("small objects", r#"{"a":1}"#),
        plain("placeholders", "{} "),
        plain("keys without a colon", r#"{"a" "#),
        plain("quotes", "\""),
        around("backslashes in a string", "{\"a\":\"", r"\\", "\"}"),
        around("escapes in a key", "{\"", r"\u0061", "\":1}"),
        around("backslashes in an open string", "{\"a\":\"", r"\\", ""),
        plain("questions", r#"{"ask_user":{"prompt":"x"}}"#),
        plain("questions without a prompt", r#"{"ask_user":1}"#),
        plain("prompts alone", r#"{"prompt":"x"}"#),
        plain("open yaml tags in small letters", "<ask_user_yaml>"),
        plain("bare questions", r#"{"prompt":"x","kind":"confirm"}"#),
        nest("closed nests of objects", r#"{"a":"#, "}", 100),
        nest("closed nests of arrays", "[", "]", 100),
        nest("nests at the limit of depth", "[", "]", 129),
        around("one object with many members", "{\"x\":1", ",\"kind\":1", "}"),
        around("one object with a long array", "{\"a\":[0", ",0", "]}"),
        around("one long number", "{\"a\":1", "1", "}"),
        around("one long fraction", "{\"a\":0.", "1", "}"),
        plain("numbers out of range", r#"{"a":1e999}"#),
        plain("lone surrogates", r#"{"a":"\ud800"#),
        plain("white space", " \t\n"),
        around("white space in a brace", "{", " ", "x"),
        plain("braces far apart", "{                              "),
        around("prose with one brace", "{ ", "prose and more prose ", ""),
        plain("newlines", "\n"),
        plain("line separators", "\u{2028}"),
        plain("objects at the end of blank lines", "{\"a\":1}\n\n\n\n\n\n\n\n"),
    ]
}

const SMALL_MESSAGE: usize = 32;
const YAML_BLOCK: usize = 60 * 1024;
