//! Colours on standard output: the one place that decides about them.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::sync::OnceLock;

use clap::{Args, ValueEnum};

/// The choice of colours.
#[derive(Clone, Debug, Default, Args)]
pub struct ColourArgs {
    /// Colours: auto, always or never
    ///
    /// With auto there are colours on a terminal, unless `TERM` is dumb or `CLICOLOR` is 0.
    /// `CLICOLOR_FORCE` turns them on in a pipe too, and `NO_COLOR` turns them off everywhere.
    #[arg(id = "color", long = "color", hide_short_help = true, value_enum, value_name = "WHEN")]
    #[arg(default_value_t = When::Auto, hide_possible_values = true, help_heading = "Output")]
    when: When,
}

/// When there are colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum When {
    #[default]
    Auto,
    Always,
    Never,
}

/// What was chosen on the command line.
static CHOSEN: OnceLock<When> = OnceLock::new();

impl ColourArgs {
    /// Makes this the choice of the process.
    pub fn apply(&self) {
        // A process runs one command, so it is set once.
        let _ = CHOSEN.set(self.when);
    }
}

/// Are there colours on standard output?
pub fn on_standard_output() -> bool {
    let when = CHOSEN.get().copied().unwrap_or(When::Auto);
    decide(when, io::stdout().is_terminal(), |name| env::var_os(name))
}

/// The decision, after <https://bixense.com/clicolors> and <https://no-color.org>.
fn decide(when: When, is_terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let is = |name: &str, value: &str| variable(name).is_some_and(|found| found == value);
    let is_set = |name: &str| variable(name).is_some_and(|found| !found.is_empty());
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto if is_set("NO_COLOR") => false,
        When::Auto if is_set("CLICOLOR_FORCE") && !is("CLICOLOR_FORCE", "0") => true,
        When::Auto => is_terminal && !is("CLICOLOR", "0") && !is("TERM", "dumb"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_wins_then_no_color_then_force() {
        let decide = |when, is_terminal, variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
            };
            decide(when, is_terminal, variable)
        };
        for (is_terminal, variables, expected) in [
            (true, &[][..], true),
            (false, &[], false),
            (true, &[("NO_COLOR", "1")], false),
            (true, &[("NO_COLOR", "")], true),
            (true, &[("TERM", "dumb")], false),
            (true, &[("CLICOLOR", "0")], false),
            (true, &[("CLICOLOR", "1")], true),
            (false, &[("CLICOLOR", "1")], false),
            (false, &[("CLICOLOR_FORCE", "1")], true),
            (false, &[("CLICOLOR_FORCE", "0")], false),
            (true, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
            (true, &[("CLICOLOR_FORCE", "1"), ("CLICOLOR", "0")], true),
        ] {
            assert_eq!(decide(When::Auto, is_terminal, variables), expected, "{is_terminal} {variables:?}");
            assert!(decide(When::Always, is_terminal, variables));
            assert!(!decide(When::Never, is_terminal, variables));
        }
    }
}
