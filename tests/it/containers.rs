//! What is no plain text: compressed files, archives, UTF-16, and what is refused by name.

use std::fs;
use std::io::{self, Cursor, Read, Write as _};
use std::path::Path;
use std::process::{Output, Stdio};

use sudoku_stream::grid::Grid;
use sudoku_stream::input::{InputError, Reader, Source};
use sudoku_stream::text::{Hint, Records};

use crate::harness::packed::{Member, bzip2, gzip, xz, xz_with, zip, zstandard};
use crate::harness::{Folder, feed, fixture, list, stderr, stdout, succeeded, sudoku, unique_puzzles};

/// All commands that read a whole input.
const COMMANDS: [&str; 4] = ["solve", "validate", "check", "count"];

fn utf16(text: &str, is_big: bool, has_mark: bool) -> Vec<u8> {
    let mark = if has_mark { "\u{FEFF}" } else { "" };
    let units = mark.encode_utf16().chain(text.encode_utf16());
    units.flat_map(|unit| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
}

/// A skippable frame of Zstandard, of one of its sixteen kinds.
fn skipped(kind: u32, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap();
    [&(0x184D_2A50 + kind).to_le_bytes()[..], &length.to_le_bytes(), content].concat()
}

/// The same text in everything that is read, by the name of its file.
fn containers(text: &str) -> Vec<(String, Vec<u8>)> {
    let plain = text.as_bytes();
    let (front, back) = plain.split_at(plain.len() / 3);
    let note = Member::new("__MACOSX/._puzzles.txt", b"\0\x05\x16\x07 of the Finder");
    let puzzles = || Member::new("puzzles.txt", plain);
    let folder = || Member::new("list/", b"");
    let zips = [
        ("deflated", zip(&[puzzles()])),
        ("stored", zip(&[puzzles().stored()])),
        ("streamed", zip(&[puzzles().described_behind()])),
        ("unsigned", zip(&[Member { is_signed: false, ..puzzles().described_behind() }])),
        ("large", zip(&[Member { is_large: true, ..puzzles() }])),
        ("large_stored", zip(&[Member { is_large: true, ..puzzles().stored() }])),
        ("large_streamed", zip(&[Member { is_large: true, ..puzzles().described_behind() }])),
        ("folder", zip(&[folder().stored(), Member::new("list/puzzles.txt", plain)])),
        ("folder_streamed", zip(&[folder().stored().described_behind(), puzzles().described_behind()])),
        ("folder_deflated", zip(&[folder().described_behind(), puzzles()])),
        ("mac", zip(&[puzzles().described_behind(), note.clone().described_behind()])),
        ("mac_first", zip(&[note.stored(), Member::new("list/.DS_Store", b"\0\0"), puzzles()])),
        ("utf16", zip(&[Member::new("puzzles.txt", &utf16(text, false, true))])),
    ];
    let marked = format!("\u{FEFF}{text}");
    let others = [
        ("gz", gzip(plain)),
        ("zst", zstandard(plain)),
        ("bz2", bzip2(plain)),
        ("xz", xz(plain)),
        ("parts.gz", [gzip(front), gzip(b""), gzip(back)].concat()),
        ("padded.gz", [&gzip(plain)[..], &vec![0; 100_000]].concat()),
        ("padded_parts.gz", [&gzip(front)[..], &[0; 7], &gzip(back), &[0]].concat()),
        ("parts.zst", [zstandard(front), zstandard(b""), zstandard(back)].concat()),
        // As `pzstd` writes it, and with frames that are long or empty.
        (
            "pzstd.zst",
            [&skipped(0, b"size"), &zstandard(front)[..], &skipped(0, b"size"), &zstandard(back)].concat(),
        ),
        (
            "skipped.zst",
            [&skipped(15, b""), &skipped(7, &vec![7; 99_999])[..], &zstandard(plain), &skipped(1, b"end")]
                .concat(),
        ),
        ("parts.bz2", [bzip2(front), bzip2(b""), bzip2(back)].concat()),
        // With padding, as the format has it.
        ("parts.xz", [&xz(front)[..], &[0; 8], &xz(b""), &xz(back), &[0; 4]].concat()),
        ("utf16le", utf16(text, false, true)),
        ("utf16be", utf16(text, true, true)),
        ("bare.utf16le", utf16(text, false, false)),
        ("bare.utf16be", utf16(text, true, false)),
        ("marked.gz", gzip(marked.as_bytes())),
        ("utf16le.gz", gzip(&utf16(text, false, true))),
        ("utf16be.zst", zstandard(&utf16(text, true, false))),
        ("utf16be.bz2", bzip2(&utf16(text, true, true))),
        ("utf16le.xz", xz(&utf16(text, false, false))),
    ];
    let named = |(name, bytes): (&str, Vec<u8>)| (format!("puzzles.{name}"), bytes);
    let zips = zips.into_iter().map(|(name, bytes)| (format!("{name}.zip"), bytes));
    others.into_iter().map(named).chain(zips).collect()
}

/// Runs a command on a file by name and through a pipe, and returns both.
fn by_both_ways(command: &[&str], path: &str) -> [Output; 2] {
    let named = sudoku(&[command, &[path]].concat()).output().unwrap();
    let piped = feed(&mut sudoku(&[command, &["-"]].concat()), &fs::read(path).unwrap());
    [named, piped]
}

/// Bytes that arrive in pieces of the same size.
struct Pieces {
    bytes: Cursor<Vec<u8>>,
    size: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(self.size);
        self.bytes.read(&mut buffer[..length])
    }
}

