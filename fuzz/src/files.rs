//! Any bytes as a file, compressed or not, whole or damaged: what can be read is read and comes before the error, and every
//! way to read a part of a file sees what the whole shows there.

use std::fs::File;
use std::io::{Cursor, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use sudoku_stream::answer::Block;
use sudoku_stream::input::{InputError, Mapped, Pick, PuzzleIndex, Reader, Shard, Source, pick};
use sudoku_stream::text::{Hint, Notation};

use super::reading::{Seen, chunks, hint, records};

/// The most puzzles that are asked for one by one.
const PICKED: u64 = 10;

/// The most chunks that are read of what may unpack to very much.
const CHUNKS: usize = 256;

/// First bytes: what follows is read as compressed, and is nothing of the kind.
const GZIP: &[u8] = b"\x1F\x8B\x08\0\0\0\0\0\0\x03";
const ZSTANDARD: &[u8] = b"\x28\xB5\x2F\xFD";
const BZIP2: &[u8] = b"BZh91AY&SY";
const XZ: &[u8] = b"\xFD7zXZ\0\0\x04\xE6\xD6\xB4\x46";

/// The header of a file `a` in a zip archive, deflated, with its length behind it.
const ZIP: &[u8] = b"PK\x03\x04\x14\0\x08\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0a";

/// The end of an archive with one entry in its list, which begins at byte 0.
const ZIP_END: &[u8] = b"PK\x05\x06\0\0\0\0\x01\0\x01\0\0\0\0\0\0\0\0\0\0\0";

/// The first bytes by which any compression is known.
const LONGEST: usize = 6;

/// The first bytes are what to do, notation and order, and a place in the file. The file follows.
pub fn run(data: &[u8]) {
    let Some((&[what, how, low, high], text)) = data.split_first_chunk() else { return };
    let hint = hint(how, 0);
    let place = usize::from(u16::from_le_bytes([low, high]));
    match what % 12 {
        0 => only_read(text.to_vec(), &hint),
        1 => only_read([GZIP, text].concat(), &hint),
        2 => only_read([ZSTANDARD, text].concat(), &hint),
        3 => damaged(text, gzip(text), place, &hint),
        4 => damaged(text, zstandard(text), place, &hint),
        5 => in_parts(text, place, &hint),
        6 => only_read([BZIP2, text].concat(), &hint),
        7 => only_read([XZ, text].concat(), &hint),
        8 => archive(text, &hint),
        9 => damaged(text, bzip2(text), place, &hint),
        10 => damaged(text, xz(text), place, &hint),
        _ => wide(text, place % 2 == 0, &hint),
    }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).expect("there is room");
    encoder.finish().expect("there is room")
}

fn zstandard(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 1).expect("there is room")
}

fn bzip2(text: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(text).expect("there is room");
    encoder.finish().expect("there is room")
}

fn xz(text: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(0);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).expect("options");
    encoder.write_all(text).expect("there is room");
    encoder.finish().expect("there is room")
}

fn open(bytes: Vec<u8>, hint: &Hint) -> Result<Reader, InputError> {
    Source::reading("text".to_owned(), Box::new(Cursor::new(bytes)))?.read(hint)
}

/// Reads whatever it is. No more is claimed than that it ends, or goes on in chunks that are bounded.
fn only_read(bytes: Vec<u8>, hint: &Hint) {
    let Ok(mut reader) = open(bytes, hint) else { return };
    for _ in 0..CHUNKS {
        let Ok(Some(chunk)) = reader.next_chunk() else { break };
        records(reader.format(), chunk.block());
    }
}

/// A compressed file that is cut off somewhere gives what came before.
fn damaged(text: &[u8], packed: Vec<u8>, place: usize, hint: &Hint) {
    // What begins with few bytes may look like something else where it is cut off.
    if text.iter().take(64).any(|&byte| byte == 0) {
        return;
    }
    let whole =
        open(text.to_vec(), hint).map(|mut reader| (format!("{:?}", reader.format()), chunks(&mut reader).0));
    let unpacked = open(packed.clone(), hint);
    let (Ok((format, whole)), Ok(mut unpacked)) = (whole, unpacked) else { return };
    let (seen, failure) = chunks(&mut unpacked);
    assert!(failure.is_none(), "{failure:?}");
    assert_eq!(seen, whole);

    let mut cut_off = packed;
    cut_off.truncate(place.max(LONGEST) % cut_off.len().max(1));
    if cut_off.len() < LONGEST {
        return;
    }
    match open(cut_off, hint) {
        Err(error) => {
            assert!(matches!(error, InputError::Damaged { .. } | InputError::Format(_)), "{error:?}");
        }
        // What is there of the file may look like something else than the whole, or have its puzzles in another column.
        Ok(reader) if format!("{:?}", reader.format()) != format => {}
        Ok(reader) if reader.format().notation() == Notation::Csv => {}
        Ok(mut reader) => {
            let (seen, failure) = chunks(&mut reader);
            assert!(whole.starts_with(&seen), "{seen:?}\n{whole:?}");
            assert!(matches!(failure, Some(InputError::Damaged { .. })), "{failure:?}");
        }
    }
}

