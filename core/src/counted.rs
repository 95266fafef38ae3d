//! Counted words, and lists in words.

use std::fmt::Display;

/// `1 answer`, `2 answers`.
#[must_use]
pub fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A list with a word before its last item: `a`, `a and b`, `a, b and c`.
#[must_use]
pub fn listed<T: Display>(items: &[T], word: &str) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    match &items[..] {
        [rest @ .., last] if !rest.is_empty() => format!("{} {word} {last}", rest.join(", ")),
        _ => items.concat(),
    }
}
