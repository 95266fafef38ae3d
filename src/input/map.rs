//! Memory maps that survive a file which shrinks.
//!
//! Reading a page of a map that lies beyond the end of its file raises SIGBUS, which ends the process. So
//! every map is entered in a table, and a signal handler looks the faulting address up there: if it is
//! one of ours, the handler puts zero pages under the rest of the map and marks the entry, and the read goes
//! on. Whoever copied those zeros then finds the mark. The same idea keeps Wayland compositors alive when
//! a client truncates a shared buffer.
//!
//! A file that shrinks within its last page raises nothing and reads as zeros, and one that is overwritten
//! simply shows its new content. The length and modification time are therefore compared after each copy.

#![expect(unsafe_code, reason = "memory maps, and the signal handler that makes them safe to read")]

use std::fs::File;
use std::io::{self, Seek as _};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use memmap2::{Advice, Mmap};
use serde::{Deserialize, Serialize};

use super::InputError;

/// How many files may be mapped at one time in a process.
pub(super) const MAX_MAPS: usize = 256;

/// What tells whether a file was changed: its length, and the time of its last modification in seconds and
/// nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// The length in bytes.
    pub bytes: u64,
    /// The time since 1970.
    pub modified: (i64, i64),
}

/// A file's length and modification time, to be compared later.
#[derive(Debug)]
pub(super) struct Stamp {
    file: File,
    len: u64,
    modified: (i64, i64),
}

impl Stamp {
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        Ok(Self { file: file.try_clone()?, len: metadata.len(), modified })
    }

    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    pub(super) const fn version(&self) -> Version {
        Version { bytes: self.len, modified: self.modified }
    }

    /// Appends up to `room` bytes from `offset` on; 0 only at the end.
    pub(super) fn read_at(&self, offset: u64, room: usize, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let old = buffer.len();
        buffer.resize(old + room, 0);
        let result = loop {
            match self.file.read_at(&mut buffer[old..], offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        buffer.truncate(old + result.as_ref().copied().unwrap_or(0));
        result
    }

    /// The file, to be read from `offset` on.
    pub(super) fn file_at(&self, offset: u64) -> io::Result<File> {
        let mut file = self.file.try_clone()?;
        file.seek(io::SeekFrom::Start(offset))?;
        Ok(file)
    }

    /// Is the file still as it was?
    pub(super) fn check(&self, name: &str) -> Result<(), InputError> {
        let now = self.file.metadata().map_err(|error| InputError::io(name, error))?;
        if now.len() < self.len {
            return Err(InputError::Shrunk { name: name.to_owned() });
        }
        if now.len() != self.len || (now.mtime(), now.mtime_nsec()) != self.modified {
            return Err(InputError::Changed { name: name.to_owned() });
        }
        Ok(())
    }
}

/// A mapped file. Its content is only ever copied out.
#[derive(Debug)]
pub struct Mapped {
    // Dropped in this order: the map goes before its entry is free for another.
    map: Mmap,
    entry: Entry,
    stamp: Stamp,
    name: String,
}

impl Mapped {
    /// Maps a regular file; `name` is for messages. `None` if 256 files are mapped already, which is as many as can be guarded.
    ///
    /// # Errors
    /// The system's, with the name.
    pub fn open(file: &File, name: String) -> Result<Option<Arc<Self>>, InputError> {
        let fail = |error| InputError::io(&name, error);
        install_handler().map_err(fail)?;
        let stamp = Stamp::of(file).map_err(fail)?;
        // SAFETY: the map is never borrowed as a slice: `copy` reads it through raw pointers, so that content
        // that changes meanwhile breaks no promise, and the handler takes care of pages that vanish.
        let map = unsafe { Mmap::map(file) }.map_err(fail)?;
        // Reading ahead is a wish: it may be refused without harm.
        let _ = map.advise(Advice::Sequential);
        let Some(entry) = Entry::reserve(map.as_ptr() as usize, map.len()) else { return Ok(None) };
        Ok(Some(Arc::new(Self { map, entry, stamp, name })))
    }

    /// The length in bytes when it was mapped.
    #[must_use]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    pub(super) const fn version(&self) -> Version {
        self.stamp.version()
    }

    /// Was the file empty when it was mapped?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What to call it in a message.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Appends a copy of a part of the file to `buffer`.
    ///
    /// # Errors
    /// [`InputError::Shrunk`] or [`InputError::Changed`] if the file is not what it was when it was mapped.
    ///
    /// # Panics
    /// If the range ends beyond [`Mapped::len`].
    pub fn copy(&self, range: Range<usize>, buffer: &mut Vec<u8>) -> Result<(), InputError> {
        assert!(range.start <= range.end && range.end <= self.len(), "{range:?} outside the map");
        let (old, length) = (buffer.len(), range.len());
        buffer.reserve(length);
        // SAFETY: the source lies inside the map, which lives as long as `self`; the destination was just
        // reserved and is no part of a map; the bytes are initialised by the copy before they are counted.
        // A page that has vanished is replaced by the handler while the copy waits.
        unsafe {
            let source = self.map.as_ptr().add(range.start);
            ptr::copy_nonoverlapping(source, buffer.as_mut_ptr().add(old), length);
            buffer.set_len(old + length);
        }
        let changed = if self.entry.has_faulted() {
            Err(InputError::Shrunk { name: self.name.clone() })
        } else {
            self.stamp.check(&self.name)
        };
        if changed.is_err() {
            buffer.truncate(old);
        }
        changed
    }
}

/// What the signal handler knows of one map. An `end` of 0 means that the slot is free.
struct Slot {
    taken: AtomicBool,
    start: AtomicUsize,
    end: AtomicUsize,
    faulted: AtomicBool,
}

