//! Compressed inputs: their content, decompressed as it is read.

use std::io::{self, BufReader, Read};

use super::kind::Compression;

/// The most memory that a decompressor may take.
///
/// Its files say how far back they refer. `xz -9` and `zstd --ultra -22` take 64 MiB and 128 MiB.
const MAX_WINDOW_BYTES: u32 = 256 << 20;

/// The compressed bytes that are read at a time.
pub(super) const BUFFER_BYTES: usize = 64 * 1024;

/// The refusal of an input that is found only while it is read; ends what follows its name.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refusal(pub(super) String);

impl Refusal {
    pub(super) fn error(what: impl Into<String>) -> io::Error {
        io::Error::other(Self(what.into()))
    }
}

/// The content of a compressed stream. Several compressed one after another are read as one.
///
/// # Errors
/// Those of making the decompressor.
pub(super) fn decompressed(
    stream: impl Read + Send + 'static,
    compression: Compression,
) -> io::Result<Box<dyn Read + Send>> {
    let stream = BufReader::with_capacity(BUFFER_BYTES, stream);
    Ok(match compression {
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(stream)),
        Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(stream)),
        Compression::Zstandard => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(stream)?;
            decoder.window_log_max(MAX_WINDOW_BYTES.ilog2())?;
            Box::new(Bounded { decoder, is_refusal: |error| error.to_string().contains("too much memory") })
        }
        Compression::Xz => {
            // Beyond the window it takes some 64 KiB.
            let limit = MAX_WINDOW_BYTES / 1024 + 1024;
            let decoder = lzma_rust2::XzReader::new_mem_limit(stream, true, limit);
            Box::new(Bounded { decoder, is_refusal: |error| error.kind() == io::ErrorKind::OutOfMemory })
        }
    })
}

/// A decompressor that fails where it may take no more memory.
struct Bounded<R> {
    decoder: R,
    is_refusal: fn(&io::Error) -> bool,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buffer).map_err(|error| {
            if (self.is_refusal)(&error) {
                Refusal::error(format!(
                    "takes more than {} MiB of memory to decompress: decompress it into a file first.",
                    MAX_WINDOW_BYTES >> 20
                ))
            } else {
                error
            }
        })
    }
}
