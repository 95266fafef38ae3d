//! Memory maps that survive a file which shrinks.
//!
//! Reading a page of a map that lies beyond the end of its file raises SIGBUS, which ends the
//! process. So every map is entered in a table, and a signal handler looks the faulting address up
//! there: if it is one of ours, the handler puts zero pages under the rest of the map and marks the
//! entry, and the read continues. The code that copied those zeros then finds the mark. The same
//! idea keeps Wayland compositors alive when a client truncates a shared buffer.
//!
//! **Invariant:** a map is in the table only while it is mapped. It is entered after it was made,
//! and its entry is cleared before it is unmapped, because from then on the addresses may belong to
//! other code. The handler relies on it: it replaces pages at the addresses of an entry. A handler
//! on one thread may read an entry while another thread changes it, so each entry has a sequence
//! number that shows it (a seqlock). The entry of the map that has faulted does not change
//! meanwhile, because the copy that has faulted holds the map.
//!
//! **Invariant:** nobody borrows the bytes of a map. They are copied out, and after each copy the
//! mark, the length and the modification time are compared, because a file that shrinks within its
//! last page raises no signal and reads as zeros, and one that is overwritten shows its new
//! content.
//!
//! Any other SIGBUS is passed on to the action that was installed before: one from a map of other
//! code, and one that was sent by `kill`, which has no address. If the process survives that, its
//! maps are still guarded.

#![expect(unsafe_code, reason = "memory maps, and the signal handler that makes them safe to read")]

use std::fs::File;
use std::io;
use std::mem::{self, MaybeUninit};
use std::ops::{Range, RangeInclusive};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Arc, OnceLock};

use libc::{c_int, c_void, siginfo_t};
use memmap2::{Advice, Mmap};

use super::InputError;
use super::stamp::{Stamp, Version};

/// The most files that a process may have mapped at one time.
pub(super) const MAX_MAPS: usize = 256;

/// A mapped file, whose content can only be copied out.
#[derive(Debug)]
pub struct Mapped {
    // Dropped in this order, because the entry must be cleared before the addresses can belong to
    // other code.
    entry: MapEntry,
    map: Mmap,
    stamp: Stamp,
    name: String,
    is_in_memory: bool,
}

impl Mapped {
    /// Maps a regular file; `name` is for messages. `None` if 256 files are mapped already, because
    /// the table has no entry left to guard another.
    ///
    /// # Errors
    /// The system's, with the name.
    pub fn open(file: &File, name: String) -> Result<Option<Arc<Self>>, InputError> {
        let fail = |error| InputError::io(&name, error);
        install_handler().map_err(fail)?;
        let stamp = Stamp::of(file).map_err(fail)?;
        // SAFETY: the map is never borrowed as a slice. `copy` reads it through raw pointers, so
        // content that changes meanwhile breaks no promise, and the handler replaces pages that
        // vanish.
        let map = unsafe { Mmap::map(file) }.map_err(fail)?;
        // Reading ahead is only advice: it may be refused without harm.
        let _ = map.advise(Advice::Sequential);
        let Some(entry) = MapEntry::reserve(map.as_ptr() as usize, map.len()) else { return Ok(None) };
        Ok(Some(Arc::new(Self { entry, map, stamp, name, is_in_memory: is_in_memory(file) })))
    }

    /// The length in bytes when it was mapped.
    #[must_use]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// The version of the file when it was mapped.
    #[must_use]
    pub const fn version(&self) -> Version {
        self.stamp.version()
    }

