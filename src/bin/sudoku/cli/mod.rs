//! Code shared by the commands: arguments and their values, input, printing, interrupts, exit
//! codes.

pub mod by_hand;
pub mod colour;
pub mod deferred;
pub mod draw;
pub mod early_end;
pub mod fit;
pub mod input;
pub mod interrupt;
pub mod machine;
pub mod output;
pub mod pick;
pub mod print;
pub mod progress;
pub mod resume;
pub mod row_command;
pub mod rows;
pub mod run;
pub mod server;
pub mod shard;
pub mod shown_bar;
pub mod summary;
pub mod typed;
pub mod value;

/// Exit codes of `sudoku`.
pub mod exit {
    use std::process::ExitCode;

    /// Bad puzzles or grids were found by a command that looks for them, or error lines under
    /// `--fail-on-error`.
    pub const ERRORS_SEEN: u8 = 1;
    /// Two ways to find the same thing gave different answers, or one gave a wrong one or none.
    pub const DISAGREED: u8 = 1;
    /// Some of the puzzles asked for were not found.
    pub const GAVE_UP: u8 = 1;
    /// `bench --max-regression`, `--min-rate`: this program is slower than is allowed.
    pub const SLOWER: u8 = 1;
    /// The run could not start or not come to its end.
    pub const FAILED: u8 = 2;

    /// All of them with their meaning, for the help, the manual page and the reference.
    pub const MEANINGS: [(&str, &str); 4] = [
        ("0", "Done, with or without error lines."),
        ("1", "Done, and something was found or was not found."),
        ("2", "Could not run, or not to the end; standard error says why."),
        ("129, 130, 143", "Stopped by SIGHUP, SIGINT or SIGTERM."),
    ];

    /// What 1 means, command by command.
    pub const FINDINGS: [(&str, &str); 13] = [
        ("solve, count", "An error line to a typed puzzle, or with --fail-on-error any."),
        ("validate", "A puzzle is not well formed."),
        ("check", "A grid is not correctly solved."),
        ("rate, canon", "An error line to a typed puzzle, or with --fail-on-error any."),
        ("solutions", "An error line to a typed puzzle, or with --fail-on-error any."),
        ("candidates", "A puzzle has no solution."),
        ("hint", "There is no solution, or the search for a step was given up."),
        ("steps", "The steps do not lead to a solution."),
        ("generate", "A puzzle was given up."),
        ("sheet", "A puzzle has no solution to print."),
        ("bench", "An answer is wrong, or it is slower than --max-regression or --min-rate allows."),
        ("load", "A puzzle was not answered correctly, once."),
        ("explore, demo", "An answer is wrong, or two ways to get it disagree."),
    ];

    /// The code of a run by whether it has seen errors.
    pub fn by_errors(are_seen: bool) -> ExitCode {
        if are_seen { ExitCode::from(ERRORS_SEEN) } else { ExitCode::SUCCESS }
    }

    /// Both tables, for the help of all commands.
    pub fn help() -> String {
        let mut text = "Exit codes:".to_owned();
        for (code, meaning) in MEANINGS {
            text += &format!("\n  {code:<15}{meaning}");
            let findings = if code == "1" { &FINDINGS[..] } else { &[] };
            text.extend(findings.iter().map(|(commands, finding)| format!("\n    {commands:<15}{finding}")));
        }
        text
    }
}
