//! Control frames of HTTP/2: how many of them a client may send beside its calls.
//!
//! PING, SETTINGS, PRIORITY, `RST_STREAM`, `WINDOW_UPDATE`, DATA without data and frames that nobody knows
//! cost a client next to nothing, and a thread that answers them answers nobody else meanwhile. So each
//! takes from an allowance, to which calls and their answers add, and time. Padding is no data.
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
const PADDED: u8 = 8;

/// The frames of a client as they come, and its allowance.
#[derive(Debug)]
pub(super) struct ReceivedFrames {
    /// The head of the current frame, as far as it has come, and the length of its padding if it is
    /// padded DATA.
    head: [u8; HEAD_BYTES + 1],
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
        Self { head: [0; HEAD_BYTES + 1], have: 0, rest: bytes, left: MOST, added_at: Instant::now() }
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
            let taken = bytes.len().min(self.head_bytes() - self.have);
            self.head[self.have..self.have + taken].copy_from_slice(&bytes[..taken]);
            self.have += taken;
            bytes = &bytes[taken..];
            if self.have == self.head_bytes() {
                self.frame();
            }
        }
    }

    /// The bytes of the current frame that are looked at, as far as that is known.
    fn head_bytes(&self) -> usize {
        let [high, middle, low, kind, flags, ..] = self.head;
        let has_head = self.have >= HEAD_BYTES;
        let is_padded = kind == DATA && flags & PADDED != 0 && [high, middle, low] != [0; 3];
        HEAD_BYTES + usize::from(has_head && is_padded)
    }

    /// Takes the head of a frame.
    fn frame(&mut self) {
        let [high, middle, low, kind, flags, .., padding] = self.head;
        let length = u32::from_be_bytes([0, high, middle, low]) as usize;
        self.rest = HEAD_BYTES + length - self.have;
        self.have = 0;
        let not_data = if flags & PADDED == 0 { 0 } else { 1 + usize::from(padding) };
        match kind {
            HEADERS => self.add(FOR_REQUEST),
            DATA if length > not_data || flags & END_STREAM != 0 => self.add(FOR_REQUEST),
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
        frame_of(kind, 0, &vec![0xFF; length])
    }

    /// DATA with so many bytes of data in front of its padding.
    fn padded(data: usize, padding: u8) -> Vec<u8> {
        frame_of(DATA, PADDED, &[vec![padding], vec![0xFF; data], vec![0; padding.into()]].concat())
    }

    fn frame_of(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let head = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&head[1..], &[kind, flags, 0, 0, 0, 0], payload].concat()
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

    #[test]
    fn padding_is_no_data() {
        let most = usize::try_from(MOST).unwrap();
        let handle = ConnectionHandle::default();
        for piece in [1, 8, 9, 10, 17, 1000, 1 << 20] {
            let pass = |frames: &mut ReceivedFrames, bytes: &[u8]| {
                bytes.chunks(piece).all(|part| frames.pass(part, &handle))
            };
            let mut frames = ReceivedFrames::behind(0);
            for padding in [0, 1, 255] {
                assert!(pass(&mut frames, &padded(0, padding).repeat(most - 1)), "{piece}, {padding}");
                assert!(pass(&mut frames, &padded(1, padding).repeat(most)), "{piece}, {padding}");
            }
            let last = frame_of(DATA, PADDED | END_STREAM, &[0]);
            assert!(pass(&mut frames, &last.repeat(2 * most)), "{piece}");
            // Frames behind padding are found.
            assert!(
                pass(&mut frames, &[padded(0, 3), frame(HEADERS, 30)].concat().repeat(2 * most)),
                "{piece}"
            );
            let too_much = [frame_of(DATA, PADDED, &[]), frame_of(DATA, PADDED, &[9; 5])];
            for empty in [padded(0, 0), padded(0, 255)].into_iter().chain(too_much) {
                let mut frames = ReceivedFrames::behind(0);
                // Time has added some since.
                assert!(!pass(&mut frames, &empty.repeat(2 * most)), "{piece}, {empty:?}");
            }
        }
    }
}
