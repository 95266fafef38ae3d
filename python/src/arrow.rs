//! The Arrow C data interface: columns of strings in, columns of results out.
//!
//! A producer hands over structures in capsules, and whoever takes one moves it out, so that the
//! capsule frees nothing any more. Texts are taken as bytes, because nothing here relies on their
//! being UTF-8.

#![expect(unsafe_code, reason = "the interface is C structures behind pointers")]

use std::ffi::CStr;
use std::ptr;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, LargeBinaryArray, LargeStringArray,
    StringArray, make_array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// A part of a column of texts.
#[derive(Debug)]
pub enum Chunk {
    /// With offsets of 32 bits.
    Small(BinaryArray),
    /// With offsets of 64 bits.
    Large(LargeBinaryArray),
    /// With views.
    View(BinaryViewArray),
    /// All of one length.
    Fixed(FixedSizeBinaryArray),
    /// Each text once: the place of each in another part, unless it is null.
    Dictionary(Vec<Option<usize>>, Box<Self>),
    /// As many nulls, of which no library can tell that they are texts.
    Nulls(usize),
}

impl Chunk {
    fn new(array: &dyn Array) -> PyResult<Self> {
        Ok(match array.data_type() {
            DataType::Utf8 => Self::Small(array.as_string().clone().into()),
            DataType::LargeUtf8 => Self::Large(array.as_string().clone().into()),
            DataType::Utf8View => Self::View(array.as_string_view().clone().to_binary_view()),
            DataType::Binary => Self::Small(array.as_binary().clone()),
            DataType::LargeBinary => Self::Large(array.as_binary().clone()),
            DataType::BinaryView => Self::View(array.as_binary_view().clone()),
            DataType::FixedSizeBinary(_) => Self::Fixed(array.as_fixed_size_binary().clone()),
            DataType::Dictionary(_, _) => {
                let dictionary = array.as_any_dictionary();
                let values = Self::new(dictionary.values())?;
                // The places of nulls mean nothing, and without values there are no others.
                let places = if values.len() == 0 {
                    vec![None; array.len()]
                } else {
                    let place = |(at, place)| array.is_valid(at).then_some(place);
                    dictionary.normalized_keys().into_iter().enumerate().map(place).collect()
                };
                Self::Dictionary(places, Box::new(values))
            }
            DataType::Null => Self::Nulls(array.len()),
            DataType::Struct(_) => {
                return Err(PyTypeError::new_err("This is a table: pass the column that holds the puzzles."));
            }
            other => {
                return Err(PyTypeError::new_err(format!(
                    "A column of {other} holds no puzzles as text: cast it to strings first."
                )));
            }
        })
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        match self {
            Self::Small(array) => array.len(),
            Self::Large(array) => array.len(),
            Self::View(array) => array.len(),
            Self::Fixed(array) => array.len(),
            Self::Dictionary(places, _) => places.len(),
            Self::Nulls(len) => *len,
        }
    }

    /// The text at this place; `None` if it is null.
    #[inline(always)]
    pub fn get(&self, at: usize) -> Option<&[u8]> {
        match self {
            Self::Small(array) => array.is_valid(at).then(|| array.value(at)),
            Self::Large(array) => array.is_valid(at).then(|| array.value(at)),
            Self::View(array) => array.is_valid(at).then(|| array.value(at)),
            Self::Fixed(array) => array.is_valid(at).then(|| array.value(at)),
            Self::Dictionary(places, values) => places[at].and_then(|place| values.get(place)),
            Self::Nulls(_) => None,
        }
    }
}

fn arrow_error(error: &ArrowError) -> PyErr {
    PyValueError::new_err(format!("The Arrow column cannot be read: {error}."))
}