fn in_pieces(bytes: &[u8], size: usize) -> Result<Reader, InputError> {
    let pieces = Pieces { bytes: Cursor::new(bytes.to_vec()), size };
    Source::reading("text".to_owned(), Box::new(pieces))?.read(&Hint::default())
}

/// Every puzzle with its line, and the error behind them.
fn drain(mut reader: Reader) -> (Vec<(u64, Vec<u8>)>, Option<String>) {
    let mut grid = Grid::empty(reader.format().order());
    let mut puzzles = Vec::new();
    loop {
        let chunk = match reader.next_chunk() {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return (puzzles, None),
            Err(error) => return (puzzles, Some(error.to_string())),
        };
        let mut records = Records::new(reader.format(), chunk.block().text, chunk.block().first_line);
        while let Some(record) = records.read(&mut grid) {
            puzzles.push((record.line, grid.digits().to_vec()));
        }
    }
}

#[test]
fn what_is_packed_gets_the_answers_of_what_it_contains() {
    let folder = Folder::new();
    // A comment, which is counted as a line, and bad lines; more than is read at a time.
    let text = format!("# many ones\r\n\r\n{}", list(2_500).replace('\n', "\r\n"));
    let plain = folder.write("puzzles.txt", &text);
    // The summary of a check names the file.
    let args =
        |command| if command == "check" { vec![command, "--only-failures", "-q"] } else { vec![command] };
    let wanted = COMMANDS.map(|command| sudoku(&[&args(command)[..], &[&plain]].concat()).output().unwrap());
    assert_eq!(wanted.each_ref().map(|output| output.status.code()), [Some(0), Some(1), Some(1), Some(0)]);
    let packed = containers(&text);
    assert!(packed.len() >= 30);
    for (name, bytes) in packed {
        let path = folder.write(&name, bytes);
        for (command, wanted) in COMMANDS.into_iter().zip(&wanted) {
            for output in by_both_ways(&args(command), &path) {
                assert!(output.stdout == wanted.stdout, "{command} {name}: {}", stderr(&output));
                assert_eq!(output.status.code(), wanted.status.code(), "{command} {name}");
            }
        }
        let strict = by_both_ways(&["solve", "--strict"], &path);
        for output in strict {
            assert_eq!((output.status.code(), stdout(&output)), (Some(2), String::new()), "{name}");
            assert_eq!(
                stderr(&output),
                "Line 99 has the wrong length. It has 2 cells; a 9x9 puzzle has 81.\n",
                "{name}"
            );
        }
        let unmapped = sudoku(&["solve", &path, "--no-mmap"]).output().unwrap();
        assert!(unmapped.stdout == wanted[0].stdout, "{name}");
        let shown = sudoku(&["show", &path, "--index", "2500"]).output().unwrap();
        assert!(stdout(&shown).starts_with("Puzzle 2,500 on line 2,502, 9x9"), "{name}: {}", stdout(&shown));
    }
}

