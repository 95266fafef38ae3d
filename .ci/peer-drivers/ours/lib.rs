//! Driver for this project: what `sudoku solve` does with a block of text, on the calling thread.

use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

use sudoku_core::answer::{Block, Task, Solvers};
use sudoku_core::grid::Order;
use sudoku_core::solver::Question;
use sudoku_core::text::{Alphabet, Format, Notation};

#[repr(C)]
pub struct Answers {
    text: *const u8,
    bytes: usize,
}

struct Driver {
    solvers: [Solvers; 2],
    room: Vec<u8>,
}

thread_local!(static DRIVER: RefCell<Driver> = RefCell::new(Driver::new()));

impl Driver {
    fn new() -> Self {
        let solvers = [Question::First, Question::Unique].map(|question| {
            let format =
                Format::new(Notation::Lines, Order::NINE, Alphabet::Letters).expect("letters fit 9x9");
            Solvers::new(format, Task { question, ..Task::default() })
        });
        Self { solvers, room: Vec::new() }
    }
}

/// Answers puzzles of 81 characters, 82 bytes apart.
///
/// # Safety
/// `text` has as many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn answer(text: *const u8, puzzles: usize, limit: usize) -> Answers {
    let text = unsafe { std::slice::from_raw_parts(text, puzzles * 82) };
    DRIVER.with_borrow_mut(|Driver { solvers, room }| {
        room.clear();
        let block = Block { text, first_line: 1 };
        let solvers = &solvers[usize::from(limit > 1)];
        let written = solvers.write_answers_into(block, &AtomicBool::new(false), std::mem::take(room));
        *room = written.expect("the flag is never raised").text;
        Answers { text: room.as_ptr(), bytes: room.len() }
    })
}