/// Imports an object that has `__arrow_c_stream__` or `__arrow_c_array__`.
pub fn import(object: &Bound<'_, PyAny>) -> PyResult<Vec<Chunk>> {
    if object.hasattr("__arrow_c_stream__")? {
        let capsule = object.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
        let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
        // SAFETY: the interface says that a capsule of this name holds such a structure, and that
        // whoever takes it marks the one in the capsule as released, as `from_raw` does.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
        return import_stream(stream);
    }
    let pair = object.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
    let schema = pair.get_item(0)?.cast_into::<PyCapsule>()?;
    let array = pair.get_item(1)?.cast_into::<PyCapsule>()?;
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: as above, for both.
    let (schema, array) =
        unsafe { (FFI_ArrowSchema::from_raw(schema.as_ptr()), FFI_ArrowArray::from_raw(array.as_ptr())) };
    Ok(vec![import_array(array, &schema)?])
}

fn import_array(array: FFI_ArrowArray, schema: &FFI_ArrowSchema) -> PyResult<Chunk> {
    if DataType::try_from(schema).is_ok_and(|data_type| data_type == DataType::Null) {
        // polars exports a buffer with them, which `from_ffi` refuses.
        return Ok(Chunk::Nulls(array.len()));
    }
    // SAFETY: the producer of the structures answers for the memory that they name.
    let data = unsafe { from_ffi(array, schema) }.map_err(|error| arrow_error(&error))?;
    Chunk::new(&make_array(data))
}

/// Reads all arrays of a stream of single columns; `ArrowArrayStreamReader` reads tables only.
fn import_stream(mut stream: FFI_ArrowArrayStream) -> PyResult<Vec<Chunk>> {
    let stream = &raw mut stream;
    // SAFETY: the structure lives until the end of this function, which is in nobody else's hands.
    let (get_schema, get_next) = unsafe { ((*stream).get_schema(), (*stream).get_next()) };
    let (Some(get_schema), Some(get_next)) = (get_schema, get_next) else {
        return Err(PyValueError::new_err("The Arrow stream has been read already."));
    };
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the functions of a stream are called with the stream and a place for their result.
    let failure = unsafe { get_schema(stream, &raw mut schema) };
    stream_result(stream, failure)?;
    let mut chunks = Vec::new();
    loop {
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: as above.
        let failure = unsafe { get_next(stream, &raw mut array) };
        stream_result(stream, failure)?;
        if array.is_released() {
            return Ok(chunks);
        }
        chunks.push(import_array(array, &schema)?);
    }
}

/// The error of a function of a stream that has returned `failure`.
fn stream_result(stream: *mut FFI_ArrowArrayStream, failure: i32) -> PyResult<()> {
    if failure == 0 {
        return Ok(());
    }
    // SAFETY: the stream lives, and its last error is null or a C string that lives as long as no
    // other of its functions is called.
    let message = unsafe {
        let text = (*stream).get_last_error().map_or(ptr::null(), |last_error| last_error(stream));
        if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    };
    Err(PyValueError::new_err(format!("The Arrow column cannot be read (error {failure}). {message}")))
}

/// A column of texts of `cells` ASCII characters each.
///
/// # Panics
/// If a character is not ASCII.
pub fn texts(text: Buffer, cells: usize, nulls: Option<NullBuffer>, len: usize, is_large: bool) -> ArrayRef {
    assert!(text.is_ascii() && text.len() == cells * len);
    let lengths = std::iter::repeat_n(cells, len);
    // SAFETY: the offsets ascend in steps of `cells` up to the end of the text, and ASCII is UTF-8
    // wherever it is cut.
    unsafe {
        if is_large {
            Arc::new(LargeStringArray::new_unchecked(OffsetBuffer::from_lengths(lengths), text, nulls))
        } else {
            Arc::new(StringArray::new_unchecked(OffsetBuffer::from_lengths(lengths), text, nulls))
        }
    }
}

/// The schema of a column.
pub fn export_schema<'py>(py: Python<'py>, data_type: &DataType) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(data_type).map_err(|error| arrow_error(&error))?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// A column with its schema.
pub fn export<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Bound<'py, PyTuple>> {
    let schema = export_schema(py, array.data_type())?;
    let array = FFI_ArrowArray::new(&Arc::clone(array).to_data());
    PyTuple::new(py, [schema, PyCapsule::new_with_value(py, array, ARRAY)?])
}
