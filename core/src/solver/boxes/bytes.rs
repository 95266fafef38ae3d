//! Sets of digits in bytes, from which vectors are read and to which they are written: what the
//! instructions that look bytes up in a table of sixteen have in common.

/// No byte: a look-up makes it 0.
pub(super) const NO: u8 = 0x80;

/// The parts of the sets of clues, and of all digits for a blank.
pub(super) static LOW_BYTES: [u8; 16] = [0xFF, 1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0, 0, 0, 0, 0, 0, 0];
pub(super) static HIGH_BYTES: [u8; 16] = [1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];

/// The digit of the four lower and of the four upper bits of a set in a byte, all of which are set
/// for 9.
pub(super) static LOW_NIBBLES: [u8; 16] = [0, 1, 2, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 9];
pub(super) static HIGH_NIBBLES: [u8; 16] = [0, 5, 6, 0, 7, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0];

/// The digits of a puzzle where each row can be read as 16 bytes.
#[inline(always)]
pub(super) fn padded(digits: &[u8; 81]) -> [u8; 96] {
    let mut padded = [0; 96];
    padded[..81].copy_from_slice(digits);
    padded
}
