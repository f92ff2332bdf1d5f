use super::*;

/// `p:` before prose, `tag:` before the content of a block.
fn check(text: &str, expected: &[&str]) {
    let mut found = Vec::new();
    segments(text, &mut |segment| {
        found.push(match segment {
            Segment::Prose(range) => format!("p:{}", text.get(range).unwrap()),
            Segment::Yaml(range) => format!("y:{}", text.get(range).unwrap()),
            Segment::UnclosedYaml => "unclosed".to_owned(),
            Segment::Fence { tag, content } => {
                format!("{}:{}", text.get(tag).unwrap(), text.get(content).unwrap())
            }
        });
    });
    assert_eq!(found, expected, "{text}");
}

#[test]
fn blocks_are_found_as_markdown_sees_them() {
    check("", &[]);
    check("a\nb", &["p:a\nb"]);
    check("a\n```json\n{}\n```\nb", &["p:a\n", "json:{}\n", "p:b"]);
    check("```\r\n{}\r\n```\r\n", &[":{}\r\n"]);
    check("~~~ JSON x\n```\n~~~~\n", &["JSON:```\n"]);
    check("````md\n```json\n{}\n```\n````", &["md:```json\n{}\n```\n"]);
    check("```json\n{}", &["json:{}"]);
    check("```\n``` x\n```", &[":``` x\n"]);
    check("```a`b\nx", &["p:```a`b\nx"]);
    check("    ```\n   ```\nx", &["p:    ```\n", ":x"]);
    check("```", &[":"]);
}

#[test]
fn a_question_in_tags_is_a_block_of_its_own() {
    check("a\n<ASK_USER_YAML>\n```x\n</ASK_USER_YAML> b\nc", &["p:a\n", "y:\n```x\n", "p: b\nc"]);
    check("<ASK_USER_YAML>p</ASK_USER_YAML>", &["y:p"]);
    check("<ASK_USER_YAML>", &["unclosed", "p:<ASK_USER_YAML>"]);
    check("<ASK_USER_YAML>\n<ASK_USER_YAML>\nx", &["unclosed", "p:<ASK_USER_YAML>\n<ASK_USER_YAML>\nx"]);
    check("<ASK_USER_YAML>\n``` <ASK_USER_YAML>", &["unclosed", "p:<ASK_USER_YAML>\n``` <ASK_USER_YAML>"]);
    check("<Ask_User_yaml>p</ask_user_YAML>", &["y:p"]);
    check("<ask_user_yaml>", &["unclosed", "p:<ask_user_yaml>"]);
    check("<ASK-USER-YAML>p</ASK-USER-YAML>", &["p:<ASK-USER-YAML>p</ASK-USER-YAML>"]);
    check("see <ASK_USER_YAML>p</ASK_USER_YAML>", &["p:see ", "y:p"]);
    check("\"<ASK_USER_YAML>p</ASK_USER_YAML>", &["p:\"<ASK_USER_YAML>p</ASK_USER_YAML>"]);
    check("```\n<ASK_USER_YAML>\n```\n</ASK_USER_YAML>", &[":<ASK_USER_YAML>\n", "p:</ASK_USER_YAML>"]);
}