#[test]
fn pieces_of_any_size_make_no_difference() {
    let text = format!("\n{}", list(120));
    let wanted = drain(in_pieces(text.as_bytes(), usize::MAX).unwrap());
    assert_eq!((wanted.0.len(), wanted.0[0].0), (120, 2));
    for (name, bytes) in containers(&text) {
        for size in [1, 2, 3, 7, 64, 65, usize::MAX] {
            let reader = in_pieces(&bytes, size).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(reader.len_bytes(), None);
            assert_eq!(drain(reader), wanted, "{name} in pieces of {size}");
        }
    }
}

#[test]
fn what_other_programs_have_packed_is_read() {
    let wanted = fs::read_to_string(fixture("good/lines.gz.answers")).unwrap();
    for file in ["lines.gz", "lines.zst", "lines.bz2", "lines.xz", "lines.zip"] {
        let path = fixture("good").join(file);
        for output in by_both_ways(&["solve", "--question", "unique"], path.to_str().unwrap()) {
            succeeded(&output);
            assert_eq!(stdout(&output), wanted, "{file}");
        }
    }
}

/// What comes before the damage is answered, and OUT is not written.
#[test]
fn what_is_cut_off_or_damaged_is_an_error_behind_what_is_good() {
    let folder = Folder::new();
    let text = unique_puzzles(20_000).join("\n");
    let plain = folder.write("puzzles.txt", &text);
    let whole = stdout(&sudoku(&["solve", &plain]).output().unwrap());
    let mut cases = Vec::new();
    for (name, bytes) in containers(&text) {
        if name.contains("parts") || name.contains("mac") || name.contains("folder") {
            continue;
        }
        // An odd number of bytes, so that half a character is left of UTF-16.
        cases.push((format!("cut-off-{name}"), bytes[..(bytes.len() * 3 / 4) | 1].to_vec()));
        if !name.contains("utf16") {
            let mut other = bytes.clone();
            let at = other.len() * 3 / 4;
            other[at..at + 16].iter_mut().for_each(|byte| *byte ^= 0x55);
            cases.push((format!("damaged-{name}"), other));
        }
    }
    for (name, bytes) in cases {
        let path = folder.write(&name, bytes);
        for (output, input) in by_both_ways(&["solve"], &path).iter().zip([&path[..], "standard input"]) {
            assert_eq!(output.status.code(), Some(2), "{name}");
            let (said, answers) = (stderr(output), stdout(output));
            assert!(said.contains(&format!("{input} is damaged after ")), "{name}: {said}");
            // What is damaged without breaking any rule of the format is what it says, and then
            // there is the checksum.
            let right = answers.lines().zip(whole.lines()).take_while(|(one, other)| one == other).count();
            assert!(right > 5_000, "{name}: {right} right answers");
            assert!(name.starts_with("damaged") || right == answers.lines().count(), "{name}");
        }
        let out = folder.path("out.txt");
        let output = sudoku(&["solve", &path, "-o", &out]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(!Path::new(&out).exists(), "{name}");
        let validated = sudoku(&["validate", &path]).output().unwrap();
        assert_eq!((validated.status.code(), stdout(&validated)), (Some(2), String::new()), "{name}");
    }
}

/// Puzzles of several lines, too, which are converted in windows longer than what comes before the damage.
#[test]
fn grids_before_the_damage_are_answered() {
    let folder = Folder::new();
    let puzzles = unique_puzzles(300);
    let rows = |puzzle: &str| {
        puzzle.as_bytes().chunks(9).map(String::from_utf8_lossy).collect::<Vec<_>>().join("\n")
    };
    let grids: Vec<String> = puzzles.iter().map(|puzzle| rows(puzzle)).collect();
    let wanted = stdout(&sudoku(&["solve", &folder.write("list", puzzles.join("\n"))]).output().unwrap());
    let packed = gzip(grids.join("\n\n").as_bytes());
    let path = folder.write("grids.gz", &packed[..packed.len() / 2]);
    for output in by_both_ways(&["solve"], &path) {
        assert_eq!(output.status.code(), Some(2));
        let answers = stdout(&output);
        assert!(answers.lines().count() > 100 && wanted.starts_with(&answers), "{}", answers.lines().count());
    }
}

#[test]
fn damage_is_described() {
    let text = list(500);
    let error = |bytes: &[u8]| {
        let whole = in_pieces(bytes, usize::MAX).map(|reader| drain(reader).1);
        let whole = whole.unwrap_or_else(|error| Some(error.to_string()));
        let single = in_pieces(bytes, 1).map(|reader| drain(reader).1);
        assert_eq!(single.unwrap_or_else(|error| Some(error.to_string())), whole);
        whole.unwrap_or_default()
    };
    let bytes = text.len();
    let half = utf16(&text, false, true);
    assert_eq!(
        error(&half[..half.len() - 1]),
        format!(
            "text is damaged after {} bytes of text: it is text in UTF-16 and ends in the middle of a character",
            bytes - 1
        )
    );
    let member = Member::new("a", text.as_bytes());
    let mut archive = zip(std::slice::from_ref(&member));
    archive[14] ^= 1;
    assert_eq!(
        error(&archive),
        format!("text is damaged after {bytes} bytes of text: its checksum or its length is wrong")
    );
    let archive = zip(&[member.clone().stored()]);
    let end = 30 + 1 + 5 + bytes;
    let cut_off = "it ends too early";
    assert_eq!(error(&archive[..end]), format!("text is damaged after {bytes} bytes of text: {cut_off}"));
    assert_eq!(error(&archive[..40]), format!("text is damaged after 4 bytes of text: {cut_off}"));
    assert_eq!(error(&archive[..20]), "text is damaged after 0 bytes of text: it ends too early");
    let mut other = archive.clone();
    other[end..end + 4].copy_from_slice(b"what");
    assert_eq!(
        error(&other),
        format!("text is damaged after {bytes} bytes of text: there is no file where one should begin")
    );
    let text = text.as_bytes();
    for packed in [gzip(text), zstandard(text), bzip2(text), xz(text)] {
        for rest in [&b"x"[..], b"nothing of the kind"] {
            let said = error(&[&packed[..], rest].concat());
            assert!(said.starts_with("text is damaged after "), "{said}");
        }
        for length in [7, packed.len() / 2, packed.len() - 1] {
            assert!(error(&packed[..length]).starts_with("text is damaged after "), "{length}");
        }
    }
}

/// Whatever is damaged: no panic, and no other puzzles than those of the whole, unless an error says
/// so.
#[test]
fn any_byte_may_be_damaged() {
    let folder = Folder::new();
    let text = unique_puzzles(40).join("\n");
    let plain = text.as_bytes();
    let wanted = drain(in_pieces(plain, usize::MAX).unwrap()).0;
    let archive = zip(&[Member::new("list/", b"").stored(), Member::new("list/a", plain)]);
    let streamed = zip(&[Member { is_large: true, ..Member::new("a", plain).described_behind() }]);
    let mut errors = 0;
    for packed in [gzip(plain), zstandard(plain), bzip2(plain), xz(plain), archive, streamed] {
        // What no longer begins like what it is may be anything.
        for at in 6..packed.len() {
            let mut damaged = packed.clone();
            damaged[at] ^= [1, 0x80, 0xFF][at % 3];
            let mut readers = vec![in_pieces(&damaged, usize::MAX)];
            // A file of another kind is read as what comes through a pipe.
            if damaged.starts_with(b"PK") {
                let path = folder.write("damaged", &damaged);
                let source = Source::open(Path::new(&path), true);
                readers.push(source.and_then(|source| source.read(&Hint::default())));
            }
            for reader in readers {
                match reader.map(drain) {
                    Ok((puzzles, None)) => assert!(puzzles == wanted, "byte {at} of {}", packed.len()),
                    Ok((_, Some(_))) | Err(_) => errors += 1,
                }
            }
        }
    }
    assert!(errors > 5_000, "{errors} errors");
}

/// The header of a tar archive: a name, numbers, and what kind of archive it is.
fn tar(text: &[u8]) -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..11].copy_from_slice(b"puzzles.txt");
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(format!("{:011o}", text.len()).as_bytes());
    header[156] = b'0';
    header[257..262].copy_from_slice(b"ustar");
    let padding = vec![0; 1024 + (512 - text.len() % 512) % 512];
    [&header, text, &padding].concat()
}

