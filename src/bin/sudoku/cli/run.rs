//! Arguments of commands that run for long: threads, progress, quiet.

use clap::Args;

use super::value;

/// Threads, and what is printed on standard error.
#[derive(Clone, Args)]
pub struct RunArgs {
    /// Worker threads [range: 1 to 1024] [default: one per core]
    #[arg(long, value_name = "N", value_parser = value::threads())]
    pub threads: Option<usize>,

    #[command(flatten)]
    pub progress: ProgressArgs,
}

/// What is printed on standard error while a command runs, and after it.
#[derive(Clone, Args)]
pub struct ProgressArgs {
    /// Show no progress bar; there is one only on a terminal
    #[arg(long, hide_short_help = true)]
    no_progress: bool,

    /// Print only errors on standard error
    #[arg(short, long)]
    pub quiet: bool,
}

impl ProgressArgs {
    pub const fn wants_bar(&self) -> bool {
        !self.no_progress && !self.quiet
    }
}
