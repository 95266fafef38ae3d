//! Data sets: the files of the data directory.
//!
//! A file is mapped once, however many clients read it and by whatever names. A file that is
//! replaced becomes a new data set; streams that have begun continue with the old one. Of a compressed
//! file its content is mapped, which is unpacked into a file without a name.
//!
//! **Invariant:** the data directory is opened once and names are resolved beneath it, so neither
//! `..` nor a link leads out of it.
//!
//! **Invariant:** a data set is served only after all of it has been validated, so a bad line is an
//! error before the first answer and not in the middle of them.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};

use tokio::task::spawn_blocking;
use tonic::Status;

use crate::input::{
    self, ContentKind, FileId, InputError, Mapped, Named, Picked, PuzzleIndex, Reader, Source, Version,
};
use crate::pipeline::ThreadPool;
use crate::poison::IgnorePoison as _;
use crate::service::metrics;
use crate::service::wire::convert::option_field;
use crate::service::wire::proto;
use crate::service::wire::status::{
    busy, dataset_changed, dataset_not_found, dataset_not_servable, dataset_unreadable, format_sentence,
    format_unreadable, invalid, share_reached, work_broke_down,
};
use crate::text::{Format, Hint, PuzzleError};

/// The most data sets that stay mapped. Beyond that, those that no call reads are unmapped.
const MAX_MAPPED: usize = 64;

/// The multiple of the data sets that no call reads of which a client may read as many.
const SHARE: usize = 2;

/// The most formats in which one data set is remembered as checked.
const MAX_CHECKED: usize = 8;

/// The folders below each other whose files are listed.
const MAX_DEPTH: usize = 8;

/// The most bytes of the content of a compressed data set.
const MAX_UNPACKED: u64 = 1 << 30;

/// The data directory.
pub(crate) struct Datasets {
    root: Dir,
    /// The only data set, if a file was named instead of a directory.
    only: Option<String>,
    /// Held while a file is unpacked, so that it is unpacked once, and the disk has one to write.
    unpacking: Mutex<()>,
    /// The data sets by file, not by name: `a.txt`, `./a.txt` and a link to it are one data set.
    mapped: Mutex<HashMap<FileId, Arc<Dataset>>>,
}

/// A file of the data directory as it was when it was mapped.
struct Dataset {
    map: Arc<Mapped>,
    /// The compressed file whose content is mapped, as it was then.
    packed: Option<(File, Version)>,
    /// The formats in which it has been checked, each with the first error.
    checked: tokio::sync::Mutex<Vec<(Hint, Option<PuzzleError>)>>,
    /// The index of its puzzles, for the format in which it was last read.
    index: Mutex<Option<(Hint, PuzzleIndex)>>,
    /// The clients that read it, each with the number of its calls that do.
    users: Mutex<HashMap<DatasetUser, usize>>,
}

/// A client, as far as it shares data sets with others: its token, and its address, or its
/// connection where others have the same address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct DatasetUser {
    token: u64,
    address: Option<IpAddr>,
    connection: u64,
}

impl DatasetUser {
    /// The client with this token, at this address, if its connections are one client together, or on
    /// this connection.
    pub(crate) fn new(token: u64, address: Option<IpAddr>, connection: u64) -> Self {
        Self { token, address, connection: if address.is_some() { 0 } else { connection } }
    }
}

/// The use of a data set by a call, for as long as it lives.
struct DatasetUse {
    dataset: Arc<Dataset>,
    user: DatasetUser,
}

impl Dataset {
    /// The version of the file.
    fn version(&self) -> Version {
        self.packed.as_ref().map_or_else(|| self.map.version(), |(_, version)| *version)
    }

    /// Whether the file is unchanged.
    fn is_current(&self) -> bool {
        match &self.packed {
            None => self.map.is_current(),
            Some((file, version)) => file.metadata().is_ok_and(|now| Version::of(&now) == *version),
        }
    }

    fn is_used(&self) -> bool {
        !self.users.lock().ignore_poison().is_empty()
    }

    fn is_used_by(&self, user: DatasetUser) -> bool {
        self.users.lock().ignore_poison().contains_key(&user)
    }
}

impl DatasetUse {
    fn new(dataset: Arc<Dataset>, user: DatasetUser) -> Self {
        *dataset.users.lock().ignore_poison().entry(user).or_default() += 1;
        Self { dataset, user }
    }
}

impl Drop for DatasetUse {
    fn drop(&mut self) {
        let mut users = self.dataset.users.lock().ignore_poison();
        if let Some(calls) = users.get_mut(&self.user) {
            *calls -= 1;
            if *calls == 0 {
                users.remove(&self.user);
            }
        }
    }
}