/// What each is, and what to do about it; FILE is its name, or FILE where it comes through a pipe.
fn refused() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let text = unique_puzzles(3).join("\n");
    let plain = text.as_bytes();
    let with = |head: &[u8]| [head, plain].concat();
    let marked = format!("\u{FEFF}{text}");
    let utf32 = marked.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    let utf32_big = marked.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect();
    let three = zip(&["a.txt", "b.txt", "c.txt"].map(|name| Member::new(name, plain)));
    let sheet =
        zip(&[Member::new("[Content_Types].xml", b"<Types/>"), Member::new("xl/workbook.xml", b"<a/>")]);
    let ods = zip(&[
        Member::new("mimetype", b"application/vnd.oasis.opendocument.spreadsheet").stored(),
        Member::new("content.xml", b"<a/>"),
    ]);
    let office =
        "FILE is an office document, such as xlsx, docx or ods: save it as CSV or plain text, and read that.";
    let puzzles = Member::new("puzzles.txt", plain);
    let of_method = |method| zip(&[Member { method, ..puzzles.clone() }]);
    let twice = "FILE is compressed twice: decompress it once, and read what comes out.";
    vec![
        (
            "a.parquet",
            with(b"PAR1\x15\x04"),
            "FILE is a damaged Parquet file: its footer is missing, as if it was cut short.",
        ),
        ("a.npy", with(b"\x93NUMPY\x01\0v\0{'descr': '|u1'"), "FILE is a NumPy array with a damaged header."),
        (
            "a.npz",
            zip(&[Member::new("puzzles.npy", b"\x93NUMPY\x01\0v\0{'descr': '|u1'").stored()]),
            "FILE is a NumPy array whose header is cut short.",
        ),
        (
            "a.pkl",
            with(b"\x80\x04\x95\0\0"),
            "FILE is a Python pickle: write it as CSV, such as by pandas.read_pickle('FILE').to_csv('puzzles.csv'), and read that.",
        ),
        (
            "a.feather",
            with(b"ARROW1\0\0"),
            "FILE is an Arrow file: write it as CSV, such as by pandas.read_feather('FILE').to_csv('puzzles.csv'), and read that.",
        ),
        (
            "a.h5",
            with(b"\x89HDF\r\n\x1A\n"),
            "FILE is an HDF5 file: write its puzzles as text, one a line, and read that.",
        ),
        (
            "a.db",
            with(b"SQLite format 3\0\x10\0"),
            "FILE is an SQLite database: sqlite3 FILE 'SELECT puzzle FROM puzzles' | sudoku solve -",
        ),
        ("a.xlsx", sheet, office),
        ("a.ods", ods, office),
        ("a.xls", with(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), office),
        ("a.tar", tar(plain), "FILE is a tar archive: tar -xOf FILE NAME | sudoku solve -"),
        ("a.tar.gz", gzip(&tar(plain)), "FILE contains a tar archive: tar -xOf FILE NAME | sudoku solve -"),
        ("a.tar.xz", xz(&tar(plain)), "FILE contains a tar archive: tar -xOf FILE NAME | sudoku solve -"),
        ("a.7z", with(b"7z\xBC\xAF\x27\x1C\0\x04"), "FILE is a 7z archive: 7z x -so FILE | sudoku solve -"),
        ("a.rar", with(b"Rar!\x1A\x07\x01\0"), "FILE is a RAR archive: unrar p -inul FILE | sudoku solve -"),
        ("a.lz4", with(b"\x04\x22\x4D\x18\x64"), "FILE is an LZ4 file: lz4 -dc FILE | sudoku solve -"),
        ("a.lzma", with(b"]\0\0\x80\0\xFF"), "FILE is an LZMA file: xz -dc FILE | sudoku solve -"),
        ("a.lz", with(b"LZIP\x01\x0C"), "FILE is an lzip file: lzip -dc FILE | sudoku solve -"),
        ("a.Z", with(b"\x1F\x9D\x90"), "FILE is a file packed by compress: gzip -dc FILE | sudoku solve -"),
        (
            "a.pdf",
            with(b"%PDF-1.7\n%\xE2\xE3"),
            "FILE is a PDF document: copy its puzzles into a text file, one a line, and read that.",
        ),
        (
            "a.png",
            with(b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR"),
            "FILE is a PNG image: type its puzzle as text, 81 characters with . for blank cells.",
        ),
        (
            "a.jpg",
            with(b"\xFF\xD8\xFF\xE0\0\x10JFIF"),
            "FILE is a JPEG image: type its puzzle as text, 81 characters with . for blank cells.",
        ),
        (
            "a.gif",
            with(b"GIF89a"),
            "FILE is a GIF image: type its puzzle as text, 81 characters with . for blank cells.",
        ),
        ("a.out", with(b"\x7FELF\x02\x01\x01\0"), "FILE is a program: name a file of puzzles."),
        ("a.utf32", utf32, "FILE is text in UTF-32: iconv -f UTF-32 -t UTF-8 FILE | sudoku solve -"),
        ("b.utf32", utf32_big, "FILE is text in UTF-32: iconv -f UTF-32 -t UTF-8 FILE | sudoku solve -"),
        ("zero.txt", [plain, b"\0\n"].concat(), "FILE is no text: it has a zero byte at offset 245."),
        ("zeros", vec![0; 100_000], "FILE is no text: it has a zero byte at offset 0."),
        ("zero.gz", gzip(&[plain, b"\0"].concat()), "FILE is no text: it has a zero byte at offset 245."),
        ("a.gz.gz", gzip(&gzip(plain)), twice),
        ("a.zip.xz", xz(&zip(std::slice::from_ref(&puzzles))), twice),
        ("a.xz.zip", zip(&[Member::new("a.xz", &xz(plain))]), twice),
        (
            "a.parquet.zip",
            zip(&[Member::new("a.parquet", b"PAR1\x15\x04")]),
            "FILE contains a Parquet file, which is read from its end: decompress it first.",
        ),
        ("three.zip", three, "FILE is a zip archive of 3 files: unzip -p FILE NAME | sudoku solve -"),
        ("none.zip", zip(&[]), "FILE is a zip archive without a file."),
        ("folder.zip", zip(&[Member::new("a/", b"").stored()]), "FILE is a zip archive without a file."),
        (
            "secret.zip",
            zip(&[Member { flags: 1, ..puzzles.clone() }]),
            "FILE is an encrypted zip archive: decrypt it first, such as by 7z x FILE",
        ),
        (
            "windows.zip",
            of_method(9),
            "FILE is a zip archive compressed by Deflate64 instead of Deflate: 7z x -so FILE | sudoku solve -",
        ),
        (
            "odd.zip",
            of_method(77),
            "FILE is a zip archive compressed by an unknown method instead of Deflate: 7z x -so FILE | sudoku solve -",
        ),
    ]
}

