//! Lines that fit the terminal they are printed on.

use console::Term;

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
