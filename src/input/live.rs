//! Live inputs: terminals, pipes and sockets, whose bytes come when somebody writes them.

use std::fs::{File, Metadata};
use std::io::IsTerminal as _;
use std::os::unix::fs::FileTypeExt as _;
use std::sync::Arc;

/// The file behind a live input.
pub(super) struct Live(Arc<File>);

impl Live {
    /// The file, if reading it may have to wait for somebody who writes.
    pub(super) fn of(file: &Arc<File>, metadata: &Metadata) -> Option<Self> {
        let kind = metadata.file_type();
        let is_live = kind.is_fifo() || kind.is_socket() || (kind.is_char_device() && file.is_terminal());
        is_live.then(|| Self(Arc::clone(file)))
    }

    /// Whether somebody types it.
    pub(super) fn is_terminal(&self) -> bool {
        self.0.is_terminal()
    }

    /// Whether a read would wait, or find the end.
    pub(super) fn is_drained(&self) -> bool {
        // Where the system does not tell, reading goes on as in a file.
        rustix::io::ioctl_fionread(&*self.0).is_ok_and(|bytes| bytes == 0)
    }
}
