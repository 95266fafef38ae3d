//! Files of the operator: certificates, keys, tokens.
//!
//! **Invariant:** reading one never waits: only regular files are opened, because a FIFO would hold
//! up the start, or a reload, until somebody writes to it.

use std::fs;
use std::io;
use std::path::Path;

/// The most bytes of such a file.
const MAX_BYTES: u64 = 16 << 20;

/// Reads a file.
///
/// # Errors
/// What is wrong with it, as the end of a sentence that begins with its name.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    let cannot = |error: io::Error| format!("cannot be read: {error}");
    let found = fs::metadata(path).map_err(cannot)?;
    if !found.is_file() {
        return Err("is no regular file".to_owned());
    }
    if found.len() > MAX_BYTES {
        return Err(format!("has more than {MAX_BYTES} bytes"));
    }
    fs::read(path).map_err(cannot)
}