static TABLE: [Slot; MAX_MAPS] = [const {
    Slot {
        taken: AtomicBool::new(false),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        faulted: AtomicBool::new(false),
    }
}; MAX_MAPS];

/// A slot of the table that is ours until it is dropped.
#[derive(Debug)]
struct Entry(usize);

impl Entry {
    fn reserve(start: usize, len: usize) -> Option<Self> {
        let free = |slot: &Slot| !slot.taken.swap(true, Ordering::AcqRel);
        let index = TABLE.iter().position(free)?;
        let slot = &TABLE[index];
        slot.faulted.store(false, Ordering::Release);
        slot.start.store(start, Ordering::Release);
        slot.end.store(start + len, Ordering::Release);
        Some(Self(index))
    }

    fn has_faulted(&self) -> bool {
        TABLE[self.0].faulted.load(Ordering::Acquire)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        TABLE[self.0].end.store(0, Ordering::Release);
        TABLE[self.0].taken.store(false, Ordering::Release);
    }
}

/// What was installed for SIGBUS before us, and the size of a page.
struct Before {
    action: libc::sigaction,
    page_bytes: usize,
}

static BEFORE: OnceLock<Before> = OnceLock::new();

fn install_handler() -> io::Result<()> {
    static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();
    INSTALLED
        .get_or_init(|| {
            let mut old = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: plain system calls on local memory. A zeroed sigaction is a valid one.
            unsafe {
                if libc::sigaction(libc::SIGBUS, ptr::null(), old.as_mut_ptr()) != 0 {
                    return Err(last_error());
                }
                let page_bytes = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap_or(4096);
                let _ = BEFORE.set(Before { action: old.assume_init(), page_bytes });
                let mut new = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
                let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = on_bus_error;
                new.sa_sigaction = handler as usize;
                new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigemptyset(&raw mut new.sa_mask);
                if libc::sigaction(libc::SIGBUS, &raw const new, ptr::null_mut()) != 0 {
                    return Err(last_error());
                }
            }
            Ok(())
        })
        .map_err(io::Error::from_raw_os_error)
}

fn last_error() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)
}

/// Runs in signal context: atomics and system calls only.
extern "C" fn on_bus_error(_signal: i32, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the system hands a handler installed with SA_SIGINFO a valid siginfo, and for SIGBUS its
    // address field is set.
    let address = unsafe { (*info).si_addr() } as usize;
    let Some(before) = BEFORE.get() else { return };
    for slot in &TABLE {
        let (start, end) = (slot.start.load(Ordering::Acquire), slot.end.load(Ordering::Acquire));
        if !(start..end).contains(&address) {
            continue;
        }
        slot.faulted.store(true, Ordering::Release);
        let page = address & !(before.page_bytes - 1);
        // SAFETY: the range lies inside a map of ours that is still mapped, because the read that faulted
        // holds it; replacing its pages by private zero pages leaves the address range in place.
        let result = unsafe {
            libc::mmap(
                page as *mut libc::c_void,
                end - page,
                libc::PROT_READ,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        if result != libc::MAP_FAILED {
            return;
        }
    }
    // Not ours: put back what was there before, so that the fault, which happens again on return, is dealt
    // with as if we had never been here.
    // SAFETY: a system call on memory that lives for ever.
    unsafe {
        libc::sigaction(libc::SIGBUS, &raw const before.action, ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn mapped(content: &[u8]) -> (tempfile::NamedTempFile, Arc<Mapped>) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        let map = Mapped::open(file.as_file(), "the file".to_owned()).unwrap().unwrap();
        (file, map)
    }

    #[test]
    fn a_file_that_loses_pages_is_an_error_and_no_crash() {
        let (file, map) = mapped(&vec![b'x'; 1 << 20]);
        let mut copy = Vec::new();
        map.copy(0..1000, &mut copy).unwrap();
        assert_eq!(copy, vec![b'x'; 1000]);
        file.as_file().set_len(5000).unwrap();
        for range in [1 << 19..1 << 20, 0..10] {
            let error = map.copy(range, &mut copy).unwrap_err();
            assert!(matches!(error, InputError::Shrunk { .. }), "{error}");
            assert_eq!(copy.len(), 1000);
        }
        assert_eq!(
            map.copy(0..1, &mut copy).unwrap_err().to_string(),
            "the file was cut short while it was being read. Run again when nothing writes to it."
        );
    }

    #[test]
    fn a_file_that_shrinks_within_a_page_is_an_error() {
        let (file, map) = mapped(&[b'x'; 4000]);
        file.as_file().set_len(100).unwrap();
        let error = map.copy(0..50, &mut Vec::new()).unwrap_err();
        assert!(matches!(error, InputError::Shrunk { .. }), "{error}");
    }

    #[test]
    fn a_file_that_grows_is_an_error() {
        let (mut file, map) = mapped(&[b'x'; 4000]);
        file.write_all(b"more").unwrap();
        let error = map.copy(0..50, &mut Vec::new()).unwrap_err();
        assert!(matches!(error, InputError::Changed { .. }), "{error}");
    }

    #[test]
    fn maps_are_bounded_and_given_back() {
        let (file, first) = mapped(b"x");
        let open = || Mapped::open(file.as_file(), String::new()).unwrap();
        let held: Vec<_> = std::iter::from_fn(open).collect();
        // Other tests of this process hold a few at the same time.
        assert!(held.len() < MAX_MAPS && held.len() > MAX_MAPS - 32, "{}", held.len());
        drop(held);
        assert!(open().is_some());
        drop(first);
    }
}
