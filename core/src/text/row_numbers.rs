//! Numbers of rows: the first field of each row of a grid, or of cells apart, where spreadsheets and
//! pandas write them.

use super::apart;
use crate::grid::Order;

/// Whether the first fields of the rows of grids number them: those of the first row have no name
/// above the numbers, or they [count](number_rows).
pub(super) fn are_numbered(rows: &[Vec<&[u8]>], may_be_cells: bool) -> bool {
    if rows.first().is_some_and(|row| matches!(&row[..], [b"", names @ ..] if are_column_names(names))) {
        return true;
    }
    // Letters are no cells where they are in no other column, but perhaps in the heading.
    let has_letters = rows.iter().skip(1).any(|row| row.iter().skip(1).any(|field| is_letter(field)));
    let is_cell = |field: &[u8]| {
        field.len() <= 1 && (has_letters || !is_letter(field)) || apart::number(field).is_some()
    };
    let firsts: Vec<&[u8]> = rows.iter().filter_map(|row| row.first().copied()).collect();
    number_rows(&firsts, may_be_cells, is_cell)
}

/// Whether a field is a letter, and no `x`, which is a blank.
fn is_letter(field: &[u8]) -> bool {
    matches!(field, [letter] if letter.is_ascii_alphabetic() && !letter.eq_ignore_ascii_case(&b'x'))
}

/// Whether the first fields of rows number them, and are no cells: most are none, such as `R1`, or
/// they count.
///
/// They count if most are the number or the letter that follows the one above, or the nearest one
/// above that is not damaged. Others begin anew with `0`, `1` or `A`, below as many rows as a puzzle
/// has; or there is nothing in them, as in a heading above as many; or they are damaged, which is so
/// of few. A heading without a name above the fields shows the same, but only a caller knows whether
/// the first row is one.
///
/// Where the last fields have nothing in them (`may_be_cells`), the first ones may be cells, too, and
/// those without anything blanks; so there these are damaged numbers.
pub(super) fn number_rows(firsts: &[&[u8]], may_be_cells: bool, is_cell: impl Fn(&[u8]) -> bool) -> bool {
    let cells = firsts.iter().filter(|field| is_cell(field)).count();
    if 2 * cells < firsts.len() {
        return true;
    }
    let is_side = |rows: usize| Order::from_side(rows).is_some_and(|order| order.side() > 1);
    // Behind the rows of a puzzle may be the heading of the next one.
    let may_begin = |above: usize| is_side(above) || is_side(above.saturating_sub(1));
    // Whether numbers begin so many rows above this one.
    let begins = |field: &[u8], above: usize| {
        [b"0", b"1", b"A", b"a"].into_iter().any(|first| follows(first, field, above))
    };
    // Nothing is in the heading above the numbers of a whole puzzle.
    let is_heading = |at: usize| {
        let below = &firsts[at + 1..];
        let counted = 1 + below.windows(2).take_while(|pair| follows(pair[0], pair[1], 1)).count();
        let is_above = below.first().is_some_and(|field| begins(field, 0)) && is_side(counted);
        firsts[at].is_empty() && (!may_be_cells || is_above)
    };
    // The last row whose number is not damaged.
    let mut good = 0;
    let mut beginning = None;
    let (mut next, mut others) = (0, 0);
    let mut damaged = usize::from(firsts.first().is_some_and(|first| first.is_empty() && !is_heading(0)));
    for (row, field) in firsts.iter().enumerate().skip(1) {
        if [row - 1, good].into_iter().any(|above| follows(firsts[above], field, row - above)) {
            next += 1;
            beginning.get_or_insert(good);
            good = row;
            continue;
        }
        others += 1;
        // The first number of a puzzle may be the damaged one.
        let begins_at = |&at: &usize| {
            at > good && begins(field, row - at) && beginning.is_none_or(|last| may_begin(at - last))
        };
        if let Some(at) = [row, row - 1].into_iter().find(begins_at) {
            (beginning, good) = (Some(at), row);
        } else if !is_heading(row) {
            damaged += 1;
            // No number follows a blank.
            good = if field.is_empty() { row } else { good };
        }
    }
    next > others && 3 * damaged <= next
}

