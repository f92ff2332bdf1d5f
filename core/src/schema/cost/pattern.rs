//! What a pattern costs for each byte of text, from its source alone.
//!
//! The engine is linear in the text, but for each byte it may look at every position of the pattern. This never judges
//! whether a pattern is well formed: the engine does.

/// Units of work per byte of text.
pub(crate) fn regex_cost(pattern: &str) -> u64 {
    let positions = positions(pattern, PROPERTY_WORK);
    // The engine remembers each set of positions that it has met; few positions have few sets.
    if positions <= FEW || is_deterministic(pattern) {
        return PLAIN;
    }
    positions.saturating_mul(3).saturating_add(8)
}

/// Whether a pattern is too large to compile.
///
/// The engine has a limit too, but counts bytes, and those differ between platforms; this bound is reached first.
pub(crate) fn is_too_large(pattern: &str) -> bool {
    size(pattern) > MAX_POSITIONS
}

/// What a pattern contributes to the work of compiling a schema.
pub(crate) fn size(pattern: &str) -> u64 {
    positions(pattern, PROPERTY_SIZE)
}

/// The positions of a pattern with its counted repetitions written out; more rather than less.
fn positions(pattern: &str, property: u64) -> u64 {
    let mut groups: Vec<u64> = Vec::new();
    let (mut sum, mut atom) = (0_u64, 0_u64);
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        if character == '{'
            && let Some((times, behind)) = repetition(rest.as_str())
        {
            sum = sum.saturating_add(atom.saturating_mul(times.saturating_sub(1)));
            atom = atom.saturating_mul(times);
            rest = behind.chars();
            continue;
        }
        atom = match character {
            '*' | '+' | '?' | '^' | '$' | '|' => continue,
            '(' | '[' => {
                groups.push(std::mem::take(&mut sum));
                0
            }
            ')' => std::mem::replace(&mut sum, groups.pop().unwrap_or_default()),
            // What a class lists makes it larger, but less so than if it stood alone.
            ']' => 1 + std::mem::replace(&mut sum, groups.pop().unwrap_or_default()) / 4,
            '\\' if matches!(rest.next(), Some('p' | 'P')) => {
                // The name belongs to the property; what follows it may repeat them both.
                if rest.as_str().starts_with('{') {
                    rest.by_ref().find(|character| *character == '}');
                }
                property
            }
            _ => 1,
        };
        sum = sum.saturating_add(atom);
    }
    groups.into_iter().fold(sum, u64::saturating_add)
}

/// One more than the larger count of `{n}`, `{n,}` or `{n,m}`, and what is behind it; nothing if the braces hold something else.
fn repetition(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|character: char| !character.is_ascii_digit() && character != ',')?;
    let (counts, behind) = text.split_at_checked(end)?;
    let number = |digits: &str| digits.parse().unwrap_or(if digits.is_empty() { 0 } else { u64::MAX });
    let largest = counts.split(',').map(number).max().filter(|_| counts.starts_with(|first: char| first != ','))?;
    Some((largest.saturating_add(1), behind.strip_prefix('}')?))
}

/// Whether the engine knows at each byte where in the pattern it is.
///
/// So it does for most patterns in schemas: `^`, then sets of characters, each with a count, such that what may follow a
/// set of which the count is not fixed is never in that set. Everything with groups or alternatives is taken to be worse.
fn is_deterministic(pattern: &str) -> bool {
    let Some(atoms) = pattern.strip_prefix('^').and_then(atoms) else { return false };
    // What may follow, up to the first set that something has to be of.
    let mut next = Set::EMPTY;
    atoms.iter().rev().all(|atom| {
        let is_apart = !atom.set.meets(next);
        next = if atom.is_optional { next.union(atom.set) } else { atom.set };
        atom.is_fixed || is_apart
    })
}

struct Atom {
    set: Set,
    is_fixed: bool,
    is_optional: bool,
}

/// A set of characters: the ASCII ones exactly, and whether there are any others.
#[derive(Clone, Copy)]
struct Set {
    ascii: u128,
    others: bool,
}

type Characters<'p> = std::iter::Peekable<std::str::Chars<'p>>;

