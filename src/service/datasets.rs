//! The data sets on the server's disk.
//!
//! The data directory is opened once and names are resolved beneath it, so that neither `..` nor a
//! link leads out of it. A file is mapped once, however many clients stream it and whatever they
//! call it, and served only after all of it has been seen to be well formed. A file that is
//! replaced becomes a new data set; streams that have begun go on with the old one.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use tokio::task::spawn_blocking;
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Request, Status};

use super::codec::{sendable, text_to_send};
use super::context::Context;
use super::convert::{self, Settings, invalid, option_field, wire_order};
use super::crew::{LeaveOnDrop, Size};
use super::meters;
use super::ordered::{Feeder, answers};
use super::proto;
use super::refusal::{
    broken_down, changed_dataset, exhausted, no_dataset, shutting_down, unfit_dataset, unreadable_dataset,
};
use crate::answer::{Cancelled, Rein, Tally, Workers, Written};
use crate::grid::Grid;
use crate::input::{self, Chunk, FileId, InputError, Mapped, Picked, PuzzleIndex, Reader, Source, Version};
use crate::text::{Format, Hint, PuzzleError, Records};

/// The most data sets that stay mapped. Beyond that, those that nobody is reading make room.
const MAX_MAPPED: usize = 64;

/// How many ways of reading one data set are remembered as checked.
const MAX_CHECKED: usize = 8;

/// The most data sets in one page of a list.
const MAX_PAGE: usize = 1000;

/// The data directory.
pub(super) struct Datasets {
    root: Dir,
    /// By file, and not by name: `a.txt`, `./a.txt` and a link to it are one data set.
    mapped: Mutex<HashMap<FileId, Arc<Dataset>>>,
}

/// A file of the data directory as it was when it was mapped.
struct Dataset {
    map: Arc<Mapped>,
    /// The ways it has been checked, with the first thing that was wrong.
    checked: tokio::sync::Mutex<Vec<(Hint, Option<PuzzleError>)>>,
    /// Where its puzzles are, for the way it was last read.
    index: Mutex<Option<(Hint, PuzzleIndex)>>,
}

/// A data set with the name that a client uses for it, for messages to that client.
#[derive(Clone)]
struct Named {
    name: String,
    dataset: Arc<Dataset>,
}

impl Datasets {
    /// Opens the data directory.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let root = Dir::open_ambient_dir(path, ambient_authority())?;
        Ok(Self { root, mapped: Mutex::default() })
    }

    /// The data set with this name, mapped if it is not yet.
    ///
    /// # Errors
    /// `NOT_FOUND` for anything but a regular file beneath the data directory, `FAILED_PRECONDITION` for a
    /// compressed one.
    fn dataset(&self, name: String) -> Result<Named, Status> {
        let file = self.file(&name).map_err(|_| no_dataset(&name))?;
        let metadata = file.metadata().map_err(|_| no_dataset(&name))?;
        let (id, version) = (FileId::of(&metadata), Version::of(&metadata));
        let mut mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = mapped.get(&id).filter(|known| known.map.version() == version) {
            let dataset = Arc::clone(known);
            return Ok(Named { name, dataset });
        }
        // Files that were changed or replaced are forgotten, and stay mapped only as long as calls
        // hold them. The inode of a mapped file is not used again, so a new file never finds the
        // entry of an old one.
        mapped.retain(|_, dataset| dataset.map.is_current());
        if mapped.len() >= MAX_MAPPED {
            // Calls hold what they read.
            mapped.retain(|_, dataset| Arc::strong_count(dataset) > 1);
        }
        let too_many = || exhausted("datasets", "data sets in use at once", MAX_MAPPED);
        if mapped.len() >= MAX_MAPPED {
            return Err(too_many());
        }
        if input::is_compressed(&file) {
            let message = format!("{name} is compressed. Data sets are read at any place: unpack it.");
            return Err(unfit_dataset("DATASET_COMPRESSED", &name, &message));
        }
        let map = Mapped::open(&file, name.clone()).map_err(|error| failure(&name, error))?;
        let dataset = Arc::new(Dataset {
            map: map.ok_or_else(too_many)?,
            checked: tokio::sync::Mutex::default(),
            index: Mutex::default(),
        });
        mapped.insert(id, Arc::clone(&dataset));
        Ok(Named { name, dataset })
    }

    /// Opens a regular file beneath the data directory.
    fn file(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        // Opening a FIFO would wait for a writer; what kind of file it is can only be asked when it is open.
        options.read(true).custom_flags(libc::O_NONBLOCK);
        let file = self.root.open_with(name, &options)?.into_std();
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    /// The regular files of the data directory by name. Hidden ones are being written, or not meant to be seen.
    fn list(&self) -> io::Result<Vec<proto::Dataset>> {
        let mut list = Vec::new();
        for entry in self.root.entries()? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if let Ok(name) = entry.file_name().into_string()
                && metadata.is_file()
                && !name.starts_with('.')
            {
                list.push(proto::Dataset { name, size_bytes: metadata.len() });
            }
        }
        list.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(list)
    }
}

