//! The blocks of a run, in order, from the moment they are read until their answers are written.
//!
//! A block is waiting, asked of one server, or answered. A server that is lost gives back what it was asked: those blocks wait
//! again. Only the oldest block leaves the queue, and only answered. So nothing is lost, repeated or overtaken, whatever
//! happens to servers.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;

use crate::answer::Tally;
use crate::service::wire::line_count::count_lines;

/// The most blocks between the oldest without an answer and the newest. This is how far other servers get ahead of one that
/// is slow.
const MAX_BLOCKS: usize = 256;

/// When blocks and answers together hold as much, none is taken in.
const MAX_BYTES: usize = 32 << 20;

/// How many blocks wait for a server that has room. It must find the next at hand; more only grow cold in memory.
const MAX_WAITING: usize = 2;

/// Some lines of the input.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) lines: Bytes,
    /// The number of the first of them, from 1.
    pub(crate) first_line: u64,
}

/// What is written for a block.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    pub(crate) lines: Bytes,
    pub(crate) tally: Tally,
}

#[derive(Debug)]
enum Place {
    Waiting(Block),
    /// By which server it is being answered.
    Asked(Block, usize),
    Answered(Answers),
}

#[derive(Debug)]
struct State {
    places: VecDeque<Place>,
    /// The number of the first place. Blocks are numbered from 0.
    first: u64,
    next_line: u64,
    waiting: usize,
    bytes: usize,
    /// Has the last block been taken in?
    is_complete: bool,
}

impl State {
    fn is_over(&self) -> bool {
        self.is_complete && self.places.is_empty()
    }

    /// Are all answers at hand, written or not?
    fn is_answered(&self) -> bool {
        self.is_complete && self.places.iter().all(|place| matches!(place, Place::Answered(_)))
    }

    fn has_room(&self) -> bool {
        // One block finds room whatever its size.
        let is_light = self.bytes < MAX_BYTES || self.places.is_empty();
        self.places.len() < MAX_BLOCKS && self.waiting < MAX_WAITING && is_light
    }

    fn place(&mut self, number: u64) -> Option<&mut Place> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.places.get_mut(index)
    }
}

/// The queue, shared by the one who reads and writes and the lanes to the servers.
#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Notify,
}

impl Queue {
    /// An empty queue for blocks that begin with line `first_line`.
    pub(crate) fn new(first_line: u64) -> Self {
        let state = State {
            places: VecDeque::new(),
            first: 0,
            next_line: first_line,
            waiting: 0,
            bytes: 0,
            is_complete: false,
        };
        Self { state: Mutex::new(state), changed: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is made whole or not at all.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the queue, and tells all who wait.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.lock());
        self.changed.notify_waiters();
        result
    }

    /// Looks again whenever the queue has changed, until something is found. Nothing is lost if it is given up before.
    async fn wait_for<T>(&self, mut look: impl FnMut(&mut State) -> Option<T>) -> T {
        loop {
            // It counts changes from here on, so none slips by.
            let changed = self.changed.notified();
            let found = look(&mut self.lock());
            if let Some(found) = found {
                return found;
            }
            changed.await;
        }
    }

    /// Waits until a block may be added.
    pub(crate) async fn room(&self) {
        self.wait_for(|state| state.has_room().then_some(())).await;
    }

    /// Adds a block behind all others.
    pub(crate) fn push(&self, lines: Bytes) {
        self.change(|state| {
            let first_line = state.next_line;
            state.next_line += count_lines(&lines) as u64;
            state.bytes += lines.len();
            state.waiting += 1;
            state.places.push_back(Place::Waiting(Block { lines, first_line }));
        });
    }

    /// No block comes any more.
    pub(crate) fn complete(&self) {
        self.change(|state| state.is_complete = true);
    }

    /// Waits for the answers to the oldest block, and takes it out. `None` after the last.
    pub(crate) async fn oldest(&self) -> Option<Answers> {
        let taken = self.wait_for(|state| {
            if state.is_over() {
                return Some(None);
            }
            let answers = match state.places.front_mut()? {
                Place::Answered(answers) => std::mem::take(answers),
                Place::Waiting(_) | Place::Asked(..) => return None,
            };
            state.places.pop_front();
            state.first += 1;
            state.bytes -= answers.lines.len();
            Some(Some(answers))
        });
        let taken = taken.await;
        self.changed.notify_waiters();
        taken
    }

    /// Waits for a block that nobody is answering, the oldest of them, and gives it to a server. `None` when all have been
    /// answered: until then one may come back from another server.
    pub(crate) async fn take(&self, server: usize) -> Option<(u64, Block)> {
        let taken = self.wait_for(|state| {
            if state.is_answered() {
                return Some(None);
            }
            let number = state.places.iter().position(|place| matches!(place, Place::Waiting(_)))?;
            let place = &mut state.places[number];
            let Place::Waiting(block) = place else { return None };
            let block = block.clone();
            *place = Place::Asked(block.clone(), server);
            state.waiting -= 1;
            Some(Some((state.first + number as u64, block)))
        });
        let taken = taken.await;
        self.changed.notify_waiters();
        taken
    }

