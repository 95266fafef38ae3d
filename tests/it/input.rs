//! Inputs of every kind, and what becomes of them when they are huge, damaged, odd, or changed while they are read.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Cursor, Read, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::harness::eventually;

use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::input::{
    CHUNK_BYTES, InputError, Mapped, Pick, Prefix, PuzzleIndex, Reader, Source, ValidateError, npy_header,
    pick, validate,
};
use sudoku_stream::pipeline;
use sudoku_stream::text::{Alphabet, Hint, MAX_LINE_BYTES, Notation, Records, SAMPLE_BYTES};

const NINE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

/// What a chunk of lines may hold at most: as much as is read at a time, behind an unfinished line.
const LARGEST_CHUNK: usize = 2 * CHUNK_BYTES;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }
}

fn read(path: &Path, may_map: bool) -> Result<Reader, InputError> {
    Source::open(path, may_map)?.read(&Hint::default())
}

fn reading(text: impl Read + Send + 'static) -> Result<Reader, InputError> {
    Source::reading("text".to_owned(), Box::new(text))?.read(&Hint::default())
}

/// A reader of 9x9 puzzles, one a line, whatever the text looks like.
fn reading_lines(text: impl Read + Send + 'static) -> Reader {
    Source::reading("text".to_owned(), Box::new(text)).unwrap().read(&lines_of_nine()).unwrap()
}

fn lines_of_nine() -> Hint {
    Hint {
        notation: Some(Notation::Lines),
        order: Some(Order::NINE),
        alphabet: Some(Alphabet::Letters),
        ..Hint::default()
    }
}

/// Line numbers of the puzzles that can be read, and of those that cannot.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    good: Vec<u64>,
    bad: Vec<u64>,
}

/// Everything that is handed out, and the error that comes after it.
fn drain(reader: &mut Reader) -> (Found, Option<InputError>) {
    let mut found = Found::default();
    let mut grid = Grid::empty(reader.format().order());
    let mut end = 0;
    loop {
        let chunk = match reader.next_chunk() {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return (found, None),
            Err(error) => return (found, Some(error)),
        };
        let block = chunk.block();
        assert!(block.text.len() <= LARGEST_CHUNK, "{} bytes in a chunk", block.text.len());
        assert!(chunk.end() > end, "a chunk takes the input further");
        end = chunk.end();
        let mut records = Records::new(reader.format(), block.text, block.first_line);
        while let Some(record) = records.read(&mut grid) {
            if record.error.is_some() { &mut found.bad } else { &mut found.good }.push(record.line);
        }
    }
}

fn all(mut reader: Reader) -> Found {
    let (found, error) = drain(&mut reader);
    assert!(error.is_none(), "{error:?}");
    found
}

/// `count` lines of which every tenth is a comment, every tenth blank, and every tenth nonsense.
fn mixed(count: u64) -> String {
    let line = |number| match number % 10 {
        0 => "# nothing\n".to_owned(),
        4 => "\r\n".to_owned(),
        7 => format!("nonsense {number}\n"),
        _ => format!("{NINE} rated {number}\n"),
    };
    (1..=count).map(line).collect()
}

fn found_in_mixed(lines: impl Iterator<Item = u64>) -> Found {
    let mut found = Found::default();
    for number in lines {
        match number % 10 {
            0 | 4 => {}
            7 => found.bad.push(number),
            _ => found.good.push(number),
        }
    }
    found
}

#[test]
fn lines_are_numbered_through_all_chunks() {
    let folder = Folder::new();
    let path = folder.file("mixed", mixed(20_000).as_bytes());
    for may_map in [true, false] {
        let reader = read(&path, may_map).unwrap();
        assert_eq!(reader.len_bytes(), Some(fs::metadata(&path).unwrap().len()));
        assert_eq!(all(reader), found_in_mixed(1..=20_000));
    }
}

#[test]
fn chunks_are_as_small_as_asked_from_the_first_one_on() {
    let text = format!("{NINE}\n").repeat(2_000);
    let folder = Folder::new();
    let file = folder.file("puzzles.txt", text.as_bytes());
    for may_map in [true, false] {
        for bytes in [1, 100, 1_024, 16 * 1_024] {
            let mut reader = read(&file, may_map).unwrap();
            reader.read_in_chunks_of(bytes);
            let mut seen = Vec::new();
            while let Some(chunk) = reader.next_chunk().unwrap() {
                let part = chunk.block().text;
                let most = (2 * bytes).max(NINE.len() + 1);
                assert!(part.len() <= most, "{} bytes where {bytes} were asked for", part.len());
                seen.extend_from_slice(part);
            }
            assert!(seen == text.as_bytes(), "chunks of {bytes}");
        }
    }
}

