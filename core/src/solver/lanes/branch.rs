//! Branching: where passes find nothing more, triads for all lanes at once, else a guess in each.
//!
//! A *triad* is a minirow or minicolumn with candidates of three digits only. They need all its
//! cells, so none of the three is elsewhere in its row or column. Fewer than three digits are a
//! contradiction. Conversely, a minirow or minicolumn is *full* if three digits have no other place
//! in its row or column: then no other digit is in it. More than three are a contradiction. Triads
//! are rare and cost more to find than what a pass infers, so they are only looked for here.
//!
//! The guess follows tdoku (T. Dillon, 2019): in the band or stack with the fewest possible
//! permutations over all its digits, the digit with the fewest. A minirow of it holds that digit,
//! or it does not.

use super::inference::{SlicedState, six_permutations};
use super::packing::{CANDIDATES, CandidateRow, ROW_PARTS};
use super::transpose::LaneRows;
use super::word::{Mask, Word};

/// Bands and stacks.
const BANDS: usize = 6;

/// The minirows of a band by `3 * row + box`, or the minicolumns of a stack by `3 * column + box`.
type BandMiniLines<W> = [W; 9];

/// Triads and guesses of all lanes at a stall.
pub(super) struct Branch<W> {
    /// The minirows and minicolumns that have a candidate, by digit and band or stack.
    lines: [[BandMiniLines<W>; BANDS]; 9],
    /// The number of possible permutations, three bits, by digit and band or stack.
    permutations: [[[W; 3]; BANDS]; 9],
    /// The lines from which a digit is ruled out if it is possible in the next line of the same
    /// row, and if in the one after it: because that one is a triad, or this one is full. By band
    /// or stack.
    owned: [[[W; 2]; 9]; BANDS],
    /// The lanes in which a triad or a full one rules something out.
    progress: W,
    /// The band or stack of the guess.
    band: [W; BANDS],
    guess: Guess<W>,
}

/// A guess in each lane.
struct Guess<W> {
    /// The digit.
    digit: [W; 9],
    /// The minirow or minicolumn that is guessed to hold the digit.
    line: BandMiniLines<W>,
    /// The lines that do not hold it if that one does.
    other_lines: BandMiniLines<W>,
}

impl<W: Word> Guess<W> {
    fn none() -> Self {
        let none = W::splat(0);
        Self { digit: [none; 9], line: [none; 9], other_lines: [none; 9] }
    }
}

/// The guess within the free bits of a row: one bit of nine for the digit, of six for the band or
/// stack, and of nine for the line.
const DIGIT_AT: usize = CANDIDATES % 64;
const BAND_AT: usize = DIGIT_AT + 9;
const LINE_AT: usize = BAND_AT + BANDS;

impl<W: Word> Branch<W> {
    pub(super) fn new() -> Box<Self> {
        let none = W::splat(0);
        Box::new(Self {
            lines: [[[none; 9]; BANDS]; 9],
            permutations: [[[none; 3]; BANDS]; 9],
            owned: [[[none; 2]; 9]; BANDS],
            progress: none,
            band: [none; BANDS],
            guess: Guess::none(),
        })
    }

    /// Finds triads in all lanes, and a guess in those of `stalled` where there are none. Returns
    /// the lanes with a guess. Lanes with a contradiction are no longer alive.
    #[inline(always)]
    pub(super) fn choose(&mut self, state: &mut SlicedState<W>, stalled: W) -> W {
        self.find_lines(state);
        self.progress = self.find_triads(state);
        let guessing = stalled.and(state.alive).and_not(self.progress);
        self.choose_band(guessing);
        let bands = [0, 1, 2, 3, 4, 5];
        self.guess.digit = self.choose_digit(bands);
        (self.guess.line, self.guess.other_lines) = self.choose_line(bands, &self.guess.digit);
        guessing
    }