#[test]
fn what_cannot_be_read_is_refused_with_one_sentence() {
    let folder = Folder::new();
    for (name, bytes, sentence) in refused() {
        let path = folder.write(name, bytes);
        for command in COMMANDS {
            let [named, piped] = by_both_ways(&[command], &path);
            // Commands for what was unpacked need a name for that.
            let is_inside = sentence.contains("contains") && !sentence.contains("tar archive");
            let own = if is_inside { "FILE" } else { &path };
            let wanted = sentence.replace("FILE", own).replacen(own, &path, 1);
            assert_eq!(stderr(&named), format!("{wanted}\n"), "{command} {name}");
            let wanted = match sentence.replacen("FILE", "standard input", 1) {
                // What is in a pipe is not known before its end, and then the first file was read.
                words if name == "three.zip" => words.replace("of 3 files", "of several files"),
                words => words,
            };
            assert_eq!(stderr(&piped), format!("{wanted}\n"), "{command} {name}");
            assert_eq!([named.status.code(), piped.status.code()], [Some(2); 2], "{command} {name}");
            assert_eq!([stdout(&named), stdout(&piped)], ["", ""], "{command} {name}");
        }
        let out = folder.path("out.txt");
        let named = sudoku(&["solve", &path, "-o", &out, "--no-mmap"]).output().unwrap();
        assert_eq!((named.status.code(), Path::new(&out).exists()), (Some(2), false), "{name}");
    }
}

