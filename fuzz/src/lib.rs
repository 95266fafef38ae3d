//! What the fuzz targets do with the bytes that they are given: each is a function that panics where something does not
//! hold. They stand apart from the targets so that tests can run them over the seeds without a fuzzer.

pub mod files;
pub mod kernel;
pub mod requests;
pub mod streams;
pub mod text;
pub mod web;

mod reading;
mod serving;

/// A target: what it does with its bytes.
pub type Target = fn(&[u8]);

/// All of them, by name.
pub const TARGETS: [(&str, Target); 6] = [
    ("files", files::run),
    ("kernel", kernel::run),
    ("requests", requests::run),
    ("streams", streams::run),
    ("text", text::run),
    ("web", web::run),
];