    /// Finds triads in all lanes, and guesses in those of `lanes` where there are none: in the band
    /// or stack that [`Self::choose`] would take, and in the other two of its kind. Passes need not
    /// have found everything. Returns the lanes with a guess. Lanes with a contradiction are no
    /// longer alive.
    #[inline(always)]
    pub(super) fn choose_several(
        &mut self,
        state: &mut SlicedState<W>,
        lanes: W,
        guesses: &mut Guesses<W>,
    ) -> W {
        let none = W::splat(0);
        self.find_lines(state);
        self.progress = self.find_triads(state);
        let mut open = [none; BANDS];
        for band in 0..BANDS {
            for digit in 0..9 {
                let [one, two, four] = self.permutations[digit][band];
                state.alive = state.alive.and(W::or3(one, two, four));
                open[band] = W::or3(open[band], two, four);
            }
        }
        self.choose_band(W::and3(lanes, state.alive, W::splat(!0).and_not(self.progress)));
        guesses.first_band = self.band;
        for kind in [0, 3] {
            let any = W::or3(self.band[kind], self.band[kind + 1], self.band[kind + 2]);
            for band in kind..kind + 3 {
                self.band[band] = any.and(open[band]);
            }
        }
        for which in 0..3 {
            let guess = &mut guesses.of_band[which];
            let bands = [which, 3 + which];
            guess.digit = self.choose_digit(bands);
            (guess.line, guess.other_lines) = self.choose_line(bands, &guess.digit);
        }
        let [a, b, c, d, e, f] = guesses.first_band;
        W::or3(a, b, c).or(W::or3(d, e, f))
    }

    #[inline(always)]
    fn find_lines(&mut self, state: &SlicedState<W>) {
        for digit in 0..9 {
            let (digits, _) = state.candidates.as_chunks::<81>();
            let cells = &digits[digit];
            let lines = &mut self.lines[digit];
            // Nested loops, because they unroll to constants, unlike tables or divisions.
            for band in 0..3 {
                for inner in 0..3 {
                    for across in 0..3 {
                        let cell = 27 * band + 9 * inner + 3 * across;
                        lines[band][3 * inner + across] =
                            W::or3(cells[cell], cells[cell + 1], cells[cell + 2]);
                        let cell = 27 * across + 3 * band + inner;
                        lines[3 + band][3 * inner + across] =
                            W::or3(cells[cell], cells[cell + 9], cells[cell + 18]);
                    }
                }
            }
            for band in 0..BANDS {
                self.permutations[digit][band] = count_permutations(&lines[band]);
            }
        }
    }

    /// Returns the lanes in which a triad or a full line rules something out.
    #[inline(always)]
    fn find_triads(&mut self, state: &mut SlicedState<W>) -> W {
        let mut progress = W::splat(0);
        for band in 0..BANDS {
            for row in [0, 3, 6] {
                let (mut triads, mut full) = ([W::splat(0); 3], [W::splat(0); 3]);
                for i in 0..3 {
                    let mut possible = [W::splat(0); 9];
                    let mut certain = [W::splat(0); 9];
                    for digit in 0..9 {
                        let lines = &self.lines[digit][band];
                        let (next, last) = (lines[row + (i + 1) % 3], lines[row + (i + 2) % 3]);
                        possible[digit] = lines[row + i];
                        certain[digit] = W::and_nor(lines[row + i], next, last);
                    }
                    let (three_possible, more_possible) = three_and_more(&possible);
                    let (three_certain, more_certain) = three_and_more(&certain);
                    state.alive = state.alive.and(three_possible.or(more_possible)).and_not(more_certain);
                    triads[i] = three_possible;
                    full[i] = three_certain;
                    // If a line is both, its three digits are nowhere else and no other is in it:
                    // nothing new.
                    progress = W::or_xor(progress, three_possible, three_certain);
                }
                for i in 0..3 {
                    self.owned[band][row + i] =
                        [triads[(i + 1) % 3].or(full[i]), triads[(i + 2) % 3].or(full[i])];
                }
            }
        }
        progress
    }

    /// Marks the undecided band or stack with the fewest permutations.
    #[inline(always)]
    fn choose_band(&mut self, guessing: W) {
        let (none, all) = (W::splat(0), W::splat(!0));
        let mut fewest = [all; 6];
        for band in 0..BANDS {
            let mut counts = [[none; 3]; 9];
            for digit in 0..9 {
                counts[digit] = self.permutations[digit][band];
            }
            let sum = sum_of_nine(&counts);
            // Undecided means more than nine permutations, which is one for each digit.
            let open = W::or3(W::or3(sum[1], sum[2], sum[4]), sum[5], all.and_not(sum[0].and(sum[3])));
            let fewer = less(&sum, &fewest).and(open);
            for bit in 0..6 {
                fewest[bit] = W::select(fewer, sum[bit], fewest[bit]);
            }
            for earlier in 0..band {
                self.band[earlier] = self.band[earlier].and_not(fewer);
            }
            self.band[band] = fewer;
        }
        for band in 0..BANDS {
            self.band[band] = self.band[band].and(guessing);
        }
    }

