//! Views: what of a text layouts see as its lines.

use std::borrow::Cow;

use super::brackets::{bracket_lines, has_brackets};
use super::facts::{Line, plain_lines};
use super::markup::{is_markup, markup_lines};
use super::signs::is_letter;
use super::table::View;

/// The lines of a text as a view shows them. `None` if it has nothing of that view.
pub(super) fn lines(view: View, text: &[u8]) -> Option<Vec<Line<'_>>> {
    let has_any = match view {
        View::Plain | View::Json => true,
        View::Sections => has_sections(text),
        View::Brackets => has_brackets(text),
        View::Markup => is_markup(text),
    };
    has_any.then(|| lines_in(view, text))
}

/// The lines of a part of a text that is known to be of a view, and may have nothing of it.
pub(super) fn lines_in(view: View, text: &[u8]) -> Vec<Line<'_>> {
    match view {
        View::Plain | View::Json => plain_lines(text),
        View::Sections => sections(text),
        View::Brackets => bracket_lines(text),
        View::Markup => markup_lines(text),
    }
}

/// The name of a section, which stands alone in brackets.
fn section(line: &[u8]) -> Option<&[u8]> {
    let name = line.trim_ascii().strip_prefix(b"[")?.strip_suffix(b"]")?;
    (is_letter(*name.first()?) && !name.iter().any(|byte| b"[]".contains(byte))).then_some(name)
}

/// Whether a section or member has a puzzle, by its name.
pub(super) fn is_puzzle(name: &[u8]) -> bool {
    const PUZZLE: &[u8] = b"puzzle";
    name.get(..PUZZLE.len()).is_some_and(|start| start.eq_ignore_ascii_case(PUZZLE))
}

/// Whether a section has what belongs to a puzzle: its solution, or what a player has filled in.
fn is_no_puzzle(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 10] = [
        b"state",
        b"solution",
        b"solutions",
        b"solved",
        b"answer",
        b"answers",
        b"candidates",
        b"pencilmarks",
        b"marks",
        b"notes",
    ];
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// The offset of the last section with a puzzle, behind which is what follows it.
pub(super) fn last_section(text: &[u8]) -> usize {
    let mut end = text.len();
    for line in text.rsplit(|&byte| byte == b'\n') {
        let start = end - line.len();
        if section(line).is_some_and(is_puzzle) {
            return start;
        }
        end = start.saturating_sub(1);
    }
    0
}

/// Whether a text has sections of puzzles.
fn has_sections(text: &[u8]) -> bool {
    let is_known = |line: &[u8]| section(line).is_some_and(|name| is_puzzle(name) || is_no_puzzle(name));
    memchr::memchr(b'[', text).is_some() && text.split(|&byte| byte == b'\n').any(is_known)
}

/// The lines of the sections `[Puzzle]`, with all others as comments.
fn sections(text: &[u8]) -> Vec<Line<'_>> {
    let mut lines = plain_lines(text);
    let mut is_on = true;
    for line in &mut lines {
        if let Some(name) = section(&line.text) {
            is_on = is_puzzle(name);
            line.text = Cow::Borrowed(b"");
        } else if !is_on && !line.text.trim_ascii().is_empty() {
            line.text = Cow::Owned([b"# ", &line.text[..]].concat());
        }
    }
    lines
}
