//! Chance that can be had again.

use serde_json::{Map, Value, json};

/// Numbers that look random and are the same for the same seed, on every machine: SplitMix64.
pub(super) struct Dice(u64);

impl Dice {
    /// The dice of one script: each has its own, so that it can be made again without those before it.
    pub(super) fn of_script(seed: u64, number: usize) -> Dice {
        let mut dice = Dice(seed);
        Dice(dice.roll() ^ number as u64)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.roll() % bound as u64).expect("below a bound that fits")
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.roll().to_le_bytes()[0]
    }

    pub(super) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(super) fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }

    /// A number of any size, spelt with all its digits.
    pub(super) fn number(&mut self) -> String {
        let number = f64::from_bits(self.roll());
        if number.is_finite() { format!("{number:e}") } else { self.roll().to_string() }
    }

    /// Any character of Unicode, half of them of its first hundreds.
    fn character(&mut self) -> char {
        let last = if self.one_in(2) { 0x200 } else { 0x11_0000 };
        u32::try_from(self.below(last)).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// Data that means nothing. Its fractions are such that every language writes them in the same way.
    pub(super) fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 12 } else { 16 }) {
            0 => Value::Null,
            1 => json!(true),
            2 => json!(false),
            3 => json!(self.below(4)),
            4 => json!(-1),
            5 => json!([(1_i64 << 53) - 1, 1 << 53, i64::MIN, i64::MAX][self.below(4)]),
            6 => json!(u64::MAX),
            7 => json!([0.5, 1.5, -0.25][self.below(3)]),
            8..=10 => json!(self.pick(&TEXTS)),
            11 => json!((0..self.below(9)).map(|_| self.character()).collect::<String>()),
            12 | 13 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => {
                let keys: Vec<&str> = (0..self.below(4)).map(|_| self.pick(&KEYS)).collect();
                let members = keys.into_iter().map(|key| (key.to_owned(), self.value(depth - 1)));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }
}

const TEXTS: [&str; 10] = [
    "",
    "yes",
    "__SKILL_DONE__",
    "größe",
    "😀",
    "\u{1b}[31m\u{202e}\0",
    "\u{2028}\u{feff}",
    "\"\\",
    "r1/s1",
    "TIMEOUT",
];
const KEYS: [&str; 9] = ["a", "b", "", "type", "answer", "__proto__", "constructor", "$b", "__class__"];