    /// The undecided digit with the fewest permutations in the marked one of `bands`.
    #[inline(always)]
    fn choose_digit<const N: usize>(&self, bands: [usize; N]) -> [W; 9] {
        let (none, all) = (W::splat(0), W::splat(!0));
        let mut chosen = [none; 9];
        let mut fewest = [all; 3];
        for digit in 0..9 {
            let mut count = [none; 3];
            for bit in 0..3 {
                for band in bands {
                    count[bit] = W::or_and(count[bit], self.band[band], self.permutations[digit][band][bit]);
                }
            }
            let fewer = less(&count, &fewest).and(count[1].or(count[2]));
            for bit in 0..3 {
                fewest[bit] = W::select(fewer, count[bit], fewest[bit]);
            }
            for earlier in 0..digit {
                chosen[earlier] = chosen[earlier].and_not(fewer);
            }
            chosen[digit] = fewer;
        }
        chosen
    }

    /// The first possible line of the first undecided row of that digit, in the marked one of
    /// `bands`, and the lines that are ruled out if it holds the digit.
    #[inline(always)]
    fn choose_line<const N: usize>(
        &self,
        bands: [usize; N],
        digits: &[W; 9],
    ) -> (BandMiniLines<W>, BandMiniLines<W>) {
        let none = W::splat(0);
        let (mut line, mut other_lines) = ([none; 9], [none; 9]);
        let mut lines = [none; 9];
        for digit in 0..9 {
            for band in bands {
                let chosen = digits[digit].and(self.band[band]);
                for i in 0..9 {
                    lines[i] = W::or_and(lines[i], chosen, self.lines[digit][band][i]);
                }
            }
        }
        let mut rest = W::splat(!0);
        for row in [0, 3, 6] {
            let [a, b, c] = [lines[row], lines[row + 1], lines[row + 2]];
            let open = W::majority(a, b, c).and(rest);
            rest = rest.and_not(open);
            line[row] = a.and(open);
            line[row + 1] = b.and(open).and_not(a);
            other_lines[row + 1] = line[row];
            other_lines[row + 2] = open;
        }
        (line, other_lines)
    }

    /// Writes the guesses into the free words of the last part of the rows, from [`DIGIT_AT`] on.
    #[inline(always)]
    pub(super) fn mark(&self, last_part: &mut [W; 64]) {
        last_part[DIGIT_AT..][..9].copy_from_slice(&self.guess.digit);
        last_part[BAND_AT..][..BANDS].copy_from_slice(&self.band);
        last_part[LINE_AT..][..9].copy_from_slice(&self.guess.line);
    }