#[test]
fn a_line_of_ten_megabytes_is_one_bad_line() {
    let folder = Folder::new();
    let long = "7".repeat(10 << 20);
    let path = folder.file("long", format!("{NINE}\n{long}\n{NINE} {long}\n{NINE}\n{long}").as_bytes());
    for may_map in [true, false] {
        let found = all(read(&path, may_map).unwrap());
        assert_eq!(found, Found { good: vec![1, 3, 4], bad: vec![2, 5] });
    }
    // As the first line, it is all that detection sees.
    let path = folder.file("longer", format!("{long}\n{NINE}\n").as_bytes());
    assert_eq!(all(read(&path, true).unwrap()), Found { good: vec![2], bad: vec![1] });
}

/// Line ends before, at and behind every border between what is read at a time and what is kept of a line.
#[test]
fn a_line_that_does_not_end_is_an_error_behind_what_came_before() {
    let words = |line| format!("text has a line that does not end within 268435456 bytes: line {line}.");
    let endless = Cursor::new(format!("{NINE}\n\n{NINE}\n").repeat(3_000)).chain(io::repeat(0));
    let (found, error) = drain(&mut reading(endless).unwrap());
    assert_eq!(found.good.len(), 6_000);
    assert_eq!((found.bad, error.unwrap().to_string()), (vec![], words(9_001)));

    let comment = reading(Cursor::new("\n# one\n# two").chain(io::repeat(b'x')));
    assert_eq!(comment.err().unwrap().to_string(), words(3));
}

#[test]
fn line_ends_at_borders_are_found() {
    let head = format!("{NINE}\n").len();
    let borders = [
        MAX_LINE_BYTES,
        SAMPLE_BYTES,
        CHUNK_BYTES,
        SAMPLE_BYTES + CHUNK_BYTES,
        SAMPLE_BYTES + 2 * CHUNK_BYTES,
    ];
    for border in borders {
        for length in (border - head - 2..=border - head + 2).chain(border - 2..=border + 2) {
            let long = ".".repeat(length);
            for (text, wanted) in [
                (format!("{NINE}\n{long}\n{NINE}\n{NINE}"), Found { good: vec![1, 3, 4], bad: vec![2] }),
                (format!("{long}\n{NINE}\n{long}"), Found { good: vec![2], bad: vec![1, 3] }),
                (format!("{long}\n\n{NINE}\n{long}\n{NINE}"), Found { good: vec![3, 5], bad: vec![1, 4] }),
                (format!("# {long}\n{NINE}\n#{long}\n{NINE}\n"), Found { good: vec![2, 4], bad: vec![] }),
            ] {
                assert_eq!(all(reading_lines(Cursor::new(text))), wanted, "{length} characters");
            }
        }
    }
}

#[test]
fn what_lies_beyond_the_kept_part_of_a_line_changes_nothing() {
    // In one chunk, or cut on the way in: white space that is too long hides what comes after it.
    for length in [MAX_LINE_BYTES - 1, MAX_LINE_BYTES, MAX_LINE_BYTES + 1, 10 * CHUNK_BYTES] {
        let text = format!("{NINE}\n{}x\n{NINE}\n", "\r".repeat(length));
        let bad = if length < MAX_LINE_BYTES { vec![2] } else { vec![] };
        assert_eq!(all(reading(Cursor::new(text)).unwrap()), Found { good: vec![1, 3], bad }, "{length}");
    }
}

#[test]
fn a_file_of_newlines_is_empty() {
    let folder = Folder::new();
    let path = folder.file("newlines", &vec![b'\n'; 50 << 20]);
    for may_map in [true, false] {
        let error = read(&path, may_map).err().unwrap();
        assert_eq!(error.to_string(), format!("{} is empty.", path.display()));
    }
    let path = folder.file("zeros", b"");
    OpenOptions::new().write(true).open(&path).unwrap().set_len(50 << 20).unwrap();
    for may_map in [true, false] {
        let error = read(&path, may_map).err().unwrap().to_string();
        assert_eq!(error, format!("{} is no text: it has a zero byte at offset 0.", path.display()));
    }
}

