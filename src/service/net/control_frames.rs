//! Control frames of HTTP/2: how many of them a client may send beside its calls.
//!
//! PING, SETTINGS, PRIORITY, `RST_STREAM`, `WINDOW_UPDATE`, empty DATA and frames that nobody knows cost
//! a client next to nothing, and a thread that answers them answers nobody else meanwhile. So each takes
//! from an allowance, to which calls and their answers add, and time.
//!
//! **Invariant:** what a client sends beyond its allowance is not read: its connection ends.

use std::time::Instant;

use crate::service::net::handle::ConnectionHandle;

/// The most frames of an allowance, which it begins with.
const MOST: i64 = 500;

/// The frames that a second adds.
const EACH_SECOND: i64 = 100;

/// The frames that a frame of a request adds, with headers or data: a ping that measures, the reset.
const FOR_REQUEST: i64 = 2;

/// The frames that a frame of an answer adds: room in two windows, and a ping that measures.
const FOR_ANSWER: i64 = 4;

/// The length of the head of a frame.
const HEAD_BYTES: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const END_STREAM: u8 = 1;

/// The frames of a client as they come, and its allowance.
#[derive(Debug)]
pub(super) struct ReceivedFrames {
    /// The head of the current frame, as far as it has come.
    head: [u8; HEAD_BYTES],
    have: usize,
    /// The bytes until the next head.
    rest: usize,
    left: i64,
    /// When time has added to it last.
    added_at: Instant,
}

impl ReceivedFrames {
    /// The frames behind so many bytes.
    pub(super) fn behind(bytes: usize) -> Self {
        Self { head: [0; HEAD_BYTES], have: 0, rest: bytes, left: MOST, added_at: Instant::now() }
    }

    /// Takes what comes next. Whether it is within the allowance.
    pub(super) fn pass(&mut self, mut bytes: &[u8], handle: &ConnectionHandle) -> bool {
        self.add(FOR_ANSWER.saturating_mul(handle.take_answer_frames()));
        loop {
            let passed = self.rest.min(bytes.len());
            self.rest -= passed;
            bytes = &bytes[passed..];
            if bytes.is_empty() {
                return self.left > 0 || self.has_time_added();
            }
            let taken = bytes.len().min(HEAD_BYTES - self.have);
            self.head[self.have..self.have + taken].copy_from_slice(&bytes[..taken]);
            self.have += taken;
            bytes = &bytes[taken..];
            if self.have == HEAD_BYTES {
                self.have = 0;
                self.frame();
            }
        }
    }

    /// Takes the head of a frame.
    fn frame(&mut self) {
        let [high, middle, low, kind, flags, ..] = self.head;
        self.rest = u32::from_be_bytes([0, high, middle, low]) as usize;
        match kind {
            HEADERS => self.add(FOR_REQUEST),
            DATA if self.rest > 0 || flags & END_STREAM != 0 => self.add(FOR_REQUEST),
            _ => self.left -= 1,
        }
    }

    fn add(&mut self, frames: i64) {
        self.left = self.left.saturating_add(frames).min(MOST);
    }

    /// Adds what the time since the last time has added. Whether anything is left then.
    fn has_time_added(&mut self) -> bool {
        let now = Instant::now();
        let millis = i64::try_from((now - self.added_at).as_millis()).unwrap_or(i64::MAX);
        self.added_at = now;
        self.add(EACH_SECOND.saturating_mul(millis) / 1000);
        self.left > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PING: u8 = 6;

    fn frame(kind: u8, length: usize) -> Vec<u8> {
        let head = u32::try_from(length).unwrap().to_be_bytes();
        [&head[1..], &[kind, 0, 0, 0, 0, 0], &vec![0xFF; length]].concat()
    }

    #[test]
    fn control_frames_take_from_what_calls_and_answers_add() {
        let most = usize::try_from(MOST).unwrap();
        for piece in [1, 8, 9, 10, 17, 1000, 1 << 20] {
            let handle = ConnectionHandle::default();
            let mut frames = ReceivedFrames::behind(20);
            let mut pass = |bytes: &[u8]| bytes.chunks(piece).all(|part| frames.pass(part, &handle));
            assert!(pass(&[0; 20]));
            // Each with a call or a piece of one.
            assert!(
                pass(&[frame(HEADERS, 30), frame(DATA, 70_000), frame(PING, 8)].concat().repeat(20)),
                "{piece}"
            );
            assert!(pass(&frame(PING, 8).repeat(most - 2)), "{piece}");
            handle.sent_answer_frame();
            assert!(pass(&frame(PING, 8).repeat(usize::try_from(FOR_ANSWER).unwrap() - 1)), "{piece}");
            // Time has added some since.
            assert!(!pass(&frame(DATA, 0).repeat(2 * most)), "{piece}");
        }
    }
}