impl Named {
    fn reader(&self, hint: &Hint) -> Result<Reader, Status> {
        Source::mapped(Arc::clone(&self.dataset.map)).read(hint).map_err(|error| failure(&self.name, error))
    }

    /// Makes sure that every puzzle is well formed. All of the file is looked at once for each way of reading it.
    ///
    /// # Errors
    /// `FAILED_PRECONDITION` with the first bad line.
    async fn check(&self, context: &Arc<Context>, hint: &Hint) -> Result<(), Status> {
        // Held while checking, so that clients that come meanwhile wait for the result.
        let mut checked = self.dataset.checked.lock().await;
        if let Some((_, wrong)) = checked.iter().find(|(known, _)| known == hint) {
            return self.verdict(wrong.as_ref());
        }
        let caller = LeaveOnDrop(context.caller());
        let flag = Arc::new(AtomicBool::new(false));
        caller.0.hold(&flag);
        let (dataset, pool, own_hint) =
            (self.clone(), Arc::clone(context.crew.checking_pool()), hint.clone());
        let found = blocking(move || {
            let reader = dataset.reader(&own_hint)?;
            input::validate(reader, &pool, &flag, 1, |_| {}).map_err(|stopped| match stopped {
                input::Stopped::Input(error) => failure(&dataset.name, error),
                input::Stopped::Cancelled => broken_down(),
            })
        })
        .await?;
        let wrong = found.errors.into_iter().next();
        let result = self.verdict(wrong.as_ref());
        if checked.len() == MAX_CHECKED {
            drop(checked.remove(0));
        }
        checked.push((hint.clone(), wrong));
        result
    }

    /// What checking found, as a status.
    fn verdict(&self, wrong: Option<&PuzzleError>) -> Result<(), Status> {
        let Some(error) = wrong else { return Ok(()) };
        let message = format!("The data set {} is not served: {error}", self.name);
        Err(unfit_dataset("DATASET_MALFORMED", &self.name, &message))
    }

    /// A puzzle and how many there are: the one with this number, or any.
    fn puzzle(&self, hint: &Hint, number: Option<u64>) -> Result<(Format, Picked, u64), Status> {
        let fail = |error| failure(&self.name, error);
        let mut shared = self.dataset.index.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken out, and put back on success only: an index that an error or a panic left half-way
        // would count wrong for all later calls.
        let mut index = match shared.take() {
            Some((known, index)) if known == *hint => index,
            _ => PuzzleIndex::new(Arc::clone(&self.dataset.map), hint).map_err(fail)?,
        };
        let count = index.count().map_err(fail)?;
        let picked = match number {
            Some(number) => index.puzzle(number),
            None => index.random(),
        };
        let picked = picked.map_err(fail)?;
        let format = index.format().clone();
        *shared = Some((hint.clone(), index));
        let outside = || invalid("index", format!("The data set has the puzzles 1 to {count}."));
        Ok((format, picked.ok_or_else(outside)?, count))
    }
}