/// An archive whose headers are good and whose content is anything, in a pipe and in a file.
fn archive(content: &[u8], hint: &Hint) {
    only_read([ZIP, content].concat(), hint);
    let mut file = tempfile::tempfile().expect("there are temporary files");
    for archive in [[ZIP, content].concat(), [ZIP, content, ZIP_END].concat()] {
        file.set_len(0).expect("files can be cut off");
        std::io::Seek::rewind(&mut file).expect("files can be rewound");
        file.write_all(&archive).expect("there is room");
        let file = file.try_clone().expect("files can be shared");
        std::io::Seek::rewind(&mut &file).expect("files can be rewound");
        let source = Source::file("text".to_owned(), file, true);
        if let Ok(mut reader) = source.and_then(|source| source.read(hint)) {
            for _ in 0..CHUNKS {
                let Ok(Some(_)) = reader.next_chunk() else { break };
            }
        }
    }
}

/// UTF-16 is read as the UTF-8 that it says.
fn wide(text: &[u8], is_big: bool, hint: &Hint) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    // What is known by its first bytes is so in UTF-8 only; none begins with a printable character
    // and ends its line.
    let is_plain =
        text.lines().next().is_some_and(|line| line.bytes().all(|byte| b"0123456789.".contains(&byte)));
    if text.contains('\0') || !is_plain {
        return;
    }
    let units = "\u{FEFF}".encode_utf16().chain(text.encode_utf16());
    let bytes = units.flat_map(|unit| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() });
    let [narrow, wide] = [text.as_bytes().to_vec(), bytes.collect()].map(|bytes| {
        open(bytes, hint).map(|mut reader| chunks(&mut reader).0).map_err(|error| error.to_string())
    });
    assert_eq!(wide, narrow);
}

/// All parts of a file are the whole; reading goes on where it stopped; and every puzzle is found by its number.
fn in_parts(text: &[u8], place: usize, hint: &Hint) {
    let mut file = tempfile::tempfile().expect("there are temporary files");
    file.write_all(text).expect("there is room");
    let reader = |may_map| -> Option<Reader> {
        let file = file.try_clone().expect("files can be shared");
        std::io::Seek::rewind(&mut &file).expect("files can be rewound");
        Source::file("text".to_owned(), file, may_map).ok()?.hashed().read(hint).ok()
    };
    let Some(mut mapped) = reader(true) else {
        assert!(reader(false).is_none(), "a map makes no difference");
        return;
    };
    let can_be_cut = mapped.len_bytes().is_some();
    let (whole, failure) = chunks(&mut mapped);
    assert_eq!(chunks(&mut reader(false).expect("a map makes no difference")).0, whole);
    if failure.is_some() || !can_be_cut {
        return;
    }
    for may_map in [true, false] {
        let parts = place % 5 + 1;
        let mut seen = Vec::new();
        for number in 1..=parts {
            let part: Shard = format!("{number}/{parts}").parse().expect("a part");
            let mut reader = reader(may_map).expect("it was read before");
            reader.select_shard(part).expect("files can be cut");
            seen.extend(chunks(&mut reader).0);
        }
        assert_eq!(seen, whole, "{parts} parts");
        go_on(&reader, may_map, place, &whole);
    }
    pick_each(&file, hint, &whole);
}

/// What is read from the end of any chunk on is what follows it.
fn go_on(reader: &impl Fn(bool) -> Option<Reader>, may_map: bool, place: usize, whole: &[Seen]) {
    let mut first = reader(may_map).expect("it was read before");
    first.read_in_chunks_of(place % 200 + 1);
    let mut seen = Vec::new();
    while let Ok(Some(chunk)) = first.next_chunk() {
        seen.extend(records(first.format(), chunk.block()));
        let mut rest = reader(may_map).expect("it was read before");
        let prefix = chunk.prefix().expect("the text is hashed");
        let is_same = rest.resume(chunk.end(), prefix).expect("it can be passed over");
        assert!(is_same, "{prefix:?} is a beginning of the text");
        let (rest, _) = chunks(&mut rest);
        assert_eq!([&seen[..], &rest].concat(), whole, "after {} bytes", chunk.end());
        if seen.len() as u64 > PICKED {
            break;
        }
    }
}

fn pick_each(file: &File, hint: &Hint, whole: &[Seen]) {
    let Ok(Some(map)) = Mapped::open(file, "text".to_owned()) else { return };
    if map.is_empty() {
        return;
    }
    let mut index = PuzzleIndex::new(map, hint).expect("it was read before");
    let format = index.format().clone();
    let source = || {
        let file = file.try_clone().expect("files can be shared");
        std::io::Seek::rewind(&mut &file).expect("files can be rewound");
        Source::file("text".to_owned(), file, false).expect("it was read before").read(hint)
    };
    for number in (1..=PICKED).rev() {
        let wanted = usize::try_from(number - 1).ok().and_then(|place| whole.get(place));
        let picked = index.puzzle(number).expect("it can be read");
        let streamed = pick(&mut source().expect("it was read before"), Pick::Number(number));
        // Not their text: behind an unfinished puzzle at the end there are more or fewer lines without cells.
        let [seen, streamed] = [picked, streamed.expect("it can be read")].map(|picked| {
            let picked = picked?;
            let block = Block { text: &picked.text, first_line: picked.line };
            Some(records(&format, block).swap_remove(0))
        });
        assert_eq!(seen, streamed);
        assert_eq!(seen.as_ref(), wanted, "puzzle {number}");
    }
    assert_eq!(index.count().expect("it can be read"), whole.len() as u64);
}
