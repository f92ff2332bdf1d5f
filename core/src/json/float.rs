//! The double that is nearest to a decimal number, found without tables.
//!
//! The standard library and `serde_json` find the same one, each with some ten kilobytes of powers of ten that every
//! browser would download. Here powers are multiplied up when they are needed: in a double where that is exact, else in 64
//! bits with a bound for the error, and for the few numbers too near to the middle of two doubles, in large integers.

use std::cmp::Ordering;

use crate::text::{integer, split_once};

/// Reads a number in JSON's form; none if it is too large for a double.
pub(super) fn parse(token: &str) -> Option<f64> {
    let unsigned = token.strip_prefix('-').unwrap_or(token);
    let decimal = Decimal::read(unsigned);
    let size = decimal.exact().or_else(|| decimal.nearest())?;
    Some(if unsigned.len() < token.len() { -size } else { size })
}

/// Whether a number in JSON's form is not too large for a double.
pub(super) fn is_held(token: &str) -> bool {
    // Without a power of ten it takes more than 300 digits to be too large, and nearly every number is such a one.
    let is_plain = token.len() <= 300 && !token.bytes().any(|byte| matches!(byte, b'e' | b'E'));
    is_plain || parse(token).is_some()
}

/// `digits` as one whole number, times ten to the power of `exponent`.
struct Decimal {
    /// Values from 0 to 9, without zeros around them.
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    fn read(unsigned: &str) -> Decimal {
        let power = split_once(unsigned, b'e').or_else(|| split_once(unsigned, b'E'));
        let (number, power) = power.unwrap_or((unsigned, "0"));
        let (whole, fraction) = split_once(number, b'.').unwrap_or((number, ""));
        // A power that is no `i32` is far beyond every double.
        let far = if power.starts_with('-') { i64::MIN } else { i64::MAX };
        let power = integer(power).unwrap_or(far).clamp(i32::MIN.into(), i32::MAX.into());
        let exponent = power - signed(fraction.len());
        let mut decimal = Decimal { digits: Vec::new(), exponent };
        let mut dropped = 0;
        for digit in whole.bytes().chain(fraction.bytes()).map(|byte| byte & 0xf) {
            if decimal.digits.len() == MAX_DIGITS {
                decimal.exponent += 1;
                dropped |= digit;
            } else if digit > 0 || !decimal.digits.is_empty() {
                decimal.digits.push(digit);
            }
        }
        // The middle of two doubles has fewer digits, so that there is more is all that has to be known.
        if dropped > 0 {
            decimal.exponent -= 1;
            decimal.digits.push(1);
        }
        while decimal.digits.pop_if(|last| *last == 0).is_some() {
            decimal.exponent += 1;
        }
        decimal
    }

    /// The first 19 digits as a number, and the power of ten that belongs to it.
    fn leading(&self) -> (u64, i64) {
        let (leading, rest) = self.digits.split_at(self.digits.len().min(19));
        (leading.iter().fold(0, |number, digit| number * 10 + u64::from(*digit)), self.exponent + signed(rest.len()))
    }

    /// If a double holds both the number and the power, then one division or multiplication rounds once, and rightly.
    fn exact(&self) -> Option<f64> {
        let (number, exponent) = self.leading();
        if number >= 1 << 53 || !(-22..=22).contains(&exponent) {
            return (number == 0).then_some(0.0);
        }
        let power = (0..exponent.abs()).fold(1.0, |power, _| power * 10.0);
        #[expect(clippy::cast_precision_loss, reason = "checked above")]
        let number = number as f64;
        Some(if exponent < 0 { number / power } else { number * power })
    }

