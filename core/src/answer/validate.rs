//! Validation: length, characters and rules of every puzzle of a text, without a search.

use super::Block;
use crate::grid::{Grid, Order, keeps_rules_9x9};
use crate::solver::lanes::{Backend, RuleChecker};
use crate::text::{Format, PLAIN_9X9_LINE_BYTES, Problem, PuzzleError, Records};

/// The result of validation of a block, or of several with [`Validation::add`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validation {
    /// The number of puzzles, bad ones included.
    pub puzzles: u64,
    /// The number of bad ones.
    pub bad: u64,
    /// The errors of the first bad ones, up to a limit.
    pub errors: Vec<PuzzleError>,
}

impl Validation {
    /// Adds the result of the next block, and keeps at most `limit` errors.
    pub fn add(&mut self, next: Self, limit: usize) {
        self.puzzles += next.puzzles;
        self.bad += next.bad;
        let room = limit.saturating_sub(self.errors.len());
        self.errors.extend(next.errors.into_iter().take(room));
    }
}

/// Checks length, characters and rules of every puzzle of a block, and keeps the first `limit`
/// errors.
#[must_use]
pub fn validate_block(format: &Format, block: Block<'_>, limit: usize) -> Validation {
    let mut found = Validation::default();
    let mut puzzle = Grid::empty(format.order());
    let mut records = Records::new(format, block.text, block.first_line);
    let is_long = block.text.len() >= FEW * PLAIN_9X9_LINE_BYTES && format.order() == Order::NINE;
    let mut plain = is_long.then(PlainLines::new);
    loop {
        if let Some(plain) = &mut plain {
            while plain.validate(&mut records, &mut puzzle, limit, &mut found) {}
        }
        let Some(record) = records.read(&mut puzzle) else { return found };
        found.puzzles += 1;
        if record.error.is_some() || !puzzle.keeps_rules() {
            found.add_bad(&puzzle, record.line, record.error, limit);
        }
    }
}

impl Validation {
    /// Counts a bad puzzle, which has this error or breaks a rule.
    fn add_bad(&mut self, puzzle: &Grid, line: u64, error: Option<PuzzleError>, limit: usize) {
        self.bad += 1;
        if self.errors.len() < limit {
            let broken = || puzzle.first_conflict().map(Problem::RuleBroken);
            let rules = || broken().map(|problem| PuzzleError { problem, line: Some(line) });
            self.errors.extend(error.or_else(rules));
        }
    }
}

/// Fewer puzzles than this are checked one by one: a check of all lanes takes as long as some 80.
const FEW: usize = 96;

/// The puzzles that are checked at once.
const MANY: usize = 512;

/// Plain 9x9 lines, digits and blanks and nothing else, whose rules are checked hundreds at a time.
struct PlainLines {
    checker: RuleChecker,
    puzzles: Vec<[u8; 81]>,
    /// Those of `puzzles` that break a rule.
    broken: Vec<usize>,
}

impl PlainLines {
    fn new() -> Self {
        let checker = RuleChecker::new(Backend::best());
        Self { checker, puzzles: vec![[0; 81]; MANY], broken: Vec::new() }
    }

    /// Checks the plain lines that come next, up to [`MANY`]; false if there is none. `puzzle` is
    /// scratch space.
    fn validate(
        &mut self,
        records: &mut Records<'_>,
        puzzle: &mut Grid,
        limit: usize,
        found: &mut Validation,
    ) -> bool {
        let first_line = records.line();
        let count = records.read_plain_9x9(self.puzzles.as_flattened_mut());
        let puzzles = &self.puzzles[..count];
        self.broken.clear();
        if count < FEW {
            self.broken.extend((0..count).filter(|&at| !keeps_rules_9x9(&puzzles[at])));
        } else {
            self.checker.find_broken(puzzles, &mut self.broken);
        }
        found.puzzles += count as u64;
        for &at in &self.broken {
            puzzle.set_digits(&puzzles[at]);
            found.add_bad(puzzle, first_line + at as u64, None, limit);
        }
        count > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Alphabet, Notation};

    /// What is found puzzle by puzzle.
    fn one_by_one(format: &Format, text: &str, limit: usize) -> Validation {
        let mut found = Validation::default();
        let mut records = Records::new(format, text.as_bytes(), 1);
        let mut puzzle = Grid::empty(format.order());
        while let Some(record) = records.read(&mut puzzle) {
            found.puzzles += 1;
            let line = Some(record.line);
            // A puzzle that could not be read has no digits.
            let broken = || puzzle.conflicts().next().map(Problem::RuleBroken);
            let error = record.error.or_else(|| Some(PuzzleError { problem: broken()?, line }));
            if let Some(error) = error {
                found.bad += 1;
                found.errors.extend((found.errors.len() < limit).then_some(error));
            }
        }
        found
    }

    #[test]
    fn many_lines_are_checked_as_one_by_one() {
        check_many_lines(Alphabet::Letters, "123456789");
        check_many_lines("ABCDEFGHI".parse().unwrap(), "ABCDEFGHI");
    }

    /// `symbols` are those of the alphabet.
    fn check_many_lines(alphabet: Alphabet, symbols: &str) {
        let format = Format::new(Notation::Lines, Order::NINE, alphabet).unwrap();
        let symbol = |c: char| match c.to_digit(10) {
            Some(digit @ 1..) => symbols[digit as usize - 1..].chars().next().unwrap(),
            _ => c,
        };
        let good = "1........2........3........4........5........6........7........8........9........";
        let broken = good.replacen("2.", "21", 1).replacen("1.", "11", 1);
        let odd = [
            broken.clone(),
            format!("{broken} # a comment"),
            format!("{good} # a comment"),
            "# nothing".to_owned(),
            String::new(),
            "12".to_owned(),
            good.replace('9', "y"),
            good.replace('.', "0"),
            format!("{good}\r"),
        ]
        .map(|line| line.chars().map(symbol).collect::<String>());
        let good = good.chars().map(symbol).collect::<String>();
        // As many good lines between two others as are checked one by one, at once, and in parts.
        for gap in [0, 1, FEW - 1, FEW, MANY - 1, MANY, MANY + 1, 2 * MANY + FEW] {
            let mut lines = Vec::new();
            for odd in &odd {
                lines.extend(std::iter::repeat_n(good.as_str(), gap));
                lines.push(odd);
            }
            for end in ["", "\n"] {
                let text = lines.join("\n") + end;
                let block = Block { text: text.as_bytes(), first_line: 1 };
                for limit in [0, 2, usize::MAX] {
                    let wanted = one_by_one(&format, &text, limit);
                    assert_eq!(validate_block(&format, block, limit), wanted, "gaps of {gap}, {limit}");
                    assert_eq!(wanted.bad, 4, "gaps of {gap}");
                }
            }
        }
    }
}
