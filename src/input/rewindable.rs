//! Inputs that can be read more than once.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::sync::Arc;

use super::source::Backing;
use super::stamp::Stamp;
use super::{CHUNK_BYTES, InputError, Mapped, Source};

/// An input that can be read more than once.
pub enum Rewindable {
    /// A mapped file; if it changes between two readings, the later one fails.
    Map(Arc<Mapped>),
    /// A copy of a stream that can only be read in order.
    Copy {
        /// The name of the input in messages.
        name: String,
        /// The copy.
        file: File,
    },
}

impl Rewindable {
    /// The input from its start. Only one source may be read at a time, because those of a copy
    /// share its position.
    ///
    /// # Errors
    /// The system's.
    pub fn source(&self) -> Result<Source, InputError> {
        match self {
            Self::Map(map) => Ok(Source::mapped(Arc::clone(map))),
            Self::Copy { name, file } => {
                let fail = |error| InputError::io(name, error);
                let rewound =
                    file.try_clone().and_then(|mut file| file.rewind().map(|()| file)).map_err(fail)?;
                let stamp = Stamp::of(&rewound).map_err(fail)?;
                // The copy holds text, whatever it was made of.
                let backing =
                    Backing::Stream { stream: Box::new(rewound), decoding: None, file: Some(stamp) };
                Ok(Source::new(name.clone(), backing))
            }
        }
    }
}

impl Source {
    /// Makes the input readable more than once. An input that is not mapped is copied into a
    /// temporary file without a name, which vanishes when it is closed.
    ///
    /// # Errors
    /// Errors of reading the input or writing the copy.
    pub fn rewindable(mut self) -> Result<Rewindable, InputError> {
        if let Backing::Map { map, .. } = &self.backing {
            return Ok(Rewindable::Map(Arc::clone(map)));
        }
        let mut file = tempfile::tempfile().map_err(|error| InputError::io("temporary file", error))?;
        let (mut buffer, mut taken) = (Vec::with_capacity(CHUNK_BYTES), 0);
        while self.fill(&mut buffer, CHUNK_BYTES, taken)? > 0 {
            taken += buffer.len() as u64;
            file.write_all(&buffer).map_err(|error| InputError::io("temporary file", error))?;
            buffer.clear();
        }
        Ok(Rewindable::Copy { name: self.name, file })
    }
}