    /// Whether the file is unchanged since it was mapped. A file that was replaced by a rename has
    /// changed, because losing a name is a change too.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.stamp.is_current()
    }

    /// Whether the file was empty when it was mapped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of the file in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Appends a copy of a part of the file to `buffer`.
    ///
    /// # Errors
    /// [`InputError::Shrunk`] or [`InputError::Changed`] if the file has changed since it was
    /// mapped.
    ///
    /// # Panics
    /// If the range ends beyond [`Mapped::len`].
    pub fn copy(&self, range: Range<usize>, buffer: &mut Vec<u8>) -> Result<(), InputError> {
        assert!(range.start <= range.end && range.end <= self.len(), "{range:?} outside the map");
        let (old, length) = (buffer.len(), range.len());
        buffer.reserve(length);
        self.populate(&range);
        // SAFETY: the source lies inside the map, which lives as long as `self`; the destination
        // was just reserved and is no part of a map; the bytes are initialised by the copy before
        // they are counted. A page that has vanished is replaced by the handler while the copy
        // waits.
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

    /// Maps the pages of a range at once, if they are in memory only. Otherwise each would cost a page
    /// fault, where reading ahead maps sixteen of other files, and half of the time of a copy.
    fn populate(&self, range: &Range<usize>) {
        #[cfg(target_os = "linux")]
        if self.is_in_memory {
            // It may be refused without harm, as by an old system, or where the file has shrunk.
            let _ = self.map.advise_range(Advice::PopulateRead, range.start, range.len());
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (self.is_in_memory, range);
    }
}

/// Whether the system keeps a file in memory only, as on tmpfs.
fn is_in_memory(file: &File) -> bool {
    #[cfg(target_os = "linux")]
    {
        /// `TMPFS_MAGIC` of `linux/magic.h`.
        const TMPFS: rustix::fs::FsWord = 0x0102_1994;
        rustix::fs::fstatfs(file).is_ok_and(|system| system.f_type == TMPFS)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        false
    }
}

/// An entry of the table: what the signal handler knows of one map.
struct MapSlot {
    /// Whether it has an owner, who alone may change the other fields.
    taken: AtomicBool,
    /// The sequence number: odd while the addresses are being changed, and different after each
    /// change.
    sequence: AtomicUsize,
    /// The addresses of the map; both are 0 where there is none.
    start: AtomicUsize,
    end: AtomicUsize,
    /// Whether the handler has put zero pages under the map.
    faulted: AtomicBool,
}

impl MapSlot {
    const fn new() -> Self {
        Self {
            taken: AtomicBool::new(false),
            sequence: AtomicUsize::new(0),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            faulted: AtomicBool::new(false),
        }
    }

    /// Enters the addresses of a map. Only the owner of the slot may call it.
    fn set(&self, addresses: Range<usize>) {
        let sequence = self.sequence.load(Ordering::Relaxed);
        self.sequence.store(sequence.wrapping_add(1), Ordering::Relaxed);
        // A reader that sees one of the new addresses sees the odd number behind its own fence, or
        // a later one.
        fence(Ordering::Release);
        self.start.store(addresses.start, Ordering::Relaxed);
        self.end.store(addresses.end, Ordering::Relaxed);
        // A reader that sees this number first sees both new addresses.
        self.sequence.store(sequence.wrapping_add(2), Ordering::Release);
    }

    /// The addresses that were entered, with the sequence number. `None` while they are being
    /// changed: there is no second try, because in a signal handler the thread that changes them
    /// may be the one that would wait.
    fn addresses(&self) -> Option<(usize, Range<usize>)> {
        let sequence = self.sequence.load(Ordering::Acquire);
        let addresses = self.start.load(Ordering::Relaxed)..self.end.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        let is_whole = sequence.is_multiple_of(2) && self.sequence.load(Ordering::Relaxed) == sequence;
        is_whole.then_some((sequence, addresses))
    }
}

static TABLE: [MapSlot; MAX_MAPS] = [const { MapSlot::new() }; MAX_MAPS];

/// The ownership of one slot of the table, until it is dropped.
#[derive(Debug)]
struct MapEntry(usize);

impl MapEntry {
    fn reserve(start: usize, len: usize) -> Option<Self> {
        let free = |slot: &MapSlot| !slot.taken.swap(true, Ordering::AcqRel);
        let index = TABLE.iter().position(free)?;
        let slot = &TABLE[index];
        slot.faulted.store(false, Ordering::Relaxed);
        slot.set(start..start + len);
        // The entry is written before the first read of the map: for a handler on this thread, and
        // for other threads, which get the map from this one.
        fence(Ordering::SeqCst);
        Some(Self(index))
    }

    /// Whether a copy of the map that has ended met a missing page.
    fn has_faulted(&self) -> bool {
        // The mark is read after the bytes. The handler sets it before it asks the system for zero
        // pages, and the system shows those to no processor that does not see the mark, because it
        // synchronizes with all that may use the old pages.
        fence(Ordering::Acquire);
        TABLE[self.0].faulted.load(Ordering::Relaxed)
    }
}

impl Drop for MapEntry {
    fn drop(&mut self) {
        let slot = &TABLE[self.0];
        slot.set(0..0);
        // The entry is cleared before the addresses are given back, so before other code can get
        // them.
        fence(Ordering::SeqCst);
        slot.taken.store(false, Ordering::Release);
    }
}

/// The action that was installed for SIGBUS before ours, and the size of a page.
struct Before {
    action: libc::sigaction,
    page_bytes: usize,
}

static BEFORE: OnceLock<Before> = OnceLock::new();

type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);
type PlainHandler = extern "C" fn(c_int);

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
                let handler: Handler = on_bus_error;
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

