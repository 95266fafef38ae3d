//! The block queue: the blocks of a run, in order, from when they are read until their answers are
//! written.
//!
//! A block is waiting, sent to one server, or answered. When a server is lost, its unanswered
//! blocks wait again.
//!
//! **Invariant:** only the oldest block leaves the queue, and only answered. So no answer is lost,
//! repeated or overtaken, whatever happens to servers.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use bytes::Bytes;
use tokio::sync::Notify;

use crate::answer::Tally;
use crate::poison::IgnorePoison as _;
use crate::service::wire::line_count::count_lines;

/// The most blocks in the queue. This is how far other servers get ahead of a slow one.
const MAX_BLOCKS: usize = 256;

/// The bytes of blocks and answers at which no further block is added.
const MAX_BYTES: usize = 32 << 20;

/// The most blocks that wait for a server. A server with capacity must find the next one at once;
/// more would only leave the cache.
const MAX_WAITING: usize = 2;

/// A block of lines.
#[derive(Clone, Debug)]
pub(crate) struct LineBlock {
    pub(crate) lines: Bytes,
    /// The number of the first of them, from 1.
    pub(crate) first_line: u64,
}

/// The answers to a block.
#[derive(Debug, Default)]
pub(crate) struct BlockAnswers {
    pub(crate) lines: Bytes,
    pub(crate) tally: Tally,
}

/// The state of one block.
#[derive(Debug)]
enum BlockState {
    Waiting(LineBlock),
    /// Sent to the server with this number, and not answered.
    Sent(LineBlock, usize),
    Answered(BlockAnswers),
}

/// The blocks of the queue.
#[derive(Debug)]
struct Blocks {
    entries: VecDeque<BlockState>,
    /// The number of the first entry. Blocks are numbered from 0.
    first: u64,
    next_line: u64,
    waiting: usize,
    bytes: usize,
    /// Whether the last block has been added.
    is_complete: bool,
}

impl Blocks {
    fn is_over(&self) -> bool {
        self.is_complete && self.entries.is_empty()
    }

    /// Whether all blocks are answered, be the answers written or not.
    fn is_answered(&self) -> bool {
        self.is_complete && self.entries.iter().all(|entry| matches!(entry, BlockState::Answered(_)))
    }

    fn has_capacity(&self) -> bool {
        // An empty queue takes a block of any size.
        let is_light = self.bytes < MAX_BYTES || self.entries.is_empty();
        self.entries.len() < MAX_BLOCKS && self.waiting < MAX_WAITING && is_light
    }

    fn entry(&mut self, number: u64) -> Option<&mut BlockState> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.entries.get_mut(index)
    }
}

/// The queue, shared by the task that reads and writes and the workers of the servers.
#[derive(Debug)]
pub(crate) struct BlockQueue {
    blocks: Mutex<Blocks>,
    changed: Notify,
}

