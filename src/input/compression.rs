//! Compression of inputs: gzip and Zstandard, known by their first bytes whatever a file is called.

use std::fs::File;
use std::io::{self, BufReader, Read};

enum Compression {
    Gzip,
    Zstandard,
}

const GZIP_MAGIC: [u8; 2] = [0x1F, 0x8B];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

fn compression(start: &[u8]) -> Option<Compression> {
    if start.starts_with(&GZIP_MAGIC) {
        Some(Compression::Gzip)
    } else if start.starts_with(&ZSTD_MAGIC) {
        Some(Compression::Zstandard)
    } else {
        None
    }
}

/// Whether a file begins like one compressed by gzip or Zstandard.
///
/// The file must allow reads at any offset; its position does not move.
#[must_use]
pub(crate) fn is_compressed(file: &File) -> bool {
    use std::os::unix::fs::FileExt as _;
    let mut magic = [0; ZSTD_MAGIC.len()];
    let length = file.read_at(&mut magic, 0).unwrap_or(0);
    compression(&magic[..length]).is_some()
}

/// The uncompressed content of a stream, and whether the stream is compressed.
pub(super) fn decoder(mut stream: Box<dyn Read + Send>) -> io::Result<(Box<dyn Read + Send>, bool)> {
    let mut magic = Vec::new();
    stream.by_ref().take(ZSTD_MAGIC.len() as u64).read_to_end(&mut magic)?;
    let kind = compression(&magic);
    let is_compressed = kind.is_some();
    let whole = io::Cursor::new(magic).chain(stream);
    let content: Box<dyn Read + Send> = match kind {
        None => Box::new(whole),
        Some(Compression::Gzip) => Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::new(whole))),
        Some(Compression::Zstandard) => Box::new(zstd::stream::read::Decoder::new(whole)?),
    };
    Ok((content, is_compressed))
}
