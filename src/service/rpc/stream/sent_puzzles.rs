//! The puzzles of messages that have one in each entry.

use bytes::Bytes;
use tonic::Status;

use crate::answer::Entries;
use crate::service::rpc::options::unreadable;
use crate::service::wire::status::invalid;
use crate::text::{Format, FormatError, Hint, Notation, SAMPLE_BYTES, detect};

/// The puzzles of a message, or of several consecutive ones.
pub(super) struct SentPuzzles {
    /// Copies, so that messages are freed on the thread that received them: sharing their memory with
    /// the worker threads would cost more.
    pub(super) puzzles: Entries,
    pub(super) first_line: u64,
    pub(super) messages: Vec<PuzzlesMessage>,
}

/// A message whose puzzles have been taken out.
#[derive(Clone, Copy)]
pub(super) struct PuzzlesMessage {
    pub(super) batch_id: u64,
    /// The number of its puzzles.
    pub(super) puzzles: usize,
}

impl SentPuzzles {
    /// The puzzles of one message.
    pub(super) fn new(first_line: u64, batch_id: u64, puzzles: &[Bytes]) -> Self {
        let mut sent = Self { puzzles: Entries::default(), first_line, messages: Vec::new() };
        sent.add(batch_id, puzzles);
        sent
    }

    /// Adds the next message.
    pub(super) fn add(&mut self, batch_id: u64, puzzles: &[Bytes]) {
        for puzzle in puzzles {
            self.puzzles.push(puzzle);
        }
        self.messages.push(PuzzlesMessage { batch_id, puzzles: puzzles.len() });
    }

    /// The number of each puzzle.
    pub(super) fn lines(&self) -> impl Iterator<Item = u64> + use<> {
        (self.first_line..).take(self.puzzles.len())
    }

    /// Each message by itself; `None` if there is only one.
    pub(super) fn split(&self) -> Option<Vec<Self>> {
        if self.messages.len() == 1 {
            return None;
        }
        let mut first = 0;
        let each = self.messages.iter().map(|&message| {
            let begin = first;
            first += message.puzzles;
            Self {
                puzzles: self.puzzles.part(begin..first),
                first_line: self.first_line + begin as u64,
                messages: vec![message],
            }
        });
        Some(each.collect())
    }
}

/// Whether all entries are blank. They must not fix the format of the puzzles that follow.
pub(super) fn are_blank(puzzles: &[Bytes]) -> bool {
    puzzles.iter().all(|puzzle| puzzle.trim_ascii().is_empty())
}

/// The format of the puzzles of a message.
pub(super) fn format_of(puzzles: &[Bytes], hint: &Hint, method: &str) -> Result<Format, Status> {
    let unreadable = |error: FormatError| unreadable(&error, "puzzles");
    let is_strict = match hint.notation {
        None | Some(Notation::Lines) => false,
        Some(Notation::Header) => true,
        Some(other) => {
            let what = format!("{method} takes one puzzle an entry, which {other} is not. Use lines.");
            return Err(invalid("options.notation", what));
        }
    };
    let mut sample = Vec::new();
    for puzzle in puzzles {
        let capacity = SAMPLE_BYTES - sample.len();
        if puzzle.len() >= capacity {
            break;
        }
        sample.extend_from_slice(puzzle);
        sample.push(b'\n');
    }
    let as_lines = Hint { notation: Some(Notation::Lines), ..hint.clone() };
    let format = detect(&sample, &as_lines).map_err(unreadable)?.format;
    if is_strict {
        // Entries have no header line, so the order comes from the puzzles themselves.
        return Format::new(Notation::Header, format.order(), format.alphabet().clone()).map_err(unreadable);
    }
    Ok(format)
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;
    use crate::grid::Order;
    use crate::text::Alphabet;

    #[test]
    fn the_first_message_says_how_puzzles_are_written() {
        let format = |puzzles: &[&str]| {
            let puzzles: Vec<_> = puzzles.iter().map(|p| Bytes::copy_from_slice(p.as_bytes())).collect();
            format_of(&puzzles, &Hint::default(), "SolveStream").unwrap().order()
        };
        assert_eq!(format(&["", "12.4............"]), Order::ALL[1]);
        assert_eq!(format(&[&".".repeat(256)]), Order::ALL[3]);
        assert_eq!(format(&["nonsense"]), Order::NINE);
        assert_eq!(format(&[]), Order::NINE);
    }

    #[test]
    fn puzzles_that_fit_two_alphabets_are_refused() {
        let puzzles = [Bytes::from(format!("F0{}", ".".repeat(254)))];
        let status = format_of(&puzzles, &Hint::default(), "SolveStream").unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(
            status.message().ends_with("Say which with options.alphabet: hex or letters."),
            "{}",
            status.message()
        );
        let hint = Hint { alphabet: Some(Alphabet::Hex), ..Hint::default() };
        assert_eq!(format_of(&puzzles, &hint, "SolveStream").unwrap().alphabet(), &Alphabet::Hex);
    }

    #[test]
    fn notations_of_several_lines_are_refused() {
        let hint = Hint { notation: Some(Notation::Grid), ..Hint::default() };
        assert_eq!(format_of(&[], &hint, "SolveStream").unwrap_err().code(), Code::InvalidArgument);
    }
}
