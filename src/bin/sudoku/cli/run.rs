//! Arguments of commands that run for long: threads, progress, quiet.

use clap::Args;

use super::value;

/// Threads, and output on standard error.
#[derive(Clone, Debug, Default, Args)]
pub struct RunArgs {
    /// Threads [range: 1 to 1024] [default: one per core]
    #[arg(short = 'j', long, value_name = "N", value_parser = value::threads())]
    pub threads: Option<usize>,

    #[command(flatten)]
    pub progress: ProgressArgs,
}

/// Output on standard error, during and after a run.
#[derive(Clone, Debug, Default, Args)]
pub struct ProgressArgs {
    /// Show no progress bar
    ///
    /// There is one after half a second, if standard error is a terminal that shows no answers.
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