fn atoms(pattern: &str) -> Option<Vec<Atom>> {
    let mut rest = pattern.chars().peekable();
    let mut atoms = Vec::new();
    while let Some(character) = rest.next() {
        let set = match character {
            '$' => return rest.next().is_none().then_some(atoms),
            '.' => Set::of('\n').union(Set::of('\r')).complement(),
            '[' => class(&mut rest)?,
            '\\' => escape(rest.next()?)?,
            '(' | ')' | ']' | '{' | '}' | '|' | '*' | '+' | '?' | '^' => return None,
            literal => Set::of(literal),
        };
        atoms.push(counted(set, &mut rest)?);
    }
    Some(atoms)
}

fn counted(set: Set, rest: &mut Characters<'_>) -> Option<Atom> {
    let (is_fixed, is_optional) = match rest.next_if(|sign| "*+?{".contains(*sign)) {
        None => return Some(Atom { set, is_fixed: true, is_optional: false }),
        Some('{') => {
            let count: String = rest.by_ref().take_while(|character| *character != '}').collect();
            (!count.contains(','), count.split(',').next()?.parse::<u64>().ok()? == 0)
        }
        Some(sign) => (false, sign != '+'),
    };
    // A lazy count asks the same question in another order; it is rare, and taken to be worse.
    (rest.peek() != Some(&'?')).then_some(Atom { set, is_fixed, is_optional })
}

fn class(rest: &mut Characters<'_>) -> Option<Set> {
    let is_negated = rest.next_if_eq(&'^').is_some();
    let mut set = Set::EMPTY;
    loop {
        let first = match rest.next()? {
            ']' => return Some(if is_negated { set.complement() } else { set }),
            '[' => return None,
            '\\' => match rest.next()? {
                sign if sign.is_ascii_punctuation() => sign,
                class => {
                    set = set.union(escape(class)?);
                    continue;
                }
            },
            character => character,
        };
        let mut ahead = rest.clone();
        set = set.union(match (ahead.next(), ahead.next()) {
            (Some('-'), Some('\\' | '[')) => return None,
            (Some('-'), Some(last)) if last != ']' => {
                *rest = ahead;
                Set::range(first, last)
            }
            _ => Set::of(first),
        });
    }
}

fn escape(character: char) -> Option<Set> {
    Some(match character {
        'd' => Set::range('0', '9'),
        'w' => escape('d')?.union(Set::range('a', 'z')).union(Set::range('A', 'Z')).union(Set::of('_')),
        's' => Set { others: true, ..Set::range('\t', '\r').union(Set::of(' ')) },
        'D' | 'W' | 'S' => escape(character.to_ascii_lowercase())?.complement(),
        'n' => Set::of('\n'),
        'r' => Set::of('\r'),
        't' => Set::of('\t'),
        literal if literal.is_ascii_punctuation() => Set::of(literal),
        _ => return None,
    })
}

impl Set {
    const EMPTY: Set = Set { ascii: 0, others: false };

    fn of(character: char) -> Set {
        Set::range(character, character)
    }

    fn range(first: char, last: char) -> Set {
        let ascii = (0..128_u32).filter(|code| (u32::from(first)..=u32::from(last)).contains(code));
        Set { ascii: ascii.fold(0, |set, code| set | 1 << code), others: !last.is_ascii() }
    }

    fn union(self, other: Set) -> Set {
        Set { ascii: self.ascii | other.ascii, others: self.others || other.others }
    }

    fn meets(self, other: Set) -> bool {
        self.ascii & other.ascii != 0 || (self.others && other.others)
    }

    /// Everything else; which of the others are in is not known, so some are.
    fn complement(self) -> Set {
        Set { ascii: !self.ascii, others: true }
    }
}

const PLAIN: u64 = 2;
const FEW: u64 = 6;
/// What a Unicode property counts for, in work for each byte and in size: it is a set of hundreds of ranges.
const PROPERTY_WORK: u64 = 64;
const PROPERTY_SIZE: u64 = 400;
const MAX_POSITIONS: u64 = 4_000;

#[cfg(test)]
mod tests;
