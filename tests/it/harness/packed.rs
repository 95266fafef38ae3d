//! Texts, compressed in every way that is read.

use std::io::Write as _;

pub fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub fn zstandard(text: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub fn bzip2(text: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(1));
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub fn xz(text: &[u8]) -> Vec<u8> {
    xz_with(text, lzma_rust2::XzOptions::with_preset(1))
}

pub fn xz_with(text: &[u8], options: lzma_rust2::XzOptions) -> Vec<u8> {
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn deflate(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// A file of a zip archive, and how it is stored there.
#[derive(Clone)]
pub struct Member<'a> {
    pub name: &'a str,
    pub text: &'a [u8],
    pub method: u16,
    pub flags: u16,
    /// Whether its sizes have 64 bits.
    pub is_large: bool,
    /// Whether what describes it behind its content has a signature.
    pub is_signed: bool,
}

const DESCRIBED_BEHIND: u16 = 1 << 3;

impl<'a> Member<'a> {
    pub fn new(name: &'a str, text: &'a [u8]) -> Self {
        Self { name, text, method: 8, flags: 0, is_large: false, is_signed: true }
    }

    pub fn stored(self) -> Self {
        Self { method: 0, ..self }
    }

    pub fn described_behind(self) -> Self {
        Self { flags: DESCRIBED_BEHIND, ..self }
    }
}

/// An archive of these files, as APPNOTE.TXT of PKWARE describes it.
pub fn zip(members: &[Member<'_>]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    let short = |value: usize| u16::try_from(value).unwrap().to_le_bytes();
    for member in members {
        let content = if member.method == 0 { member.text.to_vec() } else { deflate(member.text) };
        let mut crc = flate2::Crc::new();
        crc.update(member.text);
        let crc = crc.sum().to_le_bytes();
        let (packed, size) = (content.len() as u64, member.text.len() as u64);
        let large = [size.to_le_bytes(), packed.to_le_bytes()].concat();
        let small = [packed, size].map(|size| u32::try_from(size).unwrap().to_le_bytes()).concat();
        let is_behind = member.flags & DESCRIBED_BEHIND != 0;
        let offset = u32::try_from(archive.len()).unwrap().to_le_bytes();
        let entry = |is_listed: bool| {
            let mut entry = [&20_u16.to_le_bytes()[..], &member.flags.to_le_bytes()].concat();
            entry.extend(member.method.to_le_bytes());
            entry.extend([0; 4]);
            let is_known = is_listed || !is_behind;
            entry.extend(if is_known { crc } else { [0; 4] });
            let sizes = if is_known { small.clone() } else { vec![0; 8] };
            entry.extend(if member.is_large { vec![0xFF; 8] } else { sizes });
            entry.extend(short(member.name.len()));
            // Another extra field comes first.
            let mut extra = vec![b'U', b'T', 1, 0, 0];
            if member.is_large {
                extra.extend([1, 0, 16, 0]);
                extra.extend(if is_known { large.clone() } else { vec![0; 16] });
            }
            entry.extend(short(extra.len()));
            if is_listed {
                // A comment of two bytes, no disks, no attributes.
                entry.extend([2, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
                entry.extend(offset);
            }
            entry.extend(member.name.as_bytes());
            entry.extend(extra);
            entry
        };
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(entry(true));
        directory.extend(b"hi");
        archive.extend(b"PK\x03\x04");
        archive.extend(entry(false));
        archive.extend(content);
        if is_behind {
            archive.extend(if member.is_signed { &b"PK\x07\x08"[..] } else { b"" });
            archive.extend(crc);
            archive.extend(if member.is_large {
                [packed.to_le_bytes(), size.to_le_bytes()].concat()
            } else {
                small
            });
        }
    }
    let offset = u32::try_from(archive.len()).unwrap().to_le_bytes();
    let length = u32::try_from(directory.len()).unwrap().to_le_bytes();
    archive.extend(directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend([short(members.len()), short(members.len())].concat());
    archive.extend([length, offset].concat());
    archive.extend([&short(4)[..], b"done"].concat());
    archive
}
