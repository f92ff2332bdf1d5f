use super::*;

fn texts(turn: &Turn) -> Vec<(&str, usize)> {
    turn.messages.iter().map(|message| (message.role.as_str(), message.text.len())).collect()
}

#[test]
fn pieces_of_others_are_joined_while_they_are_one_message() {
    let mut turn = Turn::new(usize::MAX);
    let (long, short) = ("x".repeat(MAX_OTHER_BYTES), "y");
    turn.say_piece(&long);
    turn.other_piece("reasoning", &long);
    turn.other_piece("reasoning", short);
    turn.close();
    turn.other_piece("reasoning", short);
    turn.other_piece("reasoning", short);
    let whole = MAX_OTHER_BYTES;
    assert_eq!(texts(&turn), [("assistant", whole), ("reasoning", whole), ("reasoning", 2)]);
}

#[test]
fn messages_of_others_and_words_of_programs_are_kept_up_to_a_number() {
    let mut turn = Turn::new(usize::MAX);
    for _ in 0..MAX_OTHER_MESSAGES + 5 {
        turn.other_piece("reasoning", "x");
        turn.close();
        turn.warn("mind the gap");
    }
    assert_eq!((turn.messages.len(), turn.notes.len()), (MAX_OTHER_MESSAGES, MAX_NOTES));
}

#[test]
fn whole_messages_of_others_are_cut_counted_and_shown_like_pieces() {
    let mut turn = Turn::new(usize::MAX);
    let long = "é".repeat(MAX_OTHER_BYTES);
    turn.other("tool", || long.as_str().into());
    turn.other("tool", || long.clone().into());
    turn.other("tool", || "".into());
    turn.other(&"r".repeat(MAX_ROLE_BYTES + 1), || "x".into());
    let role = "r".repeat(MAX_ROLE_BYTES);
    assert_eq!(texts(&turn), [("tool", MAX_OTHER_BYTES), ("tool", MAX_OTHER_BYTES), (role.as_str(), 1)]);
    let shown = turn.take_pieces();
    assert_eq!(shown.iter().map(|piece| piece.message).collect::<Vec<_>>(), [0, 1, 2]);
    for _ in 0..MAX_OTHER_MESSAGES {
        turn.other("tool", || "x".into());
    }
    turn.other_piece("tool", "x");
    assert_eq!(turn.messages.len(), MAX_OTHER_MESSAGES);
}
