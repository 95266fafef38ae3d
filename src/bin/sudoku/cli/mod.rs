//! Code shared by the commands: arguments and their values, input, printing, interrupts, exit
//! codes.

pub mod input;
pub mod interrupt;
pub mod output;
pub mod pick;
pub mod print;
pub mod progress;
pub mod run;
pub mod server;
pub mod summary;
pub mod value;

/// Exit codes of `sudoku`.
pub mod exit {
    /// The run completed, but there were error lines and `--fail-on-error` was given.
    pub const ERRORS_SEEN: u8 = 1;
    /// Two ways to find the same thing gave different answers, or one gave a wrong one or none.
    pub const DISAGREED: u8 = 1;
    /// Some of the puzzles asked for were not found.
    pub const GAVE_UP: u8 = 1;
    /// `bench --max-regression`: this program is slower than is allowed.
    pub const SLOWER: u8 = 1;
    /// The run could not start or not come to its end.
    pub const FAILED: u8 = 2;

    /// All of them with their meaning, for the manual page and the reference.
    pub const MEANINGS: [(&str, &str); 4] = [
        ("0", "The run completed, with or without error lines."),
        (
            "1",
            "The run completed and found something: an error line under --fail-on-error, a grid that check does not \
             accept, a wrong answer in bench, load or explore, a regression in bench --compare, or a puzzle that \
             generate gave up.",
        ),
        (
            "2",
            "The run could not start or not come to its end, and standard error says why; or validate found a bad puzzle.",
        ),
        ("129, 130, 143", "The run was interrupted by SIGHUP, SIGINT or SIGTERM."),
    ];
}