impl BlockQueue {
    /// An empty queue for blocks that begin with line `first_line`.
    pub(crate) fn new(first_line: u64) -> Self {
        let blocks = Blocks {
            entries: VecDeque::new(),
            first: 0,
            next_line: first_line,
            waiting: 0,
            bytes: 0,
            is_complete: false,
        };
        Self { blocks: Mutex::new(blocks), changed: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().ignore_poison()
    }

    /// Changes the queue, and wakes all waiting tasks.
    fn change<T>(&self, change: impl FnOnce(&mut Blocks) -> T) -> T {
        let result = change(&mut self.lock());
        self.changed.notify_waiters();
        result
    }

    /// Looks again whenever the queue has changed, until something is found. Cancel-safe.
    async fn wait_for<T>(&self, mut look: impl FnMut(&mut Blocks) -> Option<T>) -> T {
        loop {
            // Registered before looking, so no change is missed.
            let changed = self.changed.notified();
            let found = look(&mut self.lock());
            if let Some(found) = found {
                return found;
            }
            changed.await;
        }
    }

    /// Waits until a block may be added.
    pub(crate) async fn wait_for_capacity(&self) {
        self.wait_for(|blocks| blocks.has_capacity().then_some(())).await;
    }

    /// Adds a block behind all others.
    pub(crate) fn push(&self, lines: Bytes) {
        self.change(|blocks| {
            let first_line = blocks.next_line;
            blocks.next_line += count_lines(&lines) as u64;
            blocks.bytes += lines.len();
            blocks.waiting += 1;
            blocks.entries.push_back(BlockState::Waiting(LineBlock { lines, first_line }));
        });
    }

    /// Records that no further block is added.
    pub(crate) fn complete(&self) {
        self.change(|blocks| blocks.is_complete = true);
    }

    /// Waits for the answers to the oldest block, and removes it. `None` after the last.
    pub(crate) async fn oldest(&self) -> Option<BlockAnswers> {
        let taken = self.wait_for(|blocks| {
            if blocks.is_over() {
                return Some(None);
            }
            let answers = match blocks.entries.front_mut()? {
                BlockState::Answered(answers) => std::mem::take(answers),
                BlockState::Waiting(_) | BlockState::Sent(..) => return None,
            };
            blocks.entries.pop_front();
            blocks.first += 1;
            blocks.bytes -= answers.lines.len();
            Some(Some(answers))
        });
        let taken = taken.await;
        self.changed.notify_waiters();
        taken
    }

    /// Waits for the oldest waiting block, and assigns it to a server. `None` only when all blocks
    /// are answered, because until then one may come back from another server.
    pub(crate) async fn take(&self, server: usize) -> Option<(u64, LineBlock)> {
        let taken = self.wait_for(|blocks| {
            if blocks.is_answered() {
                return Some(None);
            }
            let number = blocks.entries.iter().position(|entry| matches!(entry, BlockState::Waiting(_)))?;
            let entry = &mut blocks.entries[number];
            let BlockState::Waiting(block) = entry else { return None };
            let block = block.clone();
            *entry = BlockState::Sent(block.clone(), server);
            blocks.waiting -= 1;
            Some(Some((blocks.first + number as u64, block)))
        });
        let taken = taken.await;
        self.changed.notify_waiters();
        taken
    }

    /// Replaces a block that was sent by its answers.
    pub(crate) fn answer(&self, number: u64, answers: BlockAnswers) {
        self.change(|blocks| {
            let length = answers.lines.len();
            if let Some(entry) = blocks.entry(number)
                && let BlockState::Sent(block, _) = entry
            {
                let asked = block.lines.len();
                *entry = BlockState::Answered(answers);
                blocks.bytes = blocks.bytes - asked + length;
            }
        });
    }

    /// Makes the unanswered blocks of a server wait again.
    pub(crate) fn give_back(&self, server: usize) {
        self.change(|blocks| {
            for entry in &mut blocks.entries {
                if let BlockState::Sent(block, by) = entry
                    && *by == server
                {
                    *entry = BlockState::Waiting(block.clone());
                    blocks.waiting += 1;
                }
            }
        });
    }

    /// Waits until all blocks are answered.
    pub(crate) async fn answered(&self) {
        self.wait_for(|blocks| blocks.is_answered().then_some(())).await;
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// The value of a future that is ready at once.
    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    fn answers(text: &'static str) -> BlockAnswers {
        BlockAnswers { lines: Bytes::from_static(text.as_bytes()), tally: Tally::default() }
    }

    fn taken(queue: &BlockQueue, server: usize) -> (u64, u64) {
        let (number, block) = now(queue.take(server)).unwrap().unwrap();
        (number, block.first_line)
    }

    fn oldest(queue: &BlockQueue) -> Option<String> {
        now(queue.oldest())
            .map(|answers| answers.map_or("the end".into(), |a| String::from_utf8(a.lines.into()).unwrap()))
    }

    #[test]
    fn answers_come_out_in_order_and_blocks_are_given_back() {
        let queue = BlockQueue::new(5);
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
        let queue = BlockQueue::new(1);
        let mut pushed = 0;
        let mut fill = |lines: &Bytes, may_take: bool| {
            while now(queue.wait_for_capacity()).is_some() {
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
        // Servers with capacity take more, up to the bound of the whole.
        taken(&queue, 0);
        assert_eq!(fill(&line, true), MAX_BLOCKS);
        queue.answer(0, answers("an answer"));
        assert!(now(queue.wait_for_capacity()).is_none());
        assert_eq!(oldest(&queue).as_deref(), Some("an answer"));
        assert!(now(queue.wait_for_capacity()).is_some());
    }

    #[test]
    fn large_blocks_count_by_their_bytes() {
        let queue = BlockQueue::new(1);
        let large = Bytes::from(vec![b'\n'; MAX_BYTES + 1]);
        assert!(now(queue.wait_for_capacity()).is_some());
        queue.push(large);
        assert!(now(queue.wait_for_capacity()).is_none());
        let (number, _) = taken(&queue, 0);
        queue.answer(number, answers("small"));
        assert!(now(queue.wait_for_capacity()).is_some());
        assert_eq!(taken_after_push(&queue), MAX_BYTES as u64 + 2);
    }

    fn taken_after_push(queue: &BlockQueue) -> u64 {
        queue.push(Bytes::from_static(b"1\n"));
        taken(queue, 0).1
    }
}
