//! Compressed inputs: their content, decompressed as it is read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;

use super::BUFFER_BYTES;
use super::error::LateRefusal;
use super::kind::Compression;

/// The most memory that a decompressor may take.
///
/// Its files say how far back they refer. `xz -9` and `zstd --ultra -22` take 64 MiB and 128 MiB.
const MAX_WINDOW_BYTES: u32 = 256 << 20;

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
        Compression::Gzip => Box::new(Gzip { member: Some(GzDecoder::new(stream)) }),
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

/// The content of a compressed file, in an unnamed file of its own; `None` if it is longer than `most`
/// bytes.
///
/// # Errors
/// Those of decompressing, and of the file that is written.
pub(crate) fn unpacked(packed: &File, compression: Compression, most: u64) -> io::Result<Option<File>> {
    let mut content = tempfile::tempfile()?;
    let stream = decompressed(packed.try_clone()?, compression)?;
    let length = io::copy(&mut stream.take(most + 1), &mut content)?;
    Ok((length <= most).then_some(content))
}

/// The content of all members of a gzip stream. Zero bytes behind a member are padding, as `gzip` has
/// it, because some devices write whole blocks only.
struct Gzip<R> {
    /// The member that is being read; `None` at the end.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let length = member.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            let goes_on = !is_padding(member.get_mut())?;
            self.member =
                self.member.take().filter(|_| goes_on).map(|member| GzDecoder::new(member.into_inner()));
        }
        Ok(0)
    }
}

/// Whether nothing but zero bytes follows. They are passed over.
fn is_padding(stream: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = stream.fill_buf()?;
        if bytes.is_empty() {
            return Ok(true);
        }
        let zeros = bytes.iter().position(|&byte| byte != 0);
        let length = zeros.unwrap_or(bytes.len());
        stream.consume(length);
        if zeros.is_some() {
            return Ok(false);
        }
    }
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
                LateRefusal::error(format!(
                    "takes more than {} MiB of memory to decompress: decompress it into a file first.",
                    MAX_WINDOW_BYTES >> 20
                ))
            } else {
                error
            }
        })
    }
}
