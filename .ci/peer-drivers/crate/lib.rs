//! Driver for the crate `sudoku`.

use std::cell::RefCell;

use sudoku::Sudoku;

#[repr(C)]
pub struct Answers {
    text: *const u8,
    bytes: usize,
}

thread_local!(static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) });

/// Answers puzzles of 81 characters, 82 bytes apart.
///
/// # Safety
/// `text` has as many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn answer(text: *const u8, puzzles: usize, limit: usize) -> Answers {
    let text = unsafe { std::slice::from_raw_parts(text, puzzles * 82) };
    ROOM.with_borrow_mut(|room| {
        room.clear();
        for line in text.chunks_exact(82) {
            let puzzle =
                std::str::from_utf8(&line[..81]).ok().and_then(|line| Sudoku::from_str_line(line).ok());
            let mut first = [[0; 81]];
            match puzzle.map(|puzzle| puzzle.solutions_up_to_buffer(&mut first, limit)) {
                Some(1) => room.extend(first[0].map(|digit| b'0' + digit)),
                Some(count) => room.push(b'0' + count as u8),
                None => room.push(b'?'),
            }
            room.push(b'\n');
        }
        Answers { text: room.as_ptr(), bytes: room.len() }
    })
}
