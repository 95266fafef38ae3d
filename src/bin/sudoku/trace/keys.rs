//! The keys of a trace, decoded from the bytes that a terminal sends.

/// A key that a trace knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaybackKey {
    /// Pauses, or goes on.
    Pause,
    /// One step forward.
    Forward,
    /// One step back.
    Back,
    Faster,
    Slower,
    /// Draws everything again.
    Redraw,
    End,
}

const ESCAPE: u8 = 0x1b;

/// Takes the next key off the front of `bytes`, and drops what is no key before it. `None` if there
/// is none, or only the beginning of one.
///
/// Terminals send Esc as the byte that begins arrow keys, so by itself it is a key only if nothing
/// can follow it, `is_whole`.
pub fn next(bytes: &mut Vec<u8>, is_whole: bool) -> Option<PlaybackKey> {
    while !bytes.is_empty() {
        let (key, length) = match first(bytes) {
            First::Key(key, length) => (key, length),
            First::Begun if is_whole => (None, bytes.len()),
            First::Escape if is_whole => (Some(PlaybackKey::End), 1),
            First::Begun | First::Escape => return None,
        };
        bytes.drain(..length);
        if key.is_some() {
            return key;
        }
    }
    None
}

/// What some bytes begin with.
enum First {
    /// A key, known or not, of this many bytes.
    Key(Option<PlaybackKey>, usize),
    /// A part of a longer one.
    Begun,
    /// The byte of Esc and nothing more.
    Escape,
}

fn first(bytes: &[u8]) -> First {
    match bytes {
        [ESCAPE] => First::Escape,
        // Arrows, as terminals send them by default and in application mode; with Shift and the
        // like there are parameters before the letter.
        [ESCAPE, b'[' | b'O', rest @ ..] => match rest.iter().position(|byte| (0x40..=0x7e).contains(byte)) {
            Some(at) => First::Key(arrow(rest[at]), at + 3),
            None => First::Begun,
        },
        // Alt with a key.
        [ESCAPE, ..] => First::Key(None, 2),
        [byte, ..] => First::Key(typed(*byte), 1),
        [] => First::Begun,
    }
}

const fn arrow(letter: u8) -> Option<PlaybackKey> {
    match letter {
        b'A' => Some(PlaybackKey::Faster),
        b'B' => Some(PlaybackKey::Slower),
        b'C' => Some(PlaybackKey::Forward),
        b'D' => Some(PlaybackKey::Back),
        _ => None,
    }
}

const fn typed(byte: u8) -> Option<PlaybackKey> {
    const CTRL_C: u8 = 0x03;
    const CTRL_D: u8 = 0x04;
    const CTRL_L: u8 = 0x0c;
    match byte {
        b' ' => Some(PlaybackKey::Pause),
        b'.' | b'>' => Some(PlaybackKey::Forward),
        b',' | b'<' => Some(PlaybackKey::Back),
        // The second of each is on the same key without Shift.
        b'+' | b'=' => Some(PlaybackKey::Faster),
        b'-' | b'_' => Some(PlaybackKey::Slower),
        CTRL_L => Some(PlaybackKey::Redraw),
        b'q' | b'Q' | CTRL_C | CTRL_D => Some(PlaybackKey::End),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8], is_whole: bool) -> (Vec<PlaybackKey>, Vec<u8>) {
        let mut bytes = bytes.to_vec();
        let mut keys = Vec::new();
        while let Some(key) = next(&mut bytes, is_whole) {
            keys.push(key);
        }
        (keys, bytes)
    }

    #[test]
    fn keys_are_decoded_and_others_dropped() {
        use PlaybackKey::{Back, End, Faster, Forward, Pause, Redraw, Slower};
        let all = [Pause, Forward, Back, Faster, Faster, Slower, Redraw, End];
        assert_eq!(keys(b" .x,+=-\x0cq", false), (all.to_vec(), vec![]));
        let arrows = b"\x1b[A\x1b[B\x1b[C\x1b[D\x1bOC\x1b[1;2D";
        assert_eq!(keys(arrows, false), (vec![Faster, Slower, Forward, Back, Forward, Back], vec![]));
        // Function keys, Alt and letters beyond ASCII mean nothing.
        assert_eq!(keys("\x1b[15~\x1bqé.".as_bytes(), false), (vec![Forward], vec![]));
    }

    #[test]
    fn an_escape_by_itself_is_a_key_only_when_nothing_follows() {
        assert_eq!(keys(b"\x1b", false), (vec![], b"\x1b".to_vec()));
        assert_eq!(keys(b"\x1b", true), (vec![PlaybackKey::End], vec![]));
        assert_eq!(keys(b".\x1b[1;", false), (vec![PlaybackKey::Forward], b"\x1b[1;".to_vec()));
        assert_eq!(keys(b"\x1b[1;", true), (vec![], vec![]));
    }
}