#[test]
fn refusals_depend_on_no_size_of_pieces() {
    for (name, bytes, _) in refused() {
        let [whole, single] = [usize::MAX, 1].map(|size| {
            let end = in_pieces(&bytes, size).map(|reader| drain(reader).1);
            end.unwrap_or_else(|error| Some(error.to_string()))
        });
        assert!(whole.is_some(), "{name}");
        assert_eq!(single, whole, "{name}");
    }
}

#[test]
fn a_name_that_a_shell_would_not_take_is_in_no_command() {
    let folder = Folder::new();
    let archive = zip(&["a", "b"].map(|name| Member::new(name, b"1234341221434321\n")));
    for name in ["my puzzles.zip", "$(touch x).zip", "a'b.zip"] {
        let path = folder.write(name, &archive);
        let output = sudoku(&["solve", &path]).output().unwrap();
        let wanted = format!("{path} is a zip archive of 2 files: unzip -p FILE NAME | sudoku solve -\n");
        assert_eq!(stderr(&output), wanted);
    }
}

/// In a pipe, a second file is seen behind the first one, which may be long.
#[test]
fn a_second_file_in_a_pipe_is_an_error_behind_the_first() {
    let folder = Folder::new();
    let text = list(3_000);
    let archive = zip(&["a", "b"].map(|name| Member::new(name, text.as_bytes())));
    let path = folder.write("a.zip", archive);
    let plain = folder.write("a", &text);
    let answers = stdout(&sudoku(&["solve", &plain]).output().unwrap());
    let sentence = "is a zip archive of several files: unzip -p FILE NAME | sudoku solve -\n";
    let [named, piped] = by_both_ways(&["solve"], &path);
    assert_eq!([named.status.code(), piped.status.code()], [Some(2); 2]);
    assert_eq!(stdout(&named), "");
    assert!(stdout(&piped) == answers, "the first file is answered");
    assert!(stderr(&piped).ends_with(&format!("standard input {sentence}")), "{}", stderr(&piped));
    let out = folder.path("out.txt");
    let output = feed(&mut sudoku(&["solve", "-", "-o", &out]), &fs::read(&path).unwrap());
    assert_eq!((output.status.code(), Path::new(&out).exists()), (Some(2), false));
}