/// The status of a call whose data set cannot be read, which its client calls by this name.
fn failure(name: &str, error: InputError) -> Status {
    let error = error.renamed(name);
    let message = error.to_string();
    match error {
        InputError::Shrunk { .. } | InputError::Changed { .. } => changed_dataset(name, message),
        InputError::Format(error) => match option_field(&error) {
            Some(field) => invalid(&field, message),
            None => unfit_dataset("DATASET_MALFORMED", name, &message),
        },
        InputError::Empty { .. } | InputError::TooLong { .. } | InputError::Endless { .. } => {
            unfit_dataset("DATASET_MALFORMED", name, &message)
        }
        InputError::Io { .. } | InputError::Damaged { .. } | InputError::NoParts { .. } => {
            unreadable_dataset(name, message)
        }
    }
}

/// Runs work that waits for the disk where it holds up nobody.
async fn blocking<R: Send + 'static>(
    work: impl FnOnce() -> Result<R, Status> + Send + 'static,
) -> Result<R, Status> {
    spawn_blocking(work).await.map_err(|_| broken_down())?
}

/// Finds a data set and makes sure that it is well formed.
async fn served(context: &Arc<Context>, name: String, hint: &Hint) -> Result<Named, Status> {
    let shared = Arc::clone(context);
    let dataset = blocking(move || match &shared.datasets {
        Some(datasets) => datasets.dataset(name),
        None => Err(no_dataset(&name)),
    })
    .await?;
    dataset.check(context, hint).await?;
    Ok(dataset)
}

/// Names the data sets.
pub(super) async fn list(
    context: &Arc<Context>,
    request: Request<proto::ListDatasetsRequest>,
) -> Result<proto::ListDatasetsResponse, Status> {
    let call = context.admit(&request)?;
    let proto::ListDatasetsRequest { page_size, page_token } = request.into_inner();
    let shared = Arc::clone(context);
    let all = blocking(move || match &shared.datasets {
        Some(datasets) => datasets.list().map_err(|error| unreadable_dataset("", error.to_string())),
        None => Ok(Vec::new()),
    });
    let all = call.deadline.limit(all).await??;
    let asked = usize::try_from(page_size).unwrap_or(MAX_PAGE);
    let size = if asked == 0 { MAX_PAGE } else { asked.min(MAX_PAGE) };
    // The token is the last name of the page before.
    let mut rest = all.into_iter().skip_while(|dataset| dataset.name <= page_token && !page_token.is_empty());
    let datasets: Vec<_> = rest.by_ref().take(size).collect();
    let last = datasets.last().map(|dataset| dataset.name.clone()).unwrap_or_default();
    let next_page_token = if rest.next().is_some() { last } else { String::new() };
    Ok(proto::ListDatasetsResponse { datasets, next_page_token })
}

/// Gives one puzzle of a data set.
pub(super) async fn puzzle(
    context: &Arc<Context>,
    request: Request<proto::GetPuzzleRequest>,
) -> Result<proto::GetPuzzleResponse, Status> {
    let call = context.admit(&request)?;
    let proto::GetPuzzleRequest { name, options, index } = request.into_inner();
    let hint = convert::text_hint(options.as_ref())?;
    let work = async {
        let dataset = served(context, name, &hint).await?;
        blocking(move || dataset.puzzle(&hint, index)).await
    };
    let (format, picked, count) = call.deadline.limit(work).await??;
    let mut grid = Grid::empty(format.order());
    Records::new(&format, &picked.text, picked.line).read(&mut grid);
    Ok(proto::GetPuzzleResponse {
        index: picked.number,
        count,
        line: picked.line,
        puzzle: convert::cells(&grid, &format),
        order: wire_order(format.order()),
    })
}

