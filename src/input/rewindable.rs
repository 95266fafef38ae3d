//! Inputs that can be read more than once.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::sync::Arc;

#[cfg(feature = "parquet")]
use super::ParquetFile;
use super::source::Backing;
use super::stamp::Stamp;
use super::{CHUNK_BYTES, InputError, Mapped, Source};
use crate::grid::Order;

/// An input that can be read more than once.
pub struct Rewindable(Kind);

/// The ways in which an input can be read more than once.
enum Kind {
    /// A mapped file; if it changes between two readings, the later one fails.
    Map(Arc<Mapped>),
    /// The rows of a Parquet file, which are decoded again. If it changes, the later reading fails.
    #[cfg(feature = "parquet")]
    Rows { name: String, file: Arc<ParquetFile>, stamp: Option<Stamp> },
    /// A copy of the text of a stream that can only be read in order.
    Copy { name: String, text: File, npy_order: Option<Order> },
}

impl Rewindable {
    /// The input from its start. Only one source may be read at a time, because those of a copy
    /// share its position.
    ///
    /// # Errors
    /// The system's.
    pub fn source(&self) -> Result<Source, InputError> {
        match &self.0 {
            Kind::Map(map) => Ok(Source::mapped(Arc::clone(map))),
            #[cfg(feature = "parquet")]
            Kind::Rows { name, file, stamp } => {
                let stamp = stamp.as_ref().map(Stamp::try_clone).transpose();
                let stamp = stamp.map_err(|error| InputError::io(name, error))?;
                Ok(Source::rows_of(name.clone(), Arc::clone(file), stamp))
            }
            Kind::Copy { name, text, npy_order } => {
                let fail = |error| InputError::io(name, error);
                let rewound =
                    text.try_clone().and_then(|mut text| text.rewind().map(|()| text)).map_err(fail)?;
                let stamp = Stamp::of(&rewound).map_err(fail)?;
                let backing =
                    Backing::Stream { stream: Box::new(rewound), decoding: None, file: Some(stamp) };
                let mut source = Source::new(name.clone(), backing);
                source.npy_order = *npy_order;
                Ok(source)
            }
        }
    }

    /// Whether it is a mapped file.
    #[must_use]
    pub const fn is_mapped(&self) -> bool {
        matches!(self.0, Kind::Map(_))
    }
}

impl Source {
    /// Makes the input readable more than once. The text of one that is neither mapped nor a Parquet
    /// file is copied into a temporary file without a name, which vanishes when it is closed.
    ///
    /// # Errors
    /// Errors of reading the input or writing the copy.
    pub fn rewindable(mut self) -> Result<Rewindable, InputError> {
        if let Backing::Map { map, .. } = &self.backing {
            return Ok(Rewindable(Kind::Map(Arc::clone(map))));
        }
        #[cfg(feature = "parquet")]
        if let Some(file) = self.parquet().cloned() {
            let stamp = match self.backing {
                Backing::Stream { file, .. } => file,
                Backing::Map { .. } => None,
            };
            return Ok(Rewindable(Kind::Rows { name: self.name, file, stamp }));
        }
        let mut text = tempfile::tempfile().map_err(|error| InputError::io("temporary file", error))?;
        let (mut buffer, mut taken) = (Vec::with_capacity(CHUNK_BYTES), 0);
        while self.fill(&mut buffer, CHUNK_BYTES, taken)? > 0 {
            taken += buffer.len() as u64;
            text.write_all(&buffer).map_err(|error| InputError::io("temporary file", error))?;
            buffer.clear();
        }
        Ok(Rewindable(Kind::Copy { name: self.name, text, npy_order: self.npy_order }))
    }
}