    fn nearest(&self) -> Option<f64> {
        let (number, exponent) = self.leading();
        if exponent < -400 {
            return Some(0.0);
        }
        let near = Near::of(number, self.digits.len() > 19, exponent.min(400));
        // A double has 53 bits; those next to zero have fewer.
        let binary = (near.exponent + 11).max(-1074);
        let cut = (binary - near.exponent).unsigned_abs();
        if cut > 66 {
            return Some(0.0);
        }
        if binary > 971 {
            return None;
        }
        let below = near.mantissa.checked_shr(cut).unwrap_or(0);
        let rest = u128::from(near.mantissa) - (u128::from(below) << cut);
        let middle = 1_u128 << (cut - 1);
        let side = if rest.abs_diff(middle) > u128::from(2 * near.error) {
            rest.cmp(&middle)
        } else {
            self.compare_with(2 * below + 1, binary - 1)
        };
        let up = match side {
            Ordering::Less => 0,
            Ordering::Equal => below & 1,
            Ordering::Greater => 1,
        };
        // The bits of doubles are in their order: one that is rounded up out of its power of two becomes the next.
        let bits = (u64::from((binary + 1074).unsigned_abs()) << 52) + below + up;
        Some(f64::from_bits(bits)).filter(|number| number.is_finite())
    }

    /// The number itself beside `other` times two to the power of `binary`.
    fn compare_with(&self, other: u64, binary: i32) -> Ordering {
        let (mut left, mut right) = (Large::default(), Large::default());
        for digit in &self.digits {
            left.multiply_and_add(10, u64::from(*digit));
        }
        right.multiply_and_add(0, other);
        // Ten is two times five: the fives are multiplied, and the twos of both sides make one shift.
        let fives = if self.exponent < 0 { &mut right } else { &mut left };
        let mut missing = self.exponent.unsigned_abs();
        while missing > 0 {
            // 5^13 is the largest power of five in 32 bits.
            let step = missing.min(13);
            fives.multiply_and_add((0..step).fold(1, |power, _| power * 5), 0);
            missing -= step;
        }
        let mut twos = self.exponent - i64::from(binary);
        let shifted = if twos < 0 { &mut right } else { &mut left };
        while twos != 0 {
            let step = twos.clamp(-31, 31);
            shifted.multiply_and_add(1 << step.unsigned_abs(), 0);
            twos -= step;
        }
        left.compare(&right)
    }
}

/// `mantissa` times two to the power of `exponent`, near to some number.
struct Near {
    /// The highest bit is set.
    mantissa: u64,
    exponent: i32,
    /// How far off it may be, in parts of 2^63.
    error: u64,
}

impl Near {
    /// A number that is not 0, times a power of ten. Of one that was cut, the next number would be too large.
    fn of(number: u64, was_cut: bool, power: i64) -> Near {
        let zeros = number.leading_zeros();
        let error = if was_cut { 1 << zeros } else { 0 };
        let mut near = Near { mantissa: number << zeros, exponent: -zeros.cast_signed(), error };
        let mut power = power;
        while power < 0 {
            near.multiply(ONE_BY_TEN_19, -127);
            near.error += 1;
            power += 19;
        }
        while power >= 19 {
            near.multiply(TEN_19, 0);
            power -= 19;
        }
        let small = (0..power).fold(1_u64, |small, _| small * 10);
        let zeros = small.leading_zeros();
        near.multiply(small << zeros, -zeros.cast_signed());
        near
    }

    fn multiply(&mut self, mantissa: u64, exponent: i32) {
        let product = u128::from(self.mantissa) * u128::from(mantissa);
        let zeros = product.leading_zeros();
        let upper = ((product << zeros) >> 64) as u64;
        self.mantissa = upper;
        self.exponent += exponent + 64 - zeros.cast_signed();
        // What is cut off, and the two errors times each other.
        self.error += 2;
    }
}

/// A whole number of any size, the lowest 32 bits first.
#[derive(Default)]
struct Large(Vec<u32>);

impl Large {
    #[expect(clippy::cast_possible_truncation, reason = "the upper half is carried on")]
    fn multiply_and_add(&mut self, factor: u64, addend: u64) {
        let mut carry = addend;
        for limb in &mut self.0 {
            carry += u64::from(*limb) * factor;
            *limb = carry as u32;
            carry >>= 32;
        }
        while carry > 0 {
            self.0.push(carry as u32);
            carry >>= 32;
        }
    }

