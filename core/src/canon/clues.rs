//! The least form of clues: of all disguises of a puzzle the one with the least text, a blank before
//! any digit. This is what gsf's program and gridchecker call minlex.
//!
//! The disguise is built row by row. A [`State`] is a choice of rows so far, with as much of the
//! order of stacks, columns and labels as these rows decide: stacks and columns that have been blank
//! so far are in no order yet, and a label is given where its digit first appears. Of all states
//! those with the least next row go on, so no row is looked at twice, and as few states are kept as
//! there are ways to the least beginning.
//!
//! The text of a next row does not depend on how ties are broken: in a minirow blanks come first,
//! then labelled digits, then new ones; stacks without an order come by their text. Only new digits
//! in columns, or stacks, that are still equal make several states of one.

use super::way::{GridCells, ORDER_COUNTS, ORDERS, Way, sides};

/// What stands for a digit without a label in the text of a minirow, greater than any label.
const NEW: u8 = 10;

/// A beginning of a disguise.
#[derive(Clone, Copy)]
struct State {
    side: u8,
    /// The rows chosen, and after them unspecified ones.
    rows: [u8; 9],
    columns: [u8; 9],
    /// The label of each digit, 0 if it has none, by the digit; that of a blank is 0.
    labels: [u8; 16],
    /// The labels given.
    labelled: u8,
    /// The first stacks, so many, are in no order: they were blank in all rows.
    free_stacks: u8,
    /// The first columns, so many, of each stack are in no order, by the place of the stack.
    free_columns: [u8; 3],
    /// The number of beginnings that it stands for, because blank rows are alike.
    count: u32,
}

impl State {
    const fn start(side: u8) -> Self {
        Self {
            side,
            rows: [0; 9],
            columns: [0, 1, 2, 3, 4, 5, 6, 7, 8],
            labels: [0; 16],
            labelled: 0,
            free_stacks: 3,
            free_columns: [3; 3],
            count: 1,
        }
    }

    /// The label of a digit, or [`NEW`].
    fn label(&self, digit: u8) -> u8 {
        match self.labels[usize::from(digit & 15)] {
            0 if digit != 0 => NEW,
            label => label,
        }
    }

    /// The least text of the minirow of the stack at this place, with [`NEW`] for new digits.
    fn minirow(&self, row: &[u8; 9], place: usize) -> [u8; 3] {
        let mut text: [u8; 3] =
            std::array::from_fn(|k| self.label(row[usize::from(self.columns[3 * place + k])]));
        let free = usize::from(self.free_columns[place]);
        if free > 1 && text[0] > text[1] {
            text.swap(0, 1);
        }
        if free > 2 && text[1] > text[2] {
            text.swap(1, 2);
            if text[0] > text[1] {
                text.swap(0, 1);
            }
        }
        text
    }

    /// The least text of a row, four bits a cell.
    fn text(&self, row: &[u8; 9]) -> u64 {
        let mut minirows: [[u8; 3]; 3] = std::array::from_fn(|place| self.minirow(row, place));
        if self.free_stacks > 1 {
            minirows[..usize::from(self.free_stacks)].sort_unstable();
        }
        let mut last = u64::from(self.labelled);
        minirows.as_flattened().iter().fold(0, |text, &label| {
            let is_new = u64::from(label == NEW);
            last += is_new;
            text << 4 | if is_new == 1 { last } else { u64::from(label) }
        })
    }

    /// Appends all states in which `row` is the next one with its least text.
    fn follow(&self, row: &[u8; 9], states: &mut Vec<Self>) {
        let free = usize::from(self.free_stacks);
        if free < 2 {
            return self.follow_minirow(row, 0, states);
        }
        let mut order: [([u8; 3], usize); 3] = std::array::from_fn(|place| (self.minirow(row, place), place));
        order[..free].sort_unstable();
        // Blank ones stay in no order.
        let blanks = order[..free].iter().filter(|(text, _)| *text == [0; 3]).count();
        // Those with equal texts are next to each other.
        let mut begin = blanks;
        let mut equal = blanks..blanks;
        while begin < free {
            let run = order[begin..free].iter().take_while(|(text, _)| *text == order[begin].0).count();
            if run > equal.len() {
                equal = begin..begin + run;
            }
            begin += run;
        }
        for ties in &ORDERS[..ORDER_COUNTS[equal.len()]] {
            let mut places = order.map(|(_, place)| place);
            for (place, &tie) in places[equal.clone()].iter_mut().zip(ties) {
                *place = order[equal.start + tie].1;
            }
            let mut state = *self;
            for (to, &from) in places.iter().enumerate() {
                state.columns[3 * to..3 * to + 3].copy_from_slice(&self.columns[3 * from..3 * from + 3]);
            }
            #[expect(clippy::cast_possible_truncation, reason = "three stacks")]
            {
                state.free_stacks = blanks as u8;
            }
            state.follow_minirow(row, 0, states);
        }
    }

