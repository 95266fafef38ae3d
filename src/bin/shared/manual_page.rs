//! What is done to a command before `clap_mangen` writes its manual page.

use clap::Command;

/// The command and all below it, with the short help of every argument as its long help where it has
/// no other, because `clap_mangen` leaves out the short help of arguments that `-h` does not list, and
/// with the usage that help has, because options stand without their values in its own.
pub fn with_all_help(mut command: Command) -> Command {
    command.build();
    let command = command.mut_args(|arg| match (arg.get_long_help(), arg.get_help().cloned()) {
        (None, Some(help)) => arg.long_help(help),
        _ => arg,
    });
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage).to_owned();
    command.override_usage(usage).mut_subcommands(with_all_help)
}