#[test]
fn odd_files_are_read_or_told_by_name() {
    let folder = Folder::new();
    let path = folder.file("empty", b"");
    for may_map in [true, false] {
        let message = |path: &Path| read(path, may_map).err().unwrap().to_string();
        assert_eq!(message(&path), format!("{} is empty.", path.display()));
        let root = folder.0.path();
        let sentence = format!("{0} is a folder: name its files, {0}/* for all of them.", root.display());
        assert_eq!(message(root), sentence);
        assert_eq!(message(&root.join("")), sentence.replacen(" is", "/ is", 1));
        let spaced = root.join("my lists");
        fs::create_dir_all(&spaced).unwrap();
        assert_eq!(message(&spaced), format!("{} is a folder: name its files.", spaced.display()));
        let missing = root.join("missing");
        assert_eq!(
            message(&missing),
            format!("{}: No such file or directory (os error 2)", missing.display())
        );
        assert_eq!(message(Path::new("/dev/null")), "/dev/null is empty.");

        // Files of /proc have a length of 0 and content all the same.
        let status = message(Path::new("/proc/self/status"));
        assert!(
            status.starts_with("/proc/self/status has no puzzles: Line 1 is no puzzle, but \"Name:"),
            "{status}"
        );
        let advice = "If it does hold puzzles, say how they are written with --notation, --size, --column or --delimiter.";
        assert!(status.ends_with(advice), "{status}");
    }
    let zeros = File::open("/dev/zero").unwrap().take(50 << 20);
    let error = reading(zeros).err().unwrap().to_string();
    assert_eq!(error, "text is no text: it has a zero byte at offset 0.");
}