    fn compare(&self, other: &Large) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

fn signed(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// The middle of two doubles has at most 767 digits.
const MAX_DIGITS: usize = 768;
const TEN_19: u64 = 10_u64.pow(19);
/// Times 2^127, rounded down.
#[expect(clippy::cast_possible_truncation, reason = "10^19 has 64 bits, so this has 64 too")]
const ONE_BY_TEN_19: u64 = ((1 << 127) / 10_u128.pow(19)) as u64;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(token: &str) {
        let expected = token.parse::<f64>().ok().filter(|number| number.is_finite());
        assert_eq!(parse(token).map(f64::to_bits), expected.map(f64::to_bits), "{token}");
        assert_eq!(is_held(token), expected.is_some(), "{token}");
    }

    /// Numbers that look random and are the same in every run.
    fn numbers() -> impl Iterator<Item = u64> {
        let mut state = 1_u64;
        std::iter::repeat_with(move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ (state >> 29)
        })
    }

    #[test]
    fn every_number_is_the_one_that_the_standard_library_reads() {
        for token in [
            "0.0",
            "-0.0",
            "0e5",
            "-0",
            "1.5",
            "0.1",
            "1e22",
            "1e23",
            "9007199254740993.0",
            "1e308",
            "1.8e308",
            "1e309",
            "1e400",
            "1e99999999999",
            "1e-99999999999",
            "-1e-400",
            "5e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "2.2250738585072011e-308",
            "2.2250738585072014e-308",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "0.000000000000000000000000000000001e+33",
            "1E+2",
            "100000000000000016777215.0",
            "100000000000000016777216.0",
            "6.631236846766476e-316",
            "3.5e-323",
        ] {
            check(token);
        }
        for digits in [299, 300, 301, 308, 309, 310, 400] {
            check(&"9".repeat(digits));
        }
        for numbers in numbers().take(200_000).collect::<Vec<_>>().windows(2) {
            let [number, other] = numbers else { continue };
            let number = number >> (other % 64);
            check(&format!(
                "{number}e{}",
                i64::try_from(other >> 32).unwrap() % 360 - 180 - i64::try_from(other % 160).unwrap()
            ));
            check(&format!("{:e}", f64::from_bits(other & 0xbfff_ffff_ffff_ffff)));
            check(&format!("{number}.{other}"));
        }
    }

    #[test]
    fn what_lies_between_two_doubles_is_read_exactly() {
        for bits in numbers().take(500) {
            let below = f64::from_bits(bits & 0x7fef_ffff_ffff_ffff);
            let middle = middle(below, f64::from_bits(below.to_bits() + 1));
            check(&format!("{middle}e-1076"));
            check(&format!("{middle}{}1e-1977", "0".repeat(900)));
            // The last digit of a middle is a five behind which nothing comes.
            let head = middle.trim_end_matches('0').trim_end_matches('5');
            check(&format!("{head}4{}e-1976", "9".repeat(899 + middle.len() - head.len())));
        }
    }

    /// Digits that are cut off and powers that are multiplied up err most from just above a power of two to just below one.
    #[test]
    fn the_bound_of_the_error_is_wide_enough() {
        let cut =
            numbers().map(|number| format!("1.{}{}e{}", 153 + number % 147, number >> 8, 19 + (number >> 50) % 60));
        let multiplied =
            numbers().map(|number| format!("9.{}{}e-{}", 23 + number % 77, number >> 8, 270 + (number >> 50) % 36));
        for number in cut.take(6_000).chain(multiplied.take(6_000)) {
            let below: f64 = number.parse().unwrap();
            if (below.to_bits() >> 44) & 0xff >= 0xe0 {
                check(&format!("{}e-1076", middle(below, f64::from_bits(below.to_bits() + 1))));
            }
        }
    }

    /// All digits of the middle of two doubles: half of a sum is five tenths of it.
    fn middle(below: f64, above: f64) -> String {
        let (below, above) = (format!("{below:0>1400.1075}"), format!("{above:0>1400.1075}"));
        let mut carry = 0;
        let mut digits: Vec<u8> = Vec::new();
        for (left, right) in below.bytes().rev().zip(above.bytes().rev()).filter(|(left, _)| *left != b'.') {
            carry += u32::from(left - b'0' + (right - b'0')) * 5;
            digits.push(u8::try_from(carry % 10).unwrap() + b'0');
            carry /= 10;
        }
        digits.reverse();
        String::from_utf8(digits).unwrap().trim_start_matches('0').to_owned()
    }
}