/// The answers from a data set with what they come to so far.
pub(super) type Summed = Pin<Box<dyn Stream<Item = Result<proto::SolveDatasetResponse, Status>> + Send>>;

/// Solves a data set.
pub(super) async fn solve(
    context: &Arc<Context>,
    request: Request<proto::SolveDatasetRequest>,
) -> Result<Summed, Status> {
    let call = context.admit(&request)?;
    let proto::SolveDatasetRequest { name, options, first_line, last_line } = request.into_inner();
    let Settings { task, hint } = context.settings(&options.unwrap_or_default())?;
    let range = (first_line.max(1), if last_line == 0 { u64::MAX } else { last_line });
    if range.0 > range.1 {
        return Err(invalid("last_line", format!("Line {last_line} comes before line {first_line}.")));
    }
    let work = async {
        let dataset = served(context, name, &hint).await?;
        blocking(move || {
            let mut reader = dataset.reader(&hint)?;
            if range != (1, u64::MAX) {
                limit(&mut reader, &dataset.name, range)?;
            }
            Ok((dataset, reader))
        })
        .await
    };
    let (dataset, reader) = call.deadline.limit(work).await??;
    let task = context.for_order(task, reader.format().order())?;
    let workers = Arc::new(context.workers(reader.format().clone(), task));
    let shared = Arc::clone(context);
    let written = answers(context, call, |feeder| feed(shared, dataset, reader, workers, feeder));
    let mut total = Tally::default();
    Ok(Box::pin(written.map(move |written| {
        written.map(|Written { text, tally }| {
            total.add(&tally);
            proto::SolveDatasetResponse { lines: sendable(text), tally: Some(convert::tally(&total)) }
        })
    })))
}

/// Leaves out all lines beyond a range.
fn limit(reader: &mut Reader, name: &str, (first, last): (u64, u64)) -> Result<(), Status> {
    if !reader.format().is_by_line() {
        let what = format!("A data set in {} is solved as a whole.", reader.format().notation());
        return Err(invalid("first_line", what));
    }
    reader.limit_lines(first, last).map_err(|error| failure(name, error))
}

/// Reads chunks and starts their work until the end, or until the client has left or the server shuts down. The data
/// set is held meanwhile, so that it stays mapped for others.
async fn feed(
    context: Arc<Context>,
    dataset: Named,
    mut reader: Reader,
    workers: Arc<Workers>,
    feeder: Feeder<[Written; 1]>,
) -> Result<(), Status> {
    while let Some(place) = feeder.place().await {
        if context.is_draining() {
            return Err(shutting_down());
        }
        let (same, chunk) = blocking(move || {
            let chunk = reader.next_chunk();
            Ok((reader, chunk))
        })
        .await?;
        reader = same;
        let Some(chunk) = chunk.map_err(|error| failure(&dataset.name, error))? else { break };
        let workers = Arc::clone(&workers);
        let work =
            move |chunk: &Chunk, rein: &dyn Rein| answer(&workers, chunk, rein).map(|written| [written]);
        place.start(Size::Large, vec![chunk], Arc::new(work)).await;
    }
    Ok(())
}