/// A data set with the name that a client uses for it, which messages to that client repeat.
#[derive(Clone)]
pub(crate) struct NamedDataset {
    pub(crate) name: String,
    used: Arc<DatasetUse>,
}

impl Datasets {
    /// Opens the data directory.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let root = Dir::open_ambient_dir(folder, ambient_authority())?;
        Ok(Self { root, only: None, unpacking: Mutex::default(), mapped: Mutex::default() })
    }

    /// Opens a file as the only data set.
    ///
    /// # Errors
    /// The system's, for its folder.
    pub(crate) fn open_file(file: &Path) -> io::Result<Self> {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let only = file.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(Self { only, ..Self::open(folder.unwrap_or(Path::new(".")))? })
    }

    /// The data set with this name for a client, mapped if it is not yet.
    ///
    /// # Errors
    /// `NOT_FOUND` for anything but a regular file beneath the data directory,
    /// `FAILED_PRECONDITION` for one that is no plain text; `RESOURCE_EXHAUSTED` if calls read too many
    /// others.
    pub(crate) fn dataset(&self, name: &str, user: DatasetUser) -> Result<NamedDataset, Status> {
        let file = self.file(name).map_err(|_| dataset_not_found(name))?;
        let metadata = file.metadata().map_err(|_| dataset_not_found(name))?;
        let (id, version) = (FileId::of(&metadata), Version::of(&metadata));
        let named = |dataset| {
            let used = Arc::new(DatasetUse::new(dataset, user));
            NamedDataset { name: name.to_owned(), used }
        };
        let known = |mapped: &HashMap<FileId, Arc<Dataset>>| {
            let known = mapped.get(&id).filter(|known| known.version() == version).cloned();
            if known.as_ref().is_none_or(|known| !known.is_used()) {
                check_share(mapped, user)?;
            }
            Ok::<_, Status>(known)
        };
        let find = || known(&self.mapped.lock().ignore_poison());
        if let Some(dataset) = find()? {
            return Ok(named(dataset));
        }
        let kind = kind_of(&file, name)?;
        let is_packed = matches!(kind, ContentKind::Compressed(_));
        let _unpacking = is_packed.then(|| self.unpacking.lock().ignore_poison());
        // Whoever held it before may have unpacked the same file.
        if is_packed && let Some(dataset) = find()? {
            return Ok(named(dataset));
        }
        let content = content(&file, name, kind)?;
        let mut mapped = self.mapped.lock().ignore_poison();
        if let Some(dataset) = known(&mapped)? {
            return Ok(named(dataset));
        }
        // Entries of changed or replaced files are removed, and their maps live only as long as
        // calls hold them. The inode of a mapped file is not reused, so a new file never finds the
        // entry of an old one.
        mapped.retain(|_, dataset| dataset.is_current());
        if mapped.len() >= MAX_MAPPED {
            mapped.retain(|_, dataset| dataset.is_used());
        }
        let map = Mapped::open(content.as_ref().unwrap_or(&file), name.to_owned());
        let dataset = Arc::new(Dataset {
            map: map.map_err(|error| failure(name, error))?.ok_or_else(too_many)?,
            packed: content.is_some().then_some((file, version)),
            checked: tokio::sync::Mutex::default(),
            index: Mutex::default(),
            users: Mutex::default(),
        });
        mapped.insert(id, Arc::clone(&dataset));
        Ok(named(dataset))
    }

    /// Opens a regular file beneath the data directory.
    fn file(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        // Without this, opening a FIFO would wait for a writer. The kind of file is known only once
        // it is open.
        options.read(true).custom_flags(libc::O_NONBLOCK);
        // Names that begin with a dot are hidden from the list, and so are those below such folders.
        if name.split('/').any(|part| part.starts_with('.') && ![".", ".."].contains(&part)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        if self.only.as_ref().is_some_and(|only| only != name) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let file = self.root.open_with(name, &options)?.into_std();
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    /// The regular files of the data directory and the folders below it by name, without hidden ones,
    /// which may be incomplete and are not served either.
    pub(crate) fn list(&self) -> io::Result<Vec<proto::Dataset>> {
        let mut list = Vec::new();
        let mut folders = vec![(self.root.try_clone()?, String::new(), 1)];
        while let Some((folder, path, depth)) = folders.pop() {
            for entry in folder.entries()? {
                let entry = entry?;
                let Ok(name) = entry.file_name().into_string() else { continue };
                if name.starts_with('.') || self.only.as_ref().is_some_and(|only| *only != name) {
                    continue;
                }
                let name = format!("{path}{name}");
                // A link counts as what it leads to, as it does when it is opened: all files of a mounted
                // ConfigMap are links. One that leads outside, or nowhere, is none, and one to a folder
                // is not followed, because it may lead around in a circle.
                let Ok(metadata) = self.root.metadata(&name) else { continue };
                if metadata.is_file() {
                    list.push(proto::Dataset { name, size_bytes: metadata.len() });
                } else if depth < MAX_DEPTH
                    && entry.file_type().is_ok_and(|kind| kind.is_dir())
                    && let Ok(below) = entry.open_dir()
                {
                    folders.push((below, format!("{name}/"), depth + 1));
                }
            }
        }
        list.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(list)
    }
}

impl NamedDataset {
    /// A reader of the data set.
    pub(crate) fn reader(&self, hint: &Hint) -> Result<Reader, Status> {
        Source::mapped(Arc::clone(&self.used.dataset.map))
            .read(hint)
            .map_err(|error| failure(&self.name, error))
    }

    /// Makes sure that every puzzle is well formed. The whole file is validated once for each
    /// format, on the threads of `pool`.
    ///
    /// # Errors
    /// `FAILED_PRECONDITION` with the first bad line.
    pub(crate) async fn check(
        &self,
        hint: &Hint,
        pool: &Arc<ThreadPool>,
        cancel: Arc<AtomicBool>,
    ) -> Result<(), Status> {
        // Held while checking, so that other calls wait for the result instead of checking too.
        let mut checked = self.used.dataset.checked.lock().await;
        if let Some((_, wrong)) = checked.iter().find(|(known, _)| known == hint) {
            return self.verdict(wrong.as_ref());
        }
        let (dataset, pool, own_hint) = (self.clone(), Arc::clone(pool), hint.clone());
        let found = blocking(move || {
            let reader = dataset.reader(&own_hint)?;
            input::validate(reader, &pool, &cancel, 1, |_| {}).map_err(|stopped| match stopped {
                input::ValidateError::Input(error) => failure(&dataset.name, error),
                input::ValidateError::Threads(_) | input::ValidateError::Cancelled => work_broke_down(),
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

    /// The result of a check, as a status.
    fn verdict(&self, wrong: Option<&PuzzleError>) -> Result<(), Status> {
        let Some(error) = wrong else { return Ok(()) };
        let message = format!("The data set {} is not served: {error}", self.name);
        Err(dataset_not_servable("DATASET_MALFORMED", &self.name, &message))
    }

    /// The puzzle with this number, or a random one, and the number of puzzles.
    pub(crate) fn puzzle(&self, hint: &Hint, number: Option<u64>) -> Result<(Format, Picked, u64), Status> {
        let fail = |error| failure(&self.name, error);
        let mut shared = self.used.dataset.index.lock().ignore_poison();
        // Taken out, and put back on success only, because an index that an error or a panic left
        // half-way would count wrong for all later calls.
        let mut index = match shared.take() {
            Some((known, index)) if known == *hint => index,
            _ => PuzzleIndex::new(Arc::clone(&self.used.dataset.map), hint).map_err(fail)?,
        };
        let count = index.count().map_err(fail)?;
        let picked = match number {
            Some(number) => index.puzzle(number),
            None => index.random(),
        };
        let picked = picked.map_err(fail)?;
        let format = index.format().clone();
        *shared = Some((hint.clone(), index));
        let outside = || invalid("index", beyond("data set", count));
        Ok((format, picked.ok_or_else(outside)?, count))
    }
}

/// Refuses another data set to a client while calls read as many as may be read at once, or the client
/// has its share of them.
fn check_share(mapped: &HashMap<FileId, Arc<Dataset>>, user: DatasetUser) -> Result<(), Status> {
    let used = mapped.values().filter(|dataset| dataset.is_used()).count();
    if used >= MAX_MAPPED {
        return Err(too_many());
    }
    let share = mapped.values().filter(|dataset| dataset.is_used_by(user)).count();
    if share > SHARE * (MAX_MAPPED - used) {
        metrics::refused("datasets");
        return Err(share_reached("datasets", "client", share, MAX_MAPPED, "data sets in use at once"));
    }
    Ok(())
}

fn too_many() -> Status {
    metrics::refused("datasets");
    busy("datasets", ("data set", "in use at once"), MAX_MAPPED)
}

/// The kind of a file.
fn kind_of(file: &File, name: &str) -> Result<ContentKind, Status> {
    ContentKind::of_file(file).map_err(|error| dataset_unreadable(name, format!("{name}: {error}")))
}

/// The content of a compressed file; `None` for one that is text.
///
/// # Errors
/// `FAILED_PRECONDITION` for what is no text, cannot be unpacked or is too long.
fn content(file: &File, name: &str, kind: ContentKind) -> Result<Option<File>, Status> {
    let ContentKind::Compressed(compression) = kind else {
        return refuse_what_is_no_text(kind, name).map(|()| None);
    };
    let refused = |what: String| {
        dataset_not_servable("DATASET_COMPRESSED", name, &format!("{name} cannot be unpacked: {what}"))
    };
    let content = input::unpacked(file, compression, MAX_UNPACKED)
        .map_err(|error| refused(format!("{error}.")))?
        .ok_or_else(|| refused(format!("it holds more than {} MiB.", MAX_UNPACKED >> 20)))?;
    refuse_what_is_no_text(kind_of(&content, name)?, name)?;
    Ok(Some(content))
}

/// Refuses a file that would have to be decoded, because a data set is read at any place.
fn refuse_what_is_no_text(kind: ContentKind, name: &str) -> Result<(), Status> {
    if let ContentKind::Foreign(foreign) = kind {
        return Err(failure(name, foreign.error(&Named { name, is_file: true }, false)));
    }
    let Some((what, advice)) = kind.not_plain() else { return Ok(()) };
    let is_compressed = matches!(kind, ContentKind::Compressed(_) | ContentKind::Zip);
    let reason = if is_compressed { "DATASET_COMPRESSED" } else { "DATASET_MALFORMED" };
    let message = format!("{name} {what}. Data sets are read at any place: {advice}.");
    Err(dataset_not_servable(reason, name, &message))
}

/// The status of a call whose data set cannot be read; `name` is the client's name for it.
pub(crate) fn failure(name: &str, error: InputError) -> Status {
    let error = error.renamed(name);
    let message = match &error {
        InputError::Format(error) => format_sentence(error),
        InputError::NoPuzzle { misfit, .. } if misfit.may_have_puzzles() => format!(
            "{name} has no puzzles: {misfit} If it does hold puzzles, say how they are written: by notation, order, \
             column or delimiter."
        ),
        other => other.to_string(),
    };
    match error {
        InputError::Shrunk { .. } | InputError::Changed { .. } => dataset_changed(name, message),
        InputError::Format(error) => match option_field(&error) {
            Some(field) => format_unreadable(&error, &field),
            None => {
                let message = format!("The data set {name} is not served: {message}");
                dataset_not_servable("DATASET_MALFORMED", name, &message)
            }
        },
        InputError::Empty { .. }
        | InputError::Foreign { .. }
        | InputError::NoPuzzle { .. }
        | InputError::NotText { .. }
        | InputError::TooLong { .. }
        | InputError::Endless { .. } => dataset_not_servable("DATASET_MALFORMED", name, &message),
        InputError::Io { .. } | InputError::Damaged { .. } | InputError::NotShardable { .. } => {
            dataset_unreadable(name, message)
        }
    }
}

/// The sentence about a number that none of so many puzzles has.
pub(crate) fn beyond(what: &str, count: u64) -> String {
    match count {
        1 => format!("The {what} has one puzzle."),
        _ => format!("The {what} has the puzzles 1 to {count}."),
    }
}

/// Runs work that waits for the disk on a thread that may block.
///
/// # Errors
/// The errors of the work; `INTERNAL` if it panicked.
pub(crate) async fn blocking<R: Send + 'static>(
    work: impl FnOnce() -> Result<R, Status> + Send + 'static,
) -> Result<R, Status> {
    spawn_blocking(work).await.map_err(|_| work_broke_down())?
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
            let named = self.dataset(name, DatasetUser::default()).unwrap();
            assert_eq!(named.name, name);
            Arc::clone(&named.used.dataset)
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

        // Same length and time: the old one stays readable, and new calls get the new one.
        fs::write(path("new.txt"), [b"2".as_slice(), &text[1..]].concat()).unwrap();
        date_back("new.txt");
        fs::rename(path("new.txt"), path("a.txt")).unwrap();
        let new = datasets.named("./a.txt");
        assert_eq!((&first_line(&old)[..2], &first_line(&new)[..2]), (&b"12"[..], &b"22"[..]));
        assert!(Arc::ptr_eq(&datasets.named("a.txt"), &new));

        // Overwritten in place: new calls get the new one too.
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