    /// Follows the guess that the line holds the digit, and applies triads and full lines.
    #[inline(always)]
    pub(super) fn follow(&self, state: &mut SlicedState<W>) {
        let has_progress = !Mask::of(self.progress).is_empty();
        let (digits, _) = state.candidates.as_chunks_mut::<81>();
        for digit in 0..9 {
            let mut out = [[W::splat(0); 9]; BANDS];
            for band in 0..BANDS {
                let chosen = self.guess.digit[digit].and(self.band[band]);
                for line in 0..9 {
                    out[band][line] = chosen.and(self.guess.other_lines[line]);
                }
            }
            if has_progress {
                self.rule_out_by_lines(digit, &mut out);
            }
            let cells = &mut digits[digit];
            for band in 0..3 {
                for stack in 0..3 {
                    for row in 0..3 {
                        for column in 0..3 {
                            let cell = 27 * band + 9 * row + 3 * stack + column;
                            let minirow = out[band][3 * row + stack];
                            let minicolumn = out[3 + stack][3 * column + band];
                            cells[cell] = W::and_nor(cells[cell], minirow, minicolumn);
                        }
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn rule_out_by_lines(&self, digit: usize, out: &mut [BandMiniLines<W>; BANDS]) {
        for band in 0..BANDS {
            let (lines, owned) = (&self.lines[digit][band], &self.owned[band]);
            for row in [0, 3, 6] {
                for i in 0..3 {
                    let (next, last) = (row + (i + 1) % 3, row + (i + 2) % 3);
                    let out = &mut out[band][row + i];
                    *out = W::or_and(*out, lines[next], owned[row + i][0]);
                    *out = W::or_and(*out, lines[last], owned[row + i][1]);
                }
            }
        }
    }
}

/// Guesses of dives: one in each of the three bands, or of the three stacks, of a lane.
pub(super) struct Guesses<W> {
    /// The guesses in the first band or stack, in the second and in the third.
    of_band: [Guess<W>; 3],
    /// The band or stack whose guess is first: its alternative may be kept.
    first_band: [W; BANDS],
}

impl<W: Word> Guesses<W> {
    pub(super) fn new() -> Box<Self> {
        let guess = Guess::none;
        Box::new(Self { of_band: [guess(), guess(), guess()], first_band: [W::splat(0); BANDS] })
    }

    /// Follows the guesses, and applies triads and full lines. Each of `kept` takes, in the lanes
    /// beside it, the candidates if the guess in the first band is wrong.
    #[inline(always)]
    pub(super) fn follow<const N: usize>(
        &self,
        branch: &Branch<W>,
        state: &mut SlicedState<W>,
        mut kept: [(&mut [W; CANDIDATES], W); N],
    ) {
        let has_progress = !Mask::of(branch.progress).is_empty();
        let (digits, _) = state.candidates.as_chunks_mut::<81>();
        for digit in 0..9 {
            let mut out = [[W::splat(0); 9]; BANDS];
            let mut refused = [[W::splat(0); 9]; BANDS];
            for band in 0..BANDS {
                let guess = &self.of_band[band % 3];
                let chosen = guess.digit[digit].and(branch.band[band]);
                let first = chosen.and(self.first_band[band]);
                for line in 0..9 {
                    out[band][line] = chosen.and(guess.other_lines[line]);
                    refused[band][line] = first.and(guess.line[line]);
                }
            }
            if has_progress {
                branch.rule_out_by_lines(digit, &mut out);
            }
            let cells = &mut digits[digit];
            for band in 0..3 {
                for stack in 0..3 {
                    for row in 0..3 {
                        for column in 0..3 {
                            let cell = 27 * band + 9 * row + 3 * stack + column;
                            let (minirow, minicolumn) = (3 * row + stack, 3 * column + band);
                            let old = cells[cell];
                            cells[cell] = W::and_nor(old, out[band][minirow], out[3 + stack][minicolumn]);
                            let other =
                                W::and_nor(old, refused[band][minirow], refused[3 + stack][minicolumn]);
                            for k in 0..N {
                                let (candidates, lanes) = &mut kept[k];
                                let candidate = &mut candidates[81 * digit + cell];
                                *candidate = W::select(*lanes, other, *candidate);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Copies the row of a lane to `row` with the alternative of the guess that is marked in it: the
/// line does not hold the digit. The free bits are cleared.
#[inline(always)]
pub(super) fn refuse<W: Word>(rows: &LaneRows<ROW_PARTS>, lane: usize, row: &mut CandidateRow) {
    const LAST: usize = CANDIDATES / 64;
    *row = rows.get::<W>(lane);
    let guess = rows.part::<W>(lane, LAST);
    row[LAST] = guess & CANDIDATES_OF_LAST;
    let marked = |at: usize, width: usize| ((guess >> at) & ((1 << width) - 1)).trailing_zeros() as usize;
    let (digit, band, line) = (marked(DIGIT_AT, 9), marked(BAND_AT, BANDS), marked(LINE_AT, 9));
    if digit < 9 && band < BANDS && line < 9 {
        let first = 81 * digit + usize::from(FIRST_OF_LINE[band][line]);
        let cells: u64 = if band < 3 { 0b111 } else { 1 | 1 << 9 | 1 << 18 };
        // Read from the source, because reading back what has just been written to the copy would
        // stall.
        let (part, bit) = (first / 64 % ROW_PARTS, first % 64);
        let next = (part + 1) % ROW_PARTS;
        let kept = |part: usize| if part == LAST { CANDIDATES_OF_LAST } else { !0 };
        row[part] = rows.part::<W>(lane, part) & !(cells << bit) & kept(part);
        row[next] = rows.part::<W>(lane, next) & !(cells >> 1 >> (63 - bit)) & kept(next);
    }
}

/// The bits of the last part of a row that are not free.
const CANDIDATES_OF_LAST: u64 = (1 << DIGIT_AT) - 1;

/// The first cell of each minirow of a band, and of each minicolumn of a stack.
static FIRST_OF_LINE: [[u8; 9]; BANDS] = {
    let mut table = [[0; 9]; BANDS];
    let mut i = 0;
    while i < BANDS * 9 {
        let (band, inner, across) = (i / 9, i % 9 / 3, i % 3);
        let first =
            if band < 3 { 27 * band + 9 * inner + 3 * across } else { 27 * across + 3 * (band - 3) + inner };
        table[band][i % 9] = first as u8;
        i += 1;
    }
    table
};

/// The lanes in which exactly three of nine are set, and those with more.
#[inline(always)]
fn three_and_more<W: Word>(nine: &[W; 9]) -> (W, W) {
    let [a, b, c, d, e, f, g, h, i] = *nine;
    let (s0, c0) = (W::xor3(a, b, c), W::majority(a, b, c));
    let (s1, c1) = (W::xor3(d, e, f), W::majority(d, e, f));
    let (s2, c2) = (W::xor3(g, h, i), W::majority(g, h, i));
    let (ones, c3) = (W::xor3(s0, s1, s2), W::majority(s0, s1, s2));
    let (sum, four) = (W::xor3(c0, c1, c2), W::majority(c0, c1, c2));
    let (twos, more) = (sum.xor(c3), W::or_and(four, sum, c3));
    (ones.and(twos).and_not(more), more)
}

/// The sum of nine numbers of three bits, each six at most, in binary from the lowest bit up.
///
/// Full adders turn three bits of one place into one of it and one of the next, until one of each
/// is left.
#[inline(always)]
fn sum_of_nine<W: Word>(numbers: &[[W; 3]; 9]) -> [W; 6] {
    let [a, b, c, d, e, f, g, h, i] = *numbers;
    let (a, b, c) = (add_bits(a, b, c), add_bits(d, e, f), add_bits(g, h, i));
    let (ones, c0) = add(a.0[0], b.0[0], c.0[0]);
    let (s1, c1) = add(a.0[1], b.0[1], c.0[1]);
    let (s2, c2) = add(a.1[0], b.1[0], c.1[0]);
    let (twos, c3) = add(s1, s2, c0);
    let (s3, c4) = add(a.0[2], b.0[2], c.0[2]);
    let (s4, c5) = add(a.1[1], b.1[1], c.1[1]);
    let (s5, c6) = add(c1, c2, c3);
    let (fours, c7) = add(s3, s4, s5);
    let (s6, c8) = add(a.1[2], b.1[2], c.1[2]);
    let (s7, c9) = add(c4, c5, c6);
    let (eights, c10) = add(s6, s7, c7);
    let (sixteens, more) = add(c8, c9, c10);
    [ones, twos, fours, eights, sixteens, more]
}

/// Adds three numbers without propagating carries: the sum of each place, and its carry.
#[inline(always)]
fn add_bits<W: Word>(a: [W; 3], b: [W; 3], c: [W; 3]) -> ([W; 3], [W; 3]) {
    let (s0, c0) = add(a[0], b[0], c[0]);
    let (s1, c1) = add(a[1], b[1], c[1]);
    let (s2, c2) = add(a[2], b[2], c[2]);
    ([s0, s1, s2], [c0, c1, c2])
}

/// The sum of three bits, and the carry.
#[inline(always)]
fn add<W: Word>(a: W, b: W, c: W) -> (W, W) {
    (W::xor3(a, b, c), W::majority(a, b, c))
}

/// The number of possible permutations of the lines of a band, in binary from the lowest bit up.
#[inline(always)]
fn count_permutations<W: Word>(lines: &BandMiniLines<W>) -> [W; 3] {
    let [a, b, c, d, e, f] = six_permutations(lines);
    let (s0, c0) = (W::xor3(a, b, c), W::majority(a, b, c));
    let (s1, c1) = (W::xor3(d, e, f), W::majority(d, e, f));
    let c2 = s0.and(s1);
    [s0.xor(s1), W::xor3(c0, c1, c2), W::majority(c0, c1, c2)]
}

/// The lanes in which `a` is less than `b`, both in binary from the lowest bit up.
#[inline(always)]
pub(super) fn less<W: Word, const BITS: usize>(a: &[W; BITS], b: &[W; BITS]) -> W {
    let mut less = W::splat(0);
    for bit in 0..BITS {
        // The highest bit that differs decides.
        less = W::select(a[bit].xor(b[bit]), b[bit], less);
    }
    less
}