/// Answers a chunk, whatever happens.
fn answer(workers: &Workers, chunk: &Chunk, rein: &dyn Rein) -> Result<Written, Cancelled> {
    let block = chunk.block();
    let room = || text_to_send(Workers::room_for(block));
    let work = AssertUnwindSafe(|| workers.write_answers_into(block, rein, room()));
    let written = catch_unwind(work).unwrap_or_else(|_| Ok(workers.write_internal_errors(block, room())));
    if let Ok(written) = &written {
        meters::answered(&written.tally);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::sync::Weak;

    use super::*;

    /// A list of lines in a folder, and the folder opened.
    fn folder() -> (tempfile::TempDir, Datasets) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.txt"), "1234341221434321\n".repeat(1_000)).unwrap();
        let datasets = Datasets::open(folder.path()).unwrap();
        (folder, datasets)
    }

    impl Datasets {
        fn named(&self, name: &str) -> Arc<Dataset> {
            let named = self.dataset(name.to_owned()).unwrap();
            assert_eq!(named.name, name);
            named.dataset
        }

        fn count(&self) -> usize {
            self.mapped.lock().unwrap().len()
        }
    }

    fn first_line(dataset: &Dataset) -> Vec<u8> {
        let mut line = Vec::new();
        dataset.map.copy(0..16, &mut line).unwrap();
        line
    }

    #[test]
    fn a_file_is_one_data_set_whatever_it_is_called() {
        let (folder, datasets) = folder();
        let path = folder.path();
        fs::create_dir(path.join("sub")).unwrap();
        fs::hard_link(path.join("a.txt"), path.join("hard.txt")).unwrap();
        symlink("a.txt", path.join("soft.txt")).unwrap();
        symlink("../a.txt", path.join("sub/up.txt")).unwrap();
        let first = datasets.named("a.txt");
        for name in ["a.txt", "./a.txt", ".//./a.txt", "sub/../a.txt", "hard.txt", "soft.txt", "sub/up.txt"] {
            assert!(Arc::ptr_eq(&datasets.named(name), &first), "{name}");
        }
        fs::copy(path.join("a.txt"), path.join("copy.txt")).unwrap();
        assert!(!Arc::ptr_eq(&datasets.named("copy.txt"), &first));
        assert_eq!(datasets.count(), 2);
    }

    #[test]
    fn a_file_that_is_replaced_or_written_again_is_another_data_set() {
        let (folder, datasets) = folder();
        let path = |name: &str| folder.path().join(name);
        let text = fs::read(path("a.txt")).unwrap();
        let modified = fs::metadata(path("a.txt")).unwrap().modified().unwrap();
        let date_back = |name| {
            File::options().write(true).open(path(name)).unwrap().set_modified(modified).unwrap();
        };
        let old = datasets.named("a.txt");

        // Of the same length and time: what is held goes on, and all who come get the new one.
        fs::write(path("new.txt"), [b"2".as_slice(), &text[1..]].concat()).unwrap();
        date_back("new.txt");
        fs::rename(path("new.txt"), path("a.txt")).unwrap();
        let new = datasets.named("./a.txt");
        assert_eq!((&first_line(&old)[..2], &first_line(&new)[..2]), (&b"12"[..], &b"22"[..]));
        assert!(Arc::ptr_eq(&datasets.named("a.txt"), &new));

        // In the same place, likewise.
        fs::write(path("a.txt"), [b"3".as_slice(), &text[1..]].concat()).unwrap();
        date_back("a.txt");
        let newest = datasets.named("a.txt");
        assert!(!Arc::ptr_eq(&newest, &new));
        assert_eq!(first_line(&newest)[0], b'3');
        assert_eq!(datasets.count(), 1);
    }

    #[test]
    fn old_data_sets_do_not_pile_up() {
        let (folder, datasets) = folder();
        let path = |name: &str| folder.path().join(name);
        let held = datasets.named("a.txt");
        let mut seen: Vec<Weak<Dataset>> = Vec::new();
        for _ in 0..5 {
            fs::copy(path("a.txt"), path("new.txt")).unwrap();
            fs::rename(path("new.txt"), path("a.txt")).unwrap();
            seen.push(Arc::downgrade(&datasets.named("a.txt")));
            assert_eq!(datasets.count(), 1);
        }
        let last = seen.pop().unwrap();
        assert!(last.upgrade().is_some() && seen.iter().all(|old| old.upgrade().is_none()));
        assert_eq!(Arc::strong_count(&held), 1);
        assert_eq!(first_line(&held), b"1234341221434321");
    }
}
