//! Sessions: the state of a stream from its first message to its last.

use std::sync::Arc;

use tonic::Status;
use tracing::Span;

use crate::answer::Solvers;
use crate::service::context::Context;
use crate::service::net::observe::as_recorded;
use crate::service::rpc::options::{SolveSettings, solve_settings, task_for_format};
use crate::service::wire::proto;
use crate::text::Format;

/// The state of a stream: its options, its format, and how much has been read.
pub(crate) struct StreamSession {
    context: Arc<Context>,
    /// The most recent options.
    options: proto::SolveOptions,
    pub(crate) settings: SolveSettings,
    /// The solvers, once the format is known.
    pub(crate) solvers: Option<Arc<Solvers>>,
    pub(crate) numbering: Numbering,
}

/// The numbers of the lines of a stream, and how much has been read.
pub(crate) struct Numbering {
    /// The number of the next line.
    pub(crate) next_line: u64,
    /// The number of messages read, and of their lines.
    read: (u64, u64),
}

impl Numbering {
    pub(crate) const fn new() -> Self {
        Self { next_line: 1, read: (0, 0) }
    }

    /// The number of lines read.
    pub(crate) const fn lines(&self) -> u64 {
        self.read.1
    }

    /// Numbers the lines of a message and returns the number of the first.
    pub(crate) fn number(&mut self, context: &Context, lines: usize) -> Result<u64, Status> {
        context.check_lines(lines)?;
        let first = self.next_line;
        self.next_line += lines as u64;
        self.read = (self.read.0 + 1, self.read.1 + lines as u64);
        Ok(first)
    }
}

/// Records in the span of the call how much was read.
impl Drop for Numbering {
    fn drop(&mut self) {
        let (messages, lines) = self.read;
        Span::current().record("messages", as_recorded(messages)).record("lines", as_recorded(lines));
    }
}

impl StreamSession {
    pub(crate) fn new(context: Arc<Context>) -> Result<Self, Status> {
        let options = proto::SolveOptions::default();
        let settings = solve_settings(&context, &options)?;
        Ok(Self { context, options, settings, solvers: None, numbering: Numbering::new() })
    }

    /// Applies the options of a message, if it has any. The format stays unless they describe
    /// another.
    pub(crate) fn apply_options(&mut self, options: Option<proto::SolveOptions>) -> Result<(), Status> {
        let Some(options) = options.filter(|options| *options != self.options) else { return Ok(()) };
        let settings = solve_settings(&self.context, &options)?;
        let old = self.solvers.take().filter(|_| settings.hint == self.settings.hint);
        self.settings = settings;
        self.options = options;
        match old {
            Some(solvers) => self.fix_format(solvers.format().clone()).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Fixes the format of all puzzles from here on.
    pub(crate) fn fix_format(&mut self, format: Format) -> Result<Arc<Solvers>, Status> {
        let solvers = self.solvers_for(format)?;
        self.solvers = Some(Arc::clone(&solvers));
        Ok(solvers)
    }

    /// The solvers for puzzles in a format.
    pub(crate) fn solvers_for(&self, format: Format) -> Result<Arc<Solvers>, Status> {
        let task = task_for_format(&self.context, self.settings.task, &format)?;
        Ok(Arc::new(self.context.solvers(format, task)))
    }

    /// The number of lines read.
    pub(crate) const fn lines(&self) -> u64 {
        self.numbering.lines()
    }

    /// Numbers the lines of a message and returns the number of the first.
    pub(crate) fn number(&mut self, lines: usize) -> Result<u64, Status> {
        self.numbering.number(&self.context, lines)
    }
}