#[test]
fn a_pipe_with_a_name_is_read() {
    let folder = Folder::new();
    let path = folder.0.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let writer = {
        let path = path.clone();
        std::thread::spawn(move || {
            let mut pipe = OpenOptions::new().write(true).open(path).unwrap();
            for part in mixed(5_000).as_bytes().chunks(1_234) {
                pipe.write_all(part).unwrap();
            }
        })
    };
    let reader = read(&path, true).unwrap();
    assert_eq!(reader.len_bytes(), None);
    assert_eq!(all(reader), found_in_mixed(1..=5_000));
    writer.join().unwrap();
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(text: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

type Packer = fn(&[u8]) -> Vec<u8>;

const PACKERS: [Packer; 2] = [gzip, zstandard];

#[test]
fn compressed_files_are_read_as_what_they_hold() {
    let folder = Folder::new();
    for pack in PACKERS {
        // Called anything, and in several parts put one after the other.
        let parts =
            [pack(mixed(3_000).as_bytes()), pack(b""), pack(&mixed(7_000).as_bytes()[mixed(3_000).len()..])];
        let path = folder.file("packed", &parts.concat());
        for may_map in [true, false] {
            let reader = read(&path, may_map).unwrap();
            assert_eq!(reader.len_bytes(), None);
            assert_eq!(all(reader), found_in_mixed(1..=7_000));
        }
        let path = folder.file("empty", &pack(b""));
        assert_eq!(read(&path, true).err().unwrap().to_string(), format!("{} is empty.", path.display()));
    }
}

/// From every chunk of a text, in whatever way it comes: the rest is the same, and a byte that
/// differs before is noticed.
#[test]
fn a_text_is_gone_on_with_where_it_begins_the_same() {
    let folder = Folder::new();
    let text = [
        format!("# {}\n", "x".repeat(100_000)),
        mixed(6_000),
        format!("{NINE} {}\n", "y".repeat(300_000)),
        mixed(6_000),
    ]
    .concat();
    let plain: Packer = |text| text.to_vec();
    for pack in [plain, gzip, zstandard] {
        let path = folder.file("text", &pack(text.as_bytes()));
        let open = |path: &Path| Source::open(path, true).unwrap().hashed().read(&Hint::default()).unwrap();
        let mut reader = open(&path);
        let mut ends = Vec::new();
        while let Some(chunk) = reader.next_chunk().unwrap() {
            ends.push((chunk.end(), chunk.prefix().unwrap(), reader.line()));
        }
        assert!(ends.len() > 5 && ends.iter().all(|(end, prefix, _)| prefix.bytes >= *end));
        let last = ends.last().unwrap().1;
        assert_eq!(last.bytes, text.len() as u64);
        for &(end, prefix, line) in &ends {
            let mut reader = open(&path);
            assert!(reader.resume(end, prefix).unwrap(), "{prefix:?}");
            assert_eq!(reader.line(), line);
            let rest = all(reader);
            let mut whole = open(&path);
            whole.skip_to(end).unwrap();
            assert_eq!(rest, all(whole));
            for other in [
                Prefix { hash: prefix.hash ^ 1, ..prefix },
                Prefix { bytes: prefix.bytes + 1, ..prefix },
                Prefix { bytes: u64::MAX, ..prefix },
            ] {
                assert!(!open(&path).resume(end, other).unwrap(), "{other:?}");
            }
            assert!(!read(&path, true).unwrap().resume(end, prefix).unwrap(), "nothing was hashed");
        }
        // The last byte that was read before the first chunk was handed out is far behind its end.
        let (end, prefix, _) = ends[0];
        let [border, read] = [end, prefix.bytes].map(|bytes| usize::try_from(bytes).unwrap());
        for at in [0, border - 1, border, read - 1] {
            let mut other = text.clone().into_bytes();
            other[at] ^= 1;
            let path = folder.file("other", &pack(&other));
            assert!(!open(&path).resume(end, prefix).unwrap(), "byte {at} of {prefix:?}");
        }
        let mut other = text.clone().into_bytes();
        other[read] ^= 1;
        assert!(open(&folder.file("other", &pack(&other))).resume(end, prefix).unwrap());
    }
}

#[test]
fn damaged_files_are_read_as_far_as_they_are_good() {
    let folder = Folder::new();
    // Smaller than what detection looks at, and larger than a chunk.
    for lines in [20, 20_000] {
        let text = mixed(lines);
        for pack in PACKERS {
            let packed = pack(text.as_bytes());
            let whole = found_in_mixed(1..=lines);
            let mut most = 0;
            for keep in [8, packed.len() / 3, packed.len() / 2, packed.len() - 5, packed.len() - 1] {
                let path = folder.file("truncated", &packed[..keep]);
                let (found, error) = match read(&path, true) {
                    Ok(mut reader) => drain(&mut reader),
                    Err(error) => (Found::default(), Some(error)),
                };
                let error = error.unwrap_or_else(|| panic!("{keep} of {} bytes are enough", packed.len()));
                assert!(matches!(error, InputError::Damaged { .. }), "{error}");
                assert!(
                    error.to_string().starts_with(&format!("{} is damaged after ", path.display())),
                    "{error}"
                );
                assert!(whole.good.starts_with(&found.good) && whole.bad.starts_with(&found.bad), "{keep}");
                most = most.max(found.good.len());
            }
            // Only the check sum is missing at the end: every puzzle is there.
            assert_eq!(most, whole.good.len());

            let mut corrupt = packed.clone();
            let last = corrupt.len() - 2;
            corrupt[last] ^= 1;
            let path = folder.file("corrupt", &corrupt);
            let (found, error) =
                read(&path, true).map_or_else(|e| (Found::default(), Some(e)), |mut r| drain(&mut r));
            assert!(matches!(error, Some(InputError::Damaged { .. })), "{error:?}");
            // The decoder may keep back what it has not verified.
            assert!(whole.good.starts_with(&found.good), "{lines}");

            let mut corrupt = packed;
            let middle = corrupt.len() / 2;
            corrupt[middle..middle + 8].fill(0xFF);
            let path = folder.file("corrupt", &corrupt);
            let error = read(&path, true).map_or_else(Some, |mut reader| drain(&mut reader).1);
            assert!(error.is_some_and(|e| e.to_string().contains(&path.display().to_string())));
        }
    }
}

#[test]
fn a_bomb_stays_bounded() {
    let folder = Folder::new();
    for pack in PACKERS {
        // `drain` looks at the size of every chunk.
        let path = folder.file("one line", &pack(&vec![b'1'; 100 << 20]));
        assert!(fs::metadata(&path).unwrap().len() < 1 << 20);
        assert_eq!(all(read(&path, true).unwrap()), Found { good: vec![], bad: vec![1] });
        let path = folder.file("no line", &pack(&vec![b'\n'; 100 << 20]));
        assert!(matches!(read(&path, true), Err(InputError::Empty { .. })));
    }
    // A puzzle of several lines that never ends is given up.
    let text = format!("{}{}", "1 1 1\n2 2 2\n3 3 3\n4 4 4\n", "# nothing\n".repeat(200_000));
    let (found, error) = drain(&mut reading(Cursor::new(text)).unwrap());
    let sentence = "text has a puzzle or section that does not end within 1048576 bytes of line 1.";
    assert_eq!((found, error.unwrap().to_string().as_str()), (Found::default(), sentence));
}

/// A device that fails after some good bytes.
struct Failing(Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::Error::other("the disk is on fire")),
            length => Ok(length),
        }
    }
}