    /// Puts the answers to a block that a server has in its place.
    pub(crate) fn answer(&self, number: u64, answers: Answers) {
        self.change(|state| {
            let length = answers.lines.len();
            if let Some(place) = state.place(number)
                && let Place::Asked(block, _) = place
            {
                let asked = block.lines.len();
                *place = Place::Answered(answers);
                state.bytes = state.bytes - asked + length;
            }
        });
    }

    /// What a server has not answered waits again.
    pub(crate) fn give_back(&self, server: usize) {
        self.change(|state| {
            for place in &mut state.places {
                if let Place::Asked(block, by) = place
                    && *by == server
                {
                    *place = Place::Waiting(block.clone());
                    state.waiting += 1;
                }
            }
        });
    }

    /// Waits until all blocks have been answered.
    pub(crate) async fn answered(&self) {
        self.wait_for(|state| state.is_answered().then_some(())).await;
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// What is there at once.
    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    fn answers(text: &'static str) -> Answers {
        Answers { lines: Bytes::from_static(text.as_bytes()), tally: Tally::default() }
    }

    fn taken(queue: &Queue, server: usize) -> (u64, u64) {
        let (number, block) = now(queue.take(server)).unwrap().unwrap();
        (number, block.first_line)
    }

    fn oldest(queue: &Queue) -> Option<String> {
        now(queue.oldest())
            .map(|answers| answers.map_or("the end".into(), |a| String::from_utf8(a.lines.into()).unwrap()))
    }

    #[test]
    fn answers_come_out_in_order_and_blocks_are_given_back() {
        let queue = Queue::new(5);
        for lines in ["a\nb\n", "c\n", "d\n", "e"] {
            queue.push(Bytes::from_static(lines.as_bytes()));
        }
        assert_eq!((taken(&queue, 0), taken(&queue, 1), taken(&queue, 0)), ((0, 5), (1, 7), (2, 8)));
        queue.answer(1, answers("C"));
        assert_eq!(oldest(&queue), None);
        // The first server is lost before it has answered any of its two; the oldest goes first.
        queue.give_back(0);
        assert_eq!((taken(&queue, 1), taken(&queue, 2), taken(&queue, 2)), ((0, 5), (2, 8), (3, 9)));
        assert!(now(queue.take(0)).is_none());
        queue.answer(0, answers("AB"));
        assert_eq!(oldest(&queue).as_deref(), Some("AB"));
        assert_eq!(oldest(&queue).as_deref(), Some("C"));
        assert_eq!(oldest(&queue), None);
        queue.complete();
        // What is answered stays answered, and the end waits for what is not.
        queue.answer(3, answers("E"));
        queue.give_back(2);
        assert!(now(queue.answered()).is_none());
        assert_eq!(taken(&queue, 0), (2, 8));
        queue.answer(2, answers("D"));
        assert!(now(queue.answered()).is_some() && now(queue.take(1)).unwrap().is_none());
        let rest = [oldest(&queue), oldest(&queue), oldest(&queue)].map(Option::unwrap);
        assert_eq!(rest, ["D", "E", "the end"]);
    }

    #[test]
    fn it_takes_in_no_more_than_it_may_hold() {
        let queue = Queue::new(1);
        let mut pushed = 0;
        let mut fill = |lines: &Bytes, may_take: bool| {
            while now(queue.room()).is_some() {
                queue.push(lines.clone());
                pushed += 1;
                if may_take {
                    taken(&queue, 0);
                }
            }
            pushed
        };
        let line = Bytes::from_static(b"1\n");
        assert_eq!(fill(&line, false), MAX_WAITING);
        // Servers that have room take more, up to the bound of the whole.
        taken(&queue, 0);
        assert_eq!(fill(&line, true), MAX_BLOCKS);
        queue.answer(0, answers("an answer"));
        assert!(now(queue.room()).is_none());
        assert_eq!(oldest(&queue).as_deref(), Some("an answer"));
        assert!(now(queue.room()).is_some());
    }

    #[test]
    fn large_blocks_count_by_their_bytes() {
        let queue = Queue::new(1);
        let large = Bytes::from(vec![b'\n'; MAX_BYTES + 1]);
        assert!(now(queue.room()).is_some());
        queue.push(large);
        assert!(now(queue.room()).is_none());
        let (number, _) = taken(&queue, 0);
        queue.answer(number, answers("small"));
        assert!(now(queue.room()).is_some());
        assert_eq!(taken_after_push(&queue), MAX_BYTES as u64 + 2);
    }

    fn taken_after_push(queue: &Queue) -> u64 {
        queue.push(Bytes::from_static(b"1\n"));
        taken(queue, 0).1
    }
}