    /// [`Self::follow`] from the stack at this place on, the stacks being in order.
    fn follow_minirow(&self, row: &[u8; 9], place: usize, states: &mut Vec<Self>) {
        if place == 3 {
            states.push(*self);
            return;
        }
        let begin = 3 * place;
        let digit = |column: u8| row[usize::from(column)];
        let mut state = *self;
        if self.columns[begin..begin + 3].iter().all(|&column| digit(column) == 0) {
            return state.follow_minirow(row, place + 1, states);
        }
        let free = usize::from(self.free_columns[place]);
        state.columns[begin..begin + free].sort_by_key(|&column| self.label(digit(column)));
        let texts: [u8; 3] = std::array::from_fn(|k| self.label(digit(state.columns[begin + k])));
        // Sorted, so that blanks are in front and new digits behind.
        let blanks = texts[..free].partition_point(|&text| text == 0);
        let new = free - texts[..free].partition_point(|&text| text < NEW);
        #[expect(clippy::cast_possible_truncation, reason = "three columns")]
        {
            state.free_columns[place] = blanks as u8;
        }
        let sorted = state.columns;
        for ties in &ORDERS[..ORDER_COUNTS[new]] {
            let first_new = begin + free - new;
            for (to, &tie) in ties.iter().enumerate().take(new) {
                state.columns[first_new + to] = sorted[first_new + tie];
            }
            let mut next = state;
            for (k, &text) in texts.iter().enumerate() {
                if text == NEW {
                    next.labelled += 1;
                    next.labels[usize::from(digit(next.columns[begin + k]) & 15)] = next.labelled;
                }
            }
            next.follow_minirow(row, place + 1, states);
        }
    }

    /// The number of disguises that the state stands for: orders of what is still in no order.
    fn disguises(&self) -> u64 {
        const FACTORIALS: [u64; 4] = [1, 1, 2, 6];
        let columns = self.free_columns.iter().map(|&free| FACTORIALS[usize::from(free)]);
        u64::from(self.count) * FACTORIALS[usize::from(self.free_stacks)] * columns.product::<u64>()
    }

    fn way(&self) -> Way {
        let mut labels: [u8; 9] = std::array::from_fn(|digit| self.labels[digit + 1]);
        // Digits that are no clue get what is left, in order.
        let mut last = self.labelled;
        for label in &mut labels {
            if *label == 0 {
                last += 1;
                *label = last;
            }
            *label -= 1;
        }
        Way { transposes: self.side == 1, rows: self.rows, columns: self.columns, labels }
    }
}

/// The search for the least form of clues, with memory for many of them.
#[derive(Default)]
pub(super) struct ClueSearch {
    states: Vec<State>,
    next: Vec<State>,
    /// The next rows of the least text: the state, the row and how many blank rows it stands for.
    chosen: Vec<(usize, u8, u32)>,
}

impl ClueSearch {
    /// A way to the least form, and the number of ways, not counting what digits that are no clue
    /// become: the number of automorphisms.
    pub(super) fn least(&mut self, clues: &GridCells) -> (Way, u64) {
        let sides = sides(clues);
        let blank_rows = sides.map(|side| {
            side.iter()
                .enumerate()
                .filter(|(_, row)| **row == [0; 9])
                .fold(0_u16, |set, (row, _)| set | 1 << row)
        });
        self.states.clear();
        self.states.extend([State::start(0), State::start(1)]);
        for place in 0..9 {
            self.choose(&sides, blank_rows, place);
            self.next.clear();
            for &(state, row, alike) in &self.chosen {
                let mut state = self.states[state];
                state.rows[place] = row;
                state.count *= alike;
                state.follow(&sides[usize::from(state.side)][usize::from(row)], &mut self.next);
            }
            std::mem::swap(&mut self.states, &mut self.next);
        }
        let count = self.states.iter().map(State::disguises).sum();
        (self.states[0].way(), count)
    }

    /// Finds the rows with the least text that can stand at `place`.
    fn choose(&mut self, sides: &[[[u8; 9]; 9]; 2], blank_rows: [u16; 2], place: usize) {
        self.chosen.clear();
        let mut least = u64::MAX;
        for (index, state) in self.states.iter().enumerate() {
            let side = usize::from(state.side);
            let used = state.rows[..place].iter().fold(0_u16, |set, &row| set | 1 << row);
            // The rest of the band that was begun, or all bands that were not.
            let choices = if place.is_multiple_of(3) {
                !used & 0o777
            } else {
                (0o7 << (state.rows[place - 1] / 3 * 3)) & !used
            };
            let mut blank = choices & blank_rows[side];
            if blank != 0 {
                if least > 0 {
                    least = 0;
                    self.chosen.clear();
                }
                // Blank rows of a band are alike, and so are blank bands.
                while blank != 0 {
                    let row = blank.trailing_zeros();
                    let band = 0o7 << (row / 3 * 3);
                    let mut alike = blank & band;
                    if alike == band && place.is_multiple_of(3) {
                        alike = (0..3).map(|k| 0o7 << (3 * k)).filter(|&band| blank & band == band).sum();
                    }
                    #[expect(clippy::cast_possible_truncation, reason = "a row")]
                    self.chosen.push((index, row as u8, alike.count_ones()));
                    blank &= !alike;
                }
                continue;
            }
            if least == 0 {
                continue;
            }
            let mut left = choices;
            while left != 0 {
                let row = left.trailing_zeros() as usize;
                left &= left - 1;
                let text = state.text(&sides[side][row]);
                if text < least {
                    least = text;
                    self.chosen.clear();
                }
                if text == least {
                    #[expect(clippy::cast_possible_truncation, reason = "a row")]
                    self.chosen.push((index, row as u8, 1));
                }
            }
        }
    }
}