/// In a pipe, the length of a file that is only stored is not known before it is read.
#[test]
fn an_archive_that_only_a_file_can_show_is_read_from_a_file() {
    let folder = Folder::new();
    let text = list(10);
    let path = folder.write("a.zip", zip(&[Member::new("a", text.as_bytes()).stored().described_behind()]));
    let [named, piped] = by_both_ways(&["solve"], &path);
    succeeded(&named);
    assert_eq!(stdout(&named).lines().count(), 10);
    let wanted = "standard input is a zip archive that has the length of its file behind it: \
                  write it to a file, and read that.\n";
    assert_eq!((piped.status.code(), stderr(&piped)), (Some(2), wanted.to_owned()));
}

#[test]
fn what_would_take_very_much_memory_is_refused() {
    let folder = Folder::new();
    let text = list(100);
    let mut options = lzma_rust2::XzOptions::with_preset(1);
    options.lzma_options.dict_size = 64 << 20;
    let most = folder.write("most.xz", xz_with(text.as_bytes(), options));
    for output in by_both_ways(&["solve"], &most) {
        assert_eq!(stdout(&output).lines().count(), 100, "{}", stderr(&output));
    }
    // The same file, as if it referred 512 MiB back: the dictionary is the last byte of the block
    // header but padding and checksum.
    let mut bytes = fs::read(&most).unwrap();
    let header = 12..12 + (usize::from(bytes[12]) + 1) * 4;
    let at = header.start + 4;
    assert_eq!(bytes[at - 2..at], [0x21, 1], "the filter LZMA2 with one byte of properties");
    bytes[at] = 34;
    let mut crc = flate2::Crc::new();
    crc.update(&bytes[header.start..header.end - 4]);
    bytes[header.end - 4..header.end].copy_from_slice(&crc.sum().to_le_bytes());
    let xz = folder.write("huge.xz", bytes);
    // A frame of Zstandard with a window of 512 MiB, and one block of a raw byte.
    let zst = folder.write("huge.zst", b"\x28\xB5\x2F\xFD\0\x98\x09\0\0.");
    for path in [xz, zst] {
        for (output, name) in by_both_ways(&["solve"], &path).iter().zip([&path[..], "standard input"]) {
            let wanted = format!(
                "{name} takes more than 256 MiB of memory to decompress: decompress it into a file first.\n"
            );
            assert_eq!((output.status.code(), stderr(output)), (Some(2), wanted));
        }
    }
}

