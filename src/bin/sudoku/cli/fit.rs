//! Lines and tables that fit the terminal they are printed on.

use console::Term;

/// The blanks before each column of a table.
const GAP: usize = 2;

/// The columns of standard output, if it is a terminal that says so.
pub fn stdout_columns() -> Option<usize> {
    columns_of(&Term::stdout())
}

/// The columns of standard error, if it is a terminal that says so.
pub fn stderr_columns() -> Option<usize> {
    columns_of(&Term::stderr())
}

fn columns_of(term: &Term) -> Option<usize> {
    let (_, columns) = term.size_checked().filter(|_| term.is_term())?;
    Some(usize::from(columns).max(1))
}

/// The text in lines of at most `columns` characters, broken between words. A word that is longer
/// than a line is broken itself.
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    for whole in text.lines() {
        if whole.chars().count() <= columns {
            lines.push(whole.to_owned());
            continue;
        }
        let mut line = String::new();
        let mut width = 0;
        for (place, word) in whole.split(' ').enumerate() {
            let mut word: Vec<char> = word.chars().collect();
            if place > 0 {
                if width + 1 + word.len() <= columns {
                    line.push(' ');
                    width += 1;
                } else {
                    lines.push(std::mem::take(&mut line));
                    width = 0;
                }
            }
            while word.len() > columns {
                let rest = word.split_off(columns);
                lines.push(word.into_iter().collect());
                word = rest;
            }
            width += word.len();
            line.extend(word);
        }
        lines.push(line);
    }
    lines
}

/// Lays rows out in columns, the first `left` of them left-aligned.
///
/// Rows that are wider than `columns` are folded: the other columns follow below, beside the first
/// `keys` again.
pub fn table(rows: &[Vec<String>], left: usize, keys: usize, columns: Option<usize>) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows.first().map_or(0, Vec::len)).map(width).collect();
    let most = columns.unwrap_or(usize::MAX);
    let of_keys: usize = widths.iter().take(keys).map(|width| GAP + width).sum();
    let mut text = String::new();
    let mut next = keys;
    while next < widths.len() {
        let first = next;
        let mut used = of_keys;
        // There is at least one.
        while next < widths.len() && (next == first || used + GAP + widths[next] <= most) {
            used += GAP + widths[next];
            next += 1;
        }
        // What is still too wide is broken into lines.
        let room = most.saturating_sub(of_keys + GAP).max(1);
        for row in rows {
            let cells = (0..keys).chain(first..next).map(|column| {
                let width = if column < keys { widths[column] } else { widths[column].min(room) };
                (column, width, wrapped(&row[column], width))
            });
            let cells: Vec<(usize, usize, Vec<String>)> = cells.collect();
            // None where the upper line of headings has nothing here.
            let height = cells.iter().map(|(.., lines)| lines.len()).max().unwrap_or(0);
            for number in 0..height {
                let mut line = String::new();
                for &(column, width, ref lines) in &cells {
                    let cell = lines.get(number).map_or("", String::as_str);
                    line += &" ".repeat(GAP);
                    line +=
                        &if column < left { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
                }
                text += line.trim_end();
                text.push('\n');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("one two three", 13), ["one two three"]);
        assert_eq!(wrapped("one two three", 12), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 3), ["one", "two", "thr", "ee"]);
        assert_eq!(wrapped("one\ntwo", 10), ["one", "two"]);
        assert_eq!(wrapped("µµ µµ", 2), ["µµ", "µµ"]);
        assert!(wrapped("", 10).is_empty());
        assert_eq!(wrapped("ab", 0), ["a", "b"]);
    }
}