/// Whether the second field is the number or the letter that is so many rows below the first.
fn follows(one: &[u8], other: &[u8], rows: usize) -> bool {
    if let ([one], [other]) = (one, other)
        && one.is_ascii_alphabetic()
    {
        return other.is_ascii_alphabetic() && usize::from(*other) == usize::from(*one) + rows;
    }
    let number = |field| std::str::from_utf8(field).ok()?.parse::<usize>().ok();
    number(one).and_then(|one| one.checked_add(rows)).is_some_and(|next| number(other) == Some(next))
}

/// Whether these are the names of columns: words, numbers from 0 or 1 on, or letters.
pub(super) fn are_column_names(names: &[&[u8]]) -> bool {
    are_words(names) || counts_from(names, 0) || counts_from(names, 1) || are_letters(names)
}

/// Whether all of these are words, and no letters.
pub(super) fn are_words(names: &[&[u8]]) -> bool {
    names.iter().all(|name| name.len() > 1 && name.iter().any(u8::is_ascii_alphabetic))
}

/// Whether these are the numbers from `first` on.
pub(super) fn counts_from(names: &[&[u8]], first: usize) -> bool {
    names.iter().zip(first..).all(|(name, number)| *name == number.to_string().as_bytes())
}

/// Whether these are the letters from `A` on.
fn are_letters(names: &[&[u8]]) -> bool {
    let is_letter = |(name, letter): (&&[u8], u8)| name.eq_ignore_ascii_case(&[letter]);
    names.len() <= 26 && names.iter().zip(b'A'..=b'Z').all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_numbered_by_what_follows_the_number_above_or_is_no_cell() {
        let numbers = |firsts: &str| {
            let firsts: Vec<&[u8]> =
                firsts.split(' ').map(|first| first.trim_matches('_').as_bytes()).collect();
            let is_cell = |field: &[u8]| field.len() <= 1 || apart::number(field).is_some();
            let found = [true, false].map(|may_be_cells| number_rows(&firsts, may_be_cells, is_cell));
            // What numbers rows where there is doubt does so without it.
            assert!(found[1] || !found[0], "{firsts:?}");
            found[0]
        };
        // Where each row has its last cell, numbers may be missing.
        let two = "1 _ 3 4 5 _ 7 8 9 1 2 3 4 5 6 7 8 9";
        let two: Vec<&[u8]> = two.split(' ').map(|first| first.trim_matches('_').as_bytes()).collect();
        assert!(number_rows(&two, false, |_| true) && !number_rows(&two, true, |_| true));
        for firsts in [
            "3 4",
            "0 1 2 3 4 5 6 7 8",
            "_ 1 2 3 4 _ 1 2 3 4 _ 1 2 3 4",
            "1 2 3 4 1 2 3 4 1 2 3 4",
            "x 0 1 2 3",
            "A B C D E F G H I",
            "a b c d a b c d",
            "R1 R2 R3 R4",
            "9 10 11 12",
            // A damaged number, a lost row and one that is there twice.
            "1 2 3 ? 5 6 7 8 9",
            "1 2 3 5 6 7 8 9",
            "1 2 3 4 5 5 6 7 8 9",
            // Wherever it is, a damaged number counts once.
            "? 2 3 4 1 2 3 4",
            "1 ? 3 4 1 2 3 4",
            "1 2 9 4 1 2 3 4",
            "1 2 3 ? 1 2 3 4",
            "1 2 3 4 ? 2 3 4",
            "1 2 3 4 7 2 3 4",
            "1 2 3 4 1 2 3 ?",
            "A B ? D A B C D",
            "0 1 2 3 ? 1 2 3",
            "0 1 2 3 4 ? ? 7 8",
        ] {
            assert!(numbers(firsts), "{firsts}");
        }
        for firsts in [
            "1",
            "0 2 1",
            "1 1 2",
            "3 4 1 2",
            "3 1 4 2",
            "1 2 4 3",
            "_ _ _ _",
            "_ 1 _ 2",
            "1 2 _ _",
            "1 ? 3 4",
            "1 ? 3 4 1 2 ? 4",
            "1 ? 3 4 ? 2 3 4",
            "1 2 3 4 4 3 1 2",
            "1 4 3 6 5 8 7 2 9",
            "1 2 3 _",
            "_ 1 2 3",
            "x 3 x 4",
            "x x 1 1",
            "1 2 3 4 3 4 1 2",
            "A A B A",
            "B D A C",
        ] {
            assert!(!numbers(firsts), "{firsts}");
        }
    }
}
