//! Links: the file that a path leads to.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The longest chain of links that is followed, which is the system's limit too.
const MAX_LINKS: usize = 40;

/// The path of the file that `path` leads to, without links, so that the file is replaced and not
/// the link. Links to a file that does not exist yet are followed too, as the system does when a
/// program opens one for writing.
pub(super) fn resolve(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        target => return target,
    }
    let mut file = path.to_owned();
    for _ in 0..MAX_LINKS {
        let bytes = file.as_os_str().as_bytes();
        if bytes.ends_with(b"/") || bytes.ends_with(b"/.") || file.file_name().is_none() {
            // A missing folder. The rename to it would fail, but only at the end of the run.
            return Err(io::Error::from_raw_os_error(libc::EISDIR));
        }
        if !fs::symlink_metadata(&file).is_ok_and(|found| found.is_symlink()) {
            return Ok(file);
        }
        // A target is relative to the folder of its link, unless it is absolute.
        let target = fs::read_link(&file)?;
        file.pop();
        file.push(target);
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

/// Whether two paths lead to the same file, which need not exist yet.
pub(super) fn is_same_file(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let file = resolve(path).ok()?;
        // A file that does not exist has no canonical path, but its folder has.
        let folder = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        Some(fs::canonicalize(folder).ok()?.join(file.file_name()?))
    };
    one == other || place(one).is_some_and(|file| place(other) == Some(file))
}