/// The values of `si_code` for an access that failed, which has an address and happens again when
/// the handler returns: `BUS_ADRALN`, `BUS_ADRERR`, `BUS_OBJERR`, and on Linux `BUS_MCEERR_AR`. A
/// signal that was sent has 0 or less, or on macOS a large number. `BUS_MCEERR_AO` (5) is none of
/// these, because it warns of bad memory that no thread is accessing, so no copy may hold the map.
const FAULTS: RangeInclusive<c_int> = 1..=4;

/// The handler of SIGBUS. It runs in signal context: atomics and system calls only.
extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some(before) = BEFORE.get() else { return };
    // SAFETY: the system hands a handler installed with SA_SIGINFO a valid siginfo.
    let code = unsafe { (*info).si_code };
    let is_fault = FAULTS.contains(&code);
    if is_fault {
        // SAFETY: with these codes, the address field is set.
        let address = unsafe { (*info).si_addr() } as usize;
        if put_zeros(address, before.page_bytes) {
            return;
        }
    }
    hand_on(&before.action, is_fault, |handler| match handler {
        Previous::Plain(handler) => handler(signal),
        Previous::WithInfo(handler) => handler(signal, info, context),
    });
}

/// Puts zero pages under a map of ours from the page of `address` on, and marks the map. False if
/// the address is in none.
fn put_zeros(address: usize, page_bytes: usize) -> bool {
    for slot in &TABLE {
        let Some((_, addresses)) = slot.addresses() else { continue };
        if !addresses.contains(&address) {
            continue;
        }
        slot.faulted.store(true, Ordering::Release);
        let page = address & !(page_bytes - 1);
        // SAFETY: the range is inside one map of ours, which is mapped now and until the handler
        // returns, so that no memory of others is replaced:
        // - `addresses` are those of one map, never the start of one and the end of another, by the
        //   sequence number.
        // - If the read that faulted is one of ours, it is that map's, and holds it until it is
        //   done; maps do not overlap.
        // - If the read is one of other code, its address belonged to that code's map when it
        //   faulted, and ours do not overlap with that. An older entry with that address is not
        //   seen, because it was cleared before the addresses were given back to the system, which
        //   orders that before it gives them to other code. Private zero pages leave the address
        //   range in place. They may be put there by two threads at once.
        let result = unsafe {
            libc::mmap(
                page as *mut c_void,
                addresses.end - page,
                libc::PROT_READ,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        return result != libc::MAP_FAILED;
    }
    false
}

/// A handler that was installed before ours.
enum Previous {
    Plain(PlainHandler),
    WithInfo(Handler),
}

/// Passes a SIGBUS on to the action that was installed before ours. A handler is called with the
/// signals blocked that it wants blocked, and ours stays installed. The default action ends the
/// process by this signal.
fn hand_on(previous: &libc::sigaction, is_fault: bool, call: impl FnOnce(Previous)) {
    match previous.sa_sigaction {
        // A fault cannot be ignored: the system ends the process when it happens again.
        libc::SIG_DFL | libc::SIG_IGN if is_fault => reset_to(previous),
        libc::SIG_DFL => {
            reset_to(previous);
            raise();
        }
        libc::SIG_IGN => {}
        handler => {
            // SAFETY: any value but the two constants is a function, of the type that the flag
            // selects. The mask is one that the system gave us; the calls around the function work
            // on local memory.
            unsafe {
                let handler = if previous.sa_flags & libc::SA_SIGINFO == 0 {
                    Previous::Plain(mem::transmute::<usize, PlainHandler>(handler))
                } else {
                    Previous::WithInfo(mem::transmute::<usize, Handler>(handler))
                };
                let mut own = MaybeUninit::<libc::sigset_t>::zeroed();
                libc::pthread_sigmask(libc::SIG_BLOCK, &raw const previous.sa_mask, own.as_mut_ptr());
                call(handler);
                libc::pthread_sigmask(libc::SIG_SETMASK, own.as_ptr(), ptr::null_mut());
            }
            // Rust's own handler, which looks for stack overflows, treats every SIGBUS as a fault:
            // it restores the default and returns, so that the fault ends the process when it
            // happens again. A signal that was sent does not happen again, and the process would
            // live on without a guard. So it is raised again.
            if !is_fault && is_default() {
                raise();
            }
        }
    }
}

/// Installs this action for SIGBUS.
fn reset_to(action: &libc::sigaction) {
    // SAFETY: a system call on an action that the system gave us.
    unsafe { libc::sigaction(libc::SIGBUS, action, ptr::null_mut()) };
}

/// Whether the default action for SIGBUS is installed.
fn is_default() -> bool {
    let mut now = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: a system call on local memory. A zeroed sigaction is a valid one.
    unsafe {
        libc::sigaction(libc::SIGBUS, ptr::null(), now.as_mut_ptr()) == 0
            && now.assume_init().sa_sigaction == libc::SIG_DFL
    }
}

/// Sends SIGBUS to this thread. While a handler for it runs, the signal waits until that returns.
fn raise() {
    // SAFETY: a system call without memory.
    unsafe { libc::raise(libc::SIGBUS) };
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::io::Write as _;
    use std::os::unix::process::ExitStatusExt as _;
    use std::path::Path;
    use std::process::{Command, ExitStatus};
    use std::thread;
    use std::time::{Duration, Instant};

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

    #[cfg(target_os = "linux")]
    #[test]
    #[expect(clippy::print_stdout, reason = "a part that cannot run is said to be skipped")]
    fn a_file_in_memory_is_copied_as_any_other_and_may_lose_pages_too() {
        let folder = Path::new("/dev/shm");
        let Ok(mut file) = tempfile::NamedTempFile::new_in(folder) else {
            println!("SKIPPED: there is no folder of files in memory here");
            return;
        };
        assert!(is_in_memory(file.as_file()));
        let content: Vec<u8> = (0..300_000_u32).map(|at| (at % 251) as u8).collect();
        file.write_all(&content).unwrap();
        let map = Mapped::open(file.as_file(), "the file".to_owned()).unwrap().unwrap();
        for range in [0..300_000, 0..0, 4_095..4_097, 299_999..300_000, 300_000..300_000] {
            let mut copy = Vec::new();
            map.copy(range.clone(), &mut copy).unwrap();
            assert!(copy == content[range.clone()], "{range:?}");
        }
        file.as_file().set_len(5_000).unwrap();
        let error = map.copy(200_000..300_000, &mut Vec::new()).unwrap_err();
        assert!(matches!(error, InputError::Shrunk { .. }), "{error}");
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

    /// In a process of its own, because other tests need maps too.
    #[test]
    fn maps_are_bounded_and_given_back() {
        if env::var(CHILD).is_err() {
            let ended = child("maps_are_bounded_and_given_back", "");
            assert!(ended.success(), "{ended}");
            return;
        }
        let (file, first) = mapped(b"x");
        let open = || Mapped::open(file.as_file(), String::new()).unwrap();
        let held: Vec<_> = std::iter::from_fn(open).collect();
        assert_eq!(held.len(), MAX_MAPS - 1);
        drop(held);
        assert!(open().is_some());
        drop(first);
    }

    #[test]
    fn addresses_are_read_whole_or_not_at_all() {
        const CHANGES: usize = 20_000;
        let slot = MapSlot::new();
        let ranges = [10..20, 0..0, 1_000..2_000, 0..0, 30..40];
        let is_over = AtomicBool::new(false);
        let torn = thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    for range in &ranges {
                        slot.set(range.clone());
                    }
                }
            });
            let (mut last, mut changes, mut torn) = (0, 0, None);
            let begin = Instant::now();
            while changes < CHANGES && torn.is_none() && begin.elapsed() < Duration::from_secs(1) {
                let Some((sequence, seen)) = slot.addresses() else { continue };
                changes += usize::from(sequence != last);
                last = sequence;
                torn = Some(seen).filter(|seen| !ranges.contains(seen));
            }
            is_over.store(true, Ordering::Relaxed);
            torn
        });
        assert_eq!(torn, None);
        // Half a change, which a handler may find that interrupts it.
        slot.set(10..20);
        slot.sequence.fetch_add(1, Ordering::Relaxed);
        slot.start.store(5, Ordering::Relaxed);
        assert_eq!(slot.addresses(), None);
    }

    /// Of an entry that does not change in between, all addresses are mapped.
    #[test]
    fn what_is_in_the_table_is_mapped() {
        const TIMES: usize = 3_000;
        let (file, _first) = mapped(&vec![b'x'; 1 << 20]);
        let is_over = AtomicBool::new(false);
        let seen = thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..TIMES {
                    let map = Mapped::open(file.as_file(), String::new()).unwrap().unwrap();
                    map.copy(0..map.len(), &mut Vec::new()).unwrap();
                }
                is_over.store(true, Ordering::Relaxed);
            });
            let mut seen = 0;
            while !is_over.load(Ordering::Relaxed) {
                for slot in &TABLE {
                    let Some((sequence, range)) = slot.addresses().filter(|(_, range)| !range.is_empty())
                    else {
                        continue;
                    };
                    // SAFETY: a system call that fails where something is not mapped, and writes
                    // nothing to a map of a file that is only read.
                    let result =
                        unsafe { libc::msync(range.start as *mut c_void, range.len(), libc::MS_ASYNC) };
                    let now = slot.addresses().map(|(sequence, _)| sequence);
                    assert!(result == 0 || now != Some(sequence), "{range:?} is not mapped");
                    seen += 1;
                }
            }
            seen
        });
        assert!(seen > TIMES, "{seen}");
    }

    /// Tells a test that it runs in a process of its own, and what is installed there for SIGBUS
    /// before the first map.
    const CHILD: &str = "SUDOKU_TEST_SIGBUS";

    /// How many signals a handler that was there before has been given.
    static GIVEN: AtomicUsize = AtomicUsize::new(0);

    extern "C" fn plain(signal: c_int) {
        GIVEN.fetch_add(usize::from(signal == libc::SIGBUS), Ordering::Relaxed);
    }

    extern "C" fn with_info(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
        // SAFETY: installed with SA_SIGINFO.
        let code = unsafe { (*info).si_code };
        GIVEN.fetch_add(usize::from(signal == libc::SIGBUS && !FAULTS.contains(&code)), Ordering::Relaxed);
    }

    /// Installs an action for SIGBUS, as a program may that uses this library.
    fn install(action: usize, flags: c_int) {
        // SAFETY: system calls on local memory. No core is wanted of a process that is to be ended.
        unsafe {
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
            let mut new = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            (new.sa_sigaction, new.sa_flags) = (action, flags);
            assert_eq!(libc::sigaction(libc::SIGBUS, &raw const new, ptr::null_mut()), 0);
        }
    }

    /// Sends SIGBUS to this process as `kill` does, and waits until `has_come`: another thread may
    /// be the one that gets it.
    fn send(has_come: impl Fn() -> bool) {
        // SAFETY: system calls without memory.
        unsafe { libc::kill(libc::getpid(), libc::SIGBUS) };
        let begin = Instant::now();
        while !has_come() && begin.elapsed() < Duration::from_secs(20) {
            thread::yield_now();
        }
    }

    /// Runs `name` again in a process of its own and tells how that ended.
    fn child(name: &str, case: &str) -> ExitStatus {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", &format!("input::map::tests::{name}")]).env(CHILD, case);
        let output = command.output().unwrap();
        assert!(output.stdout.windows(14).any(|words| words == b"running 1 test"), "{name}: {output:?}");
        output.status
    }

    #[test]
    fn a_signal_that_was_sent_does_what_it_would_do_without_maps() {
        const NAME: &str = "a_signal_that_was_sent_does_what_it_would_do_without_maps";
        let Ok(case) = env::var(CHILD) else {
            let ended = child(NAME, "default");
            assert_eq!(ended.signal(), Some(libc::SIGBUS), "{ended}");
            for case in ["ignored", "plain", "with info"] {
                let ended = child(NAME, case);
                assert!(ended.success(), "{case}: {ended}");
            }
            return;
        };
        let expected = match case.as_str() {
            "default" => {
                install(libc::SIG_DFL, 0);
                0
            }
            "ignored" => {
                install(libc::SIG_IGN, 0);
                0
            }
            "plain" => {
                let handler: PlainHandler = plain;
                install(handler as usize, 0);
                2
            }
            _ => {
                let handler: Handler = with_info;
                install(handler as usize, libc::SA_SIGINFO);
                2
            }
        };
        let (file, map) = mapped(&vec![b'x'; 1 << 20]);
        for given in 1..=2 {
            // The default is the end.
            send(|| case != "default" && GIVEN.load(Ordering::Relaxed) >= given.min(expected));
        }
        assert_eq!(GIVEN.load(Ordering::Relaxed), expected);
        // The guard is still there.
        file.as_file().set_len(100).unwrap();
        let error = map.copy(1 << 19..1 << 20, &mut Vec::new()).unwrap_err();
        assert!(matches!(error, InputError::Shrunk { .. }), "{error}");
    }

    #[test]
    fn a_fault_in_a_map_of_others_ends_the_process() {
        const NAME: &str = "a_fault_in_a_map_of_others_ends_the_process";
        let Ok(case) = env::var(CHILD) else {
            for case in ["default", "ignored"] {
                let ended = child(NAME, case);
                assert_eq!(ended.signal(), Some(libc::SIGBUS), "{case}: {ended}");
            }
            return;
        };
        install(if case == "default" { libc::SIG_DFL } else { libc::SIG_IGN }, 0);
        let (file, _ours) = mapped(&vec![b'x'; 1 << 20]);
        // SAFETY: the file changes under this map, and that is what ends the process.
        let theirs = unsafe { Mmap::map(file.as_file()) }.unwrap();
        file.as_file().set_len(100).unwrap();
        assert_eq!(theirs[1 << 19], 0);
    }
}