/// Neither waits for more than a line where the other end waits for its answers.
#[test]
fn a_pipe_is_read_to_its_end_and_no_writer_is_cut_off() {
    let text = list(3_000);
    for (name, bytes) in containers(&text) {
        let mut child = sudoku(&["solve", "-"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let reads = std::thread::spawn(move || child.wait_with_output().unwrap());
        stdin.write_all(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        drop(stdin);
        assert_eq!(stdout(&reads.join().unwrap()).lines().count(), 3_000, "{name}");
    }
}

#[test]
fn what_has_to_be_decoded_cannot_be_cut_into_shards() {
    let folder = Folder::new();
    for (name, bytes) in containers(&list(20)) {
        let is_plain_utf16 = name.ends_with("utf16le") || name.ends_with("utf16be");
        let path = folder.write(&name, bytes);
        let output = sudoku(&["solve", &path, "--shard", "1/2"]).output().unwrap();
        let advice = if is_plain_utf16 {
            "It is in UTF-16: convert it to UTF-8 first."
        } else {
            "It is compressed: decompress it into a file first."
        };
        let wanted = format!("{path} cannot be cut into parts, because its length is not known. {advice}\n");
        assert_eq!((output.status.code(), stderr(&output)), (Some(2), wanted));
    }
}

#[test]
fn grids_below_brackets_and_addresses_are_cut_into_shards() {
    let folder = Folder::new();
    let grid = "12..\n34..\n..1.\n....\n";
    for title in ["[1]", "http://example.org/1"] {
        let path = folder.write("grids", format!("# mine\n{title}\n{grid}\n{title}\n{grid}"));
        let shard = |shard| stdout(&sudoku(&["solve", &path, "--shard", shard]).output().unwrap());
        let parts = ["1/2", "2/2"].map(shard);
        assert_eq!(parts.concat(), stdout(&sudoku(&["solve", &path]).output().unwrap()), "{title}");
        assert_eq!(parts.concat().lines().count(), 2, "{title}");
    }
}