#[test]
fn what_came_before_a_failure_is_handed_out() {
    for lines in [1, 2, 15, 700, 5_001] {
        let mut text = mixed(lines);
        text += "53..";
        let (found, error) = drain(&mut reading(Failing(Cursor::new(text.into_bytes()))).unwrap());
        assert_eq!(found, found_in_mixed(1..=lines));
        assert_eq!(error.unwrap().to_string(), "text: the disk is on fire");
    }
    let error = reading(Failing(Cursor::new(b"\n# nothing\n".to_vec()))).err().unwrap();
    assert_eq!(error.to_string(), "text: the disk is on fire");
}

/// A change to a file that is being read.
type Change = (&'static str, fn(&Path));

const CHANGES: [Change; 5] = [
    ("shrunk to a part of a page", |path| set_len(path, 100)),
    ("shrunk by half", |path| set_len(path, fs::metadata(path).unwrap().len() / 2)),
    ("emptied", |path| set_len(path, 0)),
    ("grown", |path| {
        OpenOptions::new().append(true).open(path).unwrap().write_all(NINE.as_bytes()).unwrap();
    }),
    ("overwritten", |path| {
        let file = OpenOptions::new().write(true).open(path).unwrap();
        let length = usize::try_from(file.metadata().unwrap().len()).unwrap();
        file.write_all_at(&vec![b'x'; length], 0).unwrap();
    }),
];

fn set_len(path: &Path, length: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(length).unwrap();
}

/// Waits until a change of the file gets another time: times of change are as fine as the clock's
/// ticks.
fn wait_for_tick(path: &Path) {
    let probe = path.with_extension("tick");
    let modified = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let before = modified(path);
    eventually("a tick of the clock of the file system", || {
        fs::write(&probe, "x").unwrap();
        modified(&probe) > before
    });
}

#[test]
fn a_file_that_changes_while_it_is_read_is_an_error() {
    let folder = Folder::new();
    let whole = found_in_mixed(1..=20_000);
    for (name, change) in CHANGES {
        for may_map in [true, false] {
            let path = folder.file("changing", mixed(20_000).as_bytes());
            let mut reader = read(&path, may_map).unwrap();
            let first = reader.next_chunk().unwrap().unwrap();
            let lines = memchr::memchr_iter(b'\n', first.block().text).count() as u64;
            wait_for_tick(&path);
            change(&path);
            let (found, error) = drain(&mut reader);
            let error = error.unwrap_or_else(|| panic!("{name}, mapped: {may_map}: no error"));
            assert!(
                matches!(error, InputError::Shrunk { .. } | InputError::Changed { .. }),
                "{name}: {error}"
            );
            assert!(error.to_string().starts_with(&format!("{} was ", path.display())), "{name}: {error}");
            // What was handed out is the old content.
            let rest = found_in_mixed(lines + 1..=20_000);
            assert!(rest.good.starts_with(&found.good) && rest.bad.starts_with(&found.bad), "{name}");
            // The copy handed out before is not touched.
            assert!(mixed(20_000).as_bytes().starts_with(first.block().text), "{name}");
        }
    }
    // One that is replaced is another file: the old one is read to its end.
    for may_map in [true, false] {
        let path = folder.file("replaced", mixed(20_000).as_bytes());
        let reader = read(&path, may_map).unwrap();
        fs::rename(folder.file("other", b"x"), &path).unwrap();
        assert_eq!(all(reader), whole);
    }
}

#[test]
fn an_index_of_a_file_that_changes_is_an_error() {
    let folder = Folder::new();
    for (name, change) in CHANGES {
        let path = folder.file("changing", mixed(20_000).as_bytes());
        let mut index = index(&path);
        assert_eq!(index.puzzle(3).unwrap().unwrap().line, 3);
        wait_for_tick(&path);
        change(&path);
        for number in [1, 15_000] {
            let error = index.puzzle(number).unwrap_err();
            assert!(
                matches!(error, InputError::Shrunk { .. } | InputError::Changed { .. }),
                "{name}: {error}"
            );
        }
    }
}

#[test]
fn ranges_of_lines_are_read() {
    let text = mixed(9_000);
    let ranges = [
        (1, 1),
        (1, 3),
        (3, 3),
        (4, 4),
        (2, 8_999),
        (1_500, 1_700),
        (4_000, 9_000),
        (9_000, 9_000),
        (8_999, u64::MAX),
    ];
    let none = [(1, 0), (5, 3), (9_001, 9_002), (u64::MAX, u64::MAX)];
    // From every line of the first chunk's end on.
    let around = (2_000..2_300).step_by(7).map(|first| (first, first + 5));
    for (first, last) in ranges.into_iter().chain(none).chain(around) {
        let mut reader = reading(Cursor::new(text.clone())).unwrap();
        reader.limit_lines(first, last).unwrap();
        let wanted = found_in_mixed((1..=9_000).filter(|line| (first..=last).contains(line)));
        assert_eq!(all(reader), wanted, "{first} to {last}");
    }
    let mut reader = reading(Cursor::new(format!("3\n{NINE}\n{NINE}\n{NINE}"))).unwrap();
    reader.limit_lines(1, 3).unwrap();
    assert_eq!(all(reader).good, [2, 3]);
}

fn index(path: &Path) -> PuzzleIndex {
    let map = Mapped::open(&File::open(path).unwrap(), path.display().to_string()).unwrap().unwrap();
    PuzzleIndex::new(map, &Hint::default()).unwrap()
}

/// Puzzles among which no two are alike, with long comments and overlong lines between them, and where each begins.
fn varied() -> (String, Vec<(u64, String)>) {
    let (mut text, mut puzzles, mut line) = (String::from("# varied\n\n"), Vec::new(), 3);
    for number in 1..=8_000 {
        let puzzle = match number % 900 {
            0 => format!("{number} {}", "x".repeat(90_000)),
            450 => format!("{NINE} {number} {}", "x".repeat(150_000)),
            _ => format!("{NINE} {number}"),
        };
        text += &puzzle;
        text.push('\n');
        puzzles.push((line, puzzle.chars().take(100).collect()));
        line += 1;
        if number % 1_000 == 0 {
            text += &format!("#{}\n\n", "y".repeat(200_000));
            line += 2;
        }
    }
    (text, puzzles)
}

#[test]
fn every_puzzle_is_found_by_its_number() {
    let folder = Folder::new();
    let (text, puzzles) = varied();
    let path = folder.file("varied", text.as_bytes());
    let count = puzzles.len() as u64;
    let mut index = index(&path);
    let check = |index: &mut PuzzleIndex, number: u64| {
        let picked = index.puzzle(number).unwrap().unwrap_or_else(|| panic!("no puzzle {number}"));
        let (line, start) = &puzzles[usize::try_from(number).unwrap() - 1];
        let text = String::from_utf8(picked.text).unwrap();
        assert_eq!((picked.number, picked.line), (number, *line));
        assert!(text.starts_with(start), "{number}: {}", &text[..start.len().min(text.len())]);
        assert!(text.len() <= MAX_LINE_BYTES + CHUNK_BYTES + SAMPLE_BYTES);
    };
    // The index grows while it is asked, forwards, backwards and at random, and gives the same when it is whole.
    for number in [1, 2, 7, 900, 3, 2_500, 899, 901, 1] {
        check(&mut index, number);
    }
    assert_eq!(index.puzzle(0).unwrap(), None);
    let step = 1_237;
    for turn in 0..count {
        check(&mut index, (turn * step) % count + 1);
        if turn == 50 {
            assert_eq!(index.puzzle(count + 1).unwrap(), None);
            assert_eq!(index.count().unwrap(), count);
        }
        if turn > 2_500 {
            break;
        }
    }
    for number in count - 20..=count {
        check(&mut index, number);
    }
    assert_eq!(index.puzzle(u64::MAX).unwrap(), None);
    assert_eq!(index.count().unwrap(), count);

    for number in [1, 900, 1_000, 1_001, 4_321, count] {
        let picked = pick(&mut read(&path, false).unwrap(), Pick::Number(number)).unwrap().unwrap();
        assert_eq!((picked.number, picked.line), (number, puzzles[usize::try_from(number).unwrap() - 1].0));
    }
    for number in [0, count + 1] {
        assert_eq!(pick(&mut read(&path, true).unwrap(), Pick::Number(number)).unwrap(), None);
    }
}

/// The bug that an index which reads a chunk again may have: every puzzle, where no two chunks begin alike.
#[test]
fn an_index_loses_no_puzzle_at_the_end_of_a_chunk() {
    let folder = Folder::new();
    let text: String = (1..=6_000).map(|number| format!("{NINE} {number}\n")).collect();
    let mut index = index(&folder.file("plain", text.as_bytes()));
    for number in 1..=6_000 {
        let picked = index.puzzle(number).unwrap().unwrap_or_else(|| panic!("no puzzle {number}"));
        assert_eq!(picked.text, format!("{NINE} {number}\n").into_bytes());
    }
}

#[test]
fn puzzles_of_several_lines_are_picked_whole() {
    let folder = Folder::new();
    let puzzle =
        |number: usize| format!("1 . | . .\n. . | . .\n----+----\n. . | . .\n. . | . {}\n", number % 4 + 1);
    let text: String = (1..=9_000).map(|number| puzzle(number) + "\n\n# next\n").collect();
    let path = folder.file("grids", text.as_bytes());
    let mut index = index(&path);
    assert_eq!(index.format().notation(), Notation::Grid);
    for number in [9_000, 1, 4_999, 3_000, 8_999, 2_345] {
        let picked = index.puzzle(number).unwrap().unwrap();
        let last = number % 4 + 1;
        assert_eq!(String::from_utf8(picked.text).unwrap(), format!("1..............{last}\n"));
        assert_eq!(picked.line, 8 * (number - 1) + 1);
        let by_pass = pick(&mut read(&path, false).unwrap(), Pick::Number(number)).unwrap().unwrap();
        assert_eq!(by_pass.line, picked.line);
    }
    assert_eq!(index.count().unwrap(), 9_000);
}

/// The chance to miss one of five puzzles in so many draws is less than one in 10^38.
const DRAWS: usize = 400;

#[test]
fn random_picks_reach_every_puzzle() {
    let folder = Folder::new();
    let line = |number: usize| format!("{NINE} {number}\n");
    let far: String = (1..=5).map(|number| format!("{}# {}\n", line(number), "x".repeat(150_000))).collect();
    let near: String = (1..=5).map(line).collect();
    for text in [near, far] {
        let path = folder.file("few", text.as_bytes());
        let mut index = index(&path);
        let mut seen = [BTreeSet::new(), BTreeSet::new()];
        for _ in 0..DRAWS {
            let draws =
                [index.random().unwrap(), pick(&mut read(&path, true).unwrap(), Pick::Random).unwrap()];
            for (seen, picked) in seen.iter_mut().zip(draws) {
                let picked = picked.unwrap();
                assert!(picked.text.starts_with(line(usize::try_from(picked.number).unwrap()).as_bytes()));
                seen.insert(picked.number);
            }
        }
        for seen in seen {
            assert_eq!(seen.into_iter().collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        }
    }
}

#[test]
fn inputs_are_kept_to_be_read_again() {
    let folder = Folder::new();
    let text = mixed(5_000);
    for (name, content) in [("plain", text.clone().into_bytes()), ("packed", gzip(text.as_bytes()))] {
        let path = folder.file(name, &content);
        for may_map in [true, false] {
            let kept = Source::open(&path, may_map).unwrap().rewindable().unwrap();
            assert_eq!(kept.is_mapped(), may_map && name == "plain");
            for _ in 0..3 {
                let source = kept.source().unwrap();
                assert_eq!(source.name(), path.display().to_string());
                assert_eq!(all(source.read(&Hint::default()).unwrap()), found_in_mixed(1..=5_000));
            }
        }
    }
    // An array of which no line is a puzzle: its shape says that they are.
    let array = [npy_header(2, Order::NINE), vec![255; 2 * 81]].concat();
    for (name, content) in [("array", array.clone()), ("packed array", gzip(&array))] {
        let path = folder.file(name, &content);
        let open = || Source::open(&path, true).unwrap();
        for source in [open(), open().rewindable().unwrap().source().unwrap()] {
            assert_eq!(all(source.read(&Hint::default()).unwrap()).bad, [1, 2], "{name}");
        }
    }
}

/// What is read is looked at beyond the first bytes in the sample only, because it takes time.
#[test]
fn a_zero_byte_is_found_among_the_first_bytes() {
    let text = format!("{NINE}\n").repeat(2 * SAMPLE_BYTES / 82);
    for (at, is_found) in [(0, true), (1, true), (100, true), (SAMPLE_BYTES - 1, true), (SAMPLE_BYTES, false)]
    {
        let mut other = text.clone().into_bytes();
        other[at] = 0;
        let reader = reading(Cursor::new(other));
        if is_found {
            let wanted = format!("text is no text: it has a zero byte at offset {at}.");
            assert_eq!(reader.err().unwrap().to_string(), wanted);
        } else {
            assert_eq!(all(reader.unwrap()).bad, [at as u64 / 82 + 1]);
        }
    }
    // Behind blank lines and comments, the sample is of what comes behind them.
    for lead in [2 * SAMPLE_BYTES, 3 * SAMPLE_BYTES + 7] {
        let text = format!("{}{NINE}\0\n", "\n".repeat(lead));
        let error = reading(Cursor::new(text)).err().unwrap().to_string();
        let wanted = format!("text is no text: it has a zero byte at offset {}.", lead + 81);
        assert_eq!(error, wanted);
    }
}

#[test]
fn a_byte_order_mark_is_one_at_the_beginning_only() {
    // With and without more text than detection looks at.
    for lines in [3, 3_000] {
        let text = format!("\u{FEFF}\u{FEFF}{NINE}\n{}", format!("{NINE}\n").repeat(lines));
        let found = all(reading(Cursor::new(text)).unwrap());
        assert_eq!((found.bad, found.good.len()), (vec![1], lines));
    }
}

#[test]
fn validation_finds_every_bad_line_in_order() {
    let pool = Arc::new(pipeline::pool(Some(2)).unwrap());
    let text = mixed(20_000).replace(&format!("{NINE} rated 15001\n"), &format!("5{} rated\n", &NINE[..80]));
    let clash = "Line 15001 breaks the rules: 5 appears twice in row 1.";
    let open = || reading(Cursor::new(text.clone())).unwrap();
    let cancel = AtomicBool::new(false);
    let mut last = 0;
    let found = validate(open(), &pool, &cancel, usize::MAX, |end| {
        assert!(end > last);
        last = end;
    });
    let found = found.unwrap();
    let mixed = found_in_mixed(1..=20_000);
    assert_eq!(found.puzzles, (mixed.good.len() + mixed.bad.len()) as u64);
    assert_eq!(found.bad, mixed.bad.len() as u64 + 1);
    assert_eq!(last, text.len() as u64);
    let lines: Vec<u64> = found.errors.iter().map(|error| error.line.unwrap()).collect();
    let mut wanted = mixed.bad.clone();
    wanted.insert(wanted.partition_point(|&line| line < 15_001), 15_001);
    assert_eq!(lines, wanted);
    assert!(found.errors.iter().any(|error| error.to_string() == clash));

    let few = validate(open(), &pool, &cancel, 3, |_| {}).unwrap();
    assert_eq!((few.bad, &few.errors[..]), (found.bad, &found.errors[..3]));

    let stopped = validate(open(), &pool, &AtomicBool::new(true), 3, |_| {});
    assert!(matches!(stopped, Err(ValidateError::Cancelled)));
    let failing = reading(Failing(Cursor::new(text.into_bytes()))).unwrap();
    let error = validate(failing, &pool, &cancel, 3, |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "text: the disk is on fire");
}

#[test]
fn hints_reach_the_reader() {
    let source = Source::reading("text".to_owned(), Box::new(Cursor::new("1\n2\n"))).unwrap();
    let reader = source.read(&lines_of_nine()).unwrap();
    assert_eq!((reader.name(), reader.line()), ("text", 1));
    assert_eq!(all(reader), Found { good: vec![], bad: vec![1, 2] });
}

/// A terminal goes on after Ctrl-D, so what is asked for once more would have to be ended once more.
#[test]
fn the_end_of_a_stream_is_asked_for_once() {
    struct Typed(Vec<&'static str>);

    impl Read for Typed {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let typed = self.0.pop().expect("nothing is read behind the end");
            buffer[..typed.len()].copy_from_slice(typed.as_bytes());
            Ok(typed.len())
        }
    }

    // Within what the kind of an input is known by, and behind it.
    for lines in [&[][..], &["1"], &["1.3.3.1..1434.2.\n"], &["1.3.3.1..1434.2.\n", "1.3.3.1..1434.2.\n"]] {
        let typed = [&[""][..], lines].concat();
        match reading(Typed(typed)) {
            Ok(mut reader) => while reader.next_chunk().unwrap().is_some() {},
            Err(error) => assert_eq!((error.to_string(), lines.len()), ("text is empty.".to_owned(), 0)),
        }
    }
}
