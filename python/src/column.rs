//! Columns: the results of a question, one a puzzle.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, UInt64Array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_schema::{ArrowError, DataType};
use numpy::PyArray1;
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyModuleNotFoundError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyFloat, PyInt, PyIterator, PyList, PyString, PyTuple};

use crate::arrow;

/// A column of results. Arrow-aware libraries take it as it is: `pyarrow.array(column)`,
/// `polars.Series(column)`.
#[pyclass(frozen, sequence, module = "sudoku_stream._native")]
pub struct Column {
    values: Values,
}

/// The results, of which any may be missing.
pub enum Values {
    /// Grids as one ASCII character a cell. `missing` says for each whether it is missing, and then
    /// its characters are 0.
    Texts { cells: usize, text: Buffer, missing: Vec<bool> },
    /// Names, as one more than their places in a table; 0 is missing.
    Names { names: Vec<u8>, table: Vec<&'static str> },
    /// Counts, and for each whether it is missing.
    Counts { counts: Vec<u64>, missing: Vec<bool> },
    /// Ratings in tenths; 0 is missing.
    Tenths(Vec<u16>),
    /// 0 for no, 1 for yes, 2 for missing.
    Flags(Vec<u8>),
}

/// A vector of `length` zeros.
///
/// # Errors
/// `MemoryError`, where an allocator without memory would end the process.
pub fn zeros<T: Clone + Default>(length: Option<usize>) -> PyResult<Vec<T>> {
    let error = || PyMemoryError::new_err("There is not enough memory for the results.");
    let length = length.ok_or_else(error)?;
    // Tried first, because only `vec!` gets zeros from the system, and it aborts on failure.
    Vec::<T>::new().try_reserve_exact(length).map_err(|_| error())?;
    Ok(vec![T::default(); length])
}

/// Imports NumPy, which is needed for arrays alone, so that it may be missing. It has to be called
/// before anything makes an array or looks for one, because without NumPy that panics.
///
/// # Errors
/// `ModuleNotFoundError`, or why NumPy cannot be imported.
pub fn import_numpy(py: Python<'_>) -> PyResult<()> {
    let Err(error) = py.import("numpy") else { return Ok(()) };
    if !error.is_instance_of::<PyModuleNotFoundError>(py) {
        return Err(error);
    }
    let missing =
        PyModuleNotFoundError::new_err("Arrays need NumPy, which is not installed: pip install numpy.");
    missing.set_cause(py, Some(error));
    Err(missing)
}

impl From<Values> for Column {
    fn from(values: Values) -> Self {
        Self { values }
    }
}

fn nulls(missing: &[bool]) -> Option<NullBuffer> {
    let is_whole = missing.iter().all(|missing| !missing);
    (!is_whole).then(|| NullBuffer::new(missing.iter().map(|missing| !missing).collect::<BooleanBuffer>()))
}

impl Column {
    fn len(&self) -> usize {
        match &self.values {
            Values::Texts { missing, .. } => missing.len(),
            Values::Names { names, .. } => names.len(),
            Values::Counts { counts, .. } => counts.len(),
            Values::Tenths(tenths) => tenths.len(),
            Values::Flags(flags) => flags.len(),
        }
    }

    fn data_type(&self) -> DataType {
        match &self.values {
            Values::Texts { text, .. } if i32::try_from(text.len()).is_err() => DataType::LargeUtf8,
            Values::Texts { .. } | Values::Names { .. } => DataType::Utf8,
            Values::Counts { .. } => DataType::UInt64,
            Values::Tenths(_) => DataType::Float64,
            Values::Flags(_) => DataType::Boolean,
        }
    }

    fn to_arrow(&self) -> PyResult<ArrayRef> {
        let error = |error: ArrowError| PyValueError::new_err(error.to_string());
        Ok(match &self.values {
            Values::Texts { cells, text, missing } => {
                let is_large = self.data_type() == DataType::LargeUtf8;
                arrow::texts(text.clone(), *cells, nulls(missing), missing.len(), is_large)
            }
            Values::Names { names, table } => {
                let mut column = StringBuilder::with_capacity(names.len(), 8 * names.len());
                for &name in names {
                    column.append_option(name_of(name, table));
                }
                Arc::new(column.finish())
            }
            Values::Counts { counts, missing } => {
                Arc::new(UInt64Array::try_new(counts.clone().into(), nulls(missing)).map_err(error)?)
            }
            Values::Tenths(tenths) => {
                Arc::new(tenths.iter().map(|&t| rating_of(t)).collect::<Float64Array>())
            }
            Values::Flags(flags) => Arc::new(flags.iter().map(|&f| flag_of(f)).collect::<BooleanArray>()),
        })
    }

    fn item<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyAny>> {
        let none = || py.None().into_bound(py);
        Ok(match &self.values {
            Values::Texts { missing, .. } | Values::Counts { missing, .. } if missing[at] => none(),
            Values::Texts { cells, text, .. } => {
                PyString::from_bytes(py, &text[at * cells..][..*cells])?.into_any()
            }
            Values::Names { names, table } => match name_of(names[at], table) {
                Some(name) => PyString::intern(py, name).into_any(),
                None => none(),
            },
            Values::Counts { counts, .. } => counts[at].into_pyobject(py)?.into_any(),
            Values::Tenths(tenths) => match rating_of(tenths[at]) {
                Some(rating) => PyFloat::new(py, rating).into_any(),
                None => none(),
            },
            Values::Flags(flags) => match flag_of(flags[at]) {
                Some(flag) => PyBool::new(py, flag).to_owned().into_any(),
                None => none(),
            },
        })
    }
}

fn name_of(name: u8, table: &[&'static str]) -> Option<&'static str> {
    usize::from(name).checked_sub(1).and_then(|place| table.get(place).copied())
}

fn rating_of(tenths: u16) -> Option<f64> {
    (tenths > 0).then(|| f64::from(tenths) / 10.0)
}

const fn flag_of(flag: u8) -> Option<bool> {
    match flag {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.to_list(py)?.try_iter()
    }

    fn __repr__(&self) -> String {
        format!("<Column of {} results, {}>", self.len(), self.data_type())
    }

    fn __getitem__<'py>(&self, py: Python<'py>, at: &Bound<'py, PyInt>) -> PyResult<Bound<'py, PyAny>> {
        let (at, len): (isize, usize) = (at.extract()?, self.len());
        let place = if at < 0 { len.checked_add_signed(at) } else { usize::try_from(at).ok() };
        let place = place.filter(|&place| place < len);
        let place =
            place.ok_or_else(|| PyIndexError::new_err(format!("There is no result {at} among {len}.")))?;
        self.item(py, place)
    }

    /// The results as a list, `None` where one is missing.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        if let Values::Names { names, table } = &self.values {
            // Each name is made once.
            let none = py.None().into_bound(py);
            let known: Vec<_> = table.iter().map(|name| PyString::intern(py, name).into_any()).collect();
            let name = |&name: &u8| usize::from(name).checked_sub(1).map_or(&none, |place| &known[place]);
            return PyList::new(py, names.iter().map(name));
        }
        let list = PyList::empty(py);
        for at in 0..self.len() {
            list.append(self.item(py, at)?)?;
        }
        Ok(list)
    }

    /// The results as an array: counts with 0 where one is missing, ratings with `nan`; texts, names
    /// and flags as objects, with `None`.
    fn to_numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        import_numpy(py)?;
        Ok(match &slf.get().values {
            Values::Counts { counts, .. } => PyArray1::from_slice(py, counts).into_any(),
            Values::Tenths(tenths) => {
                let ratings = tenths.iter().map(|&tenths| rating_of(tenths).unwrap_or(f64::NAN));
                PyArray1::from_iter(py, ratings).into_any()
            }
            Values::Texts { .. } | Values::Names { .. } | Values::Flags(_) => {
                let objects: Vec<Py<PyAny>> = slf.get().to_list(py)?.extract()?;
                PyArray1::from_vec(py, objects).into_any()
            }
        })
    }

    /// The Arrow type of the results.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::export_schema(py, &self.data_type())
    }

    /// The results as an Arrow array.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // A producer may ignore what is wished for.
        let _ = requested_schema;
        arrow::export(py, &self.to_arrow()?)
    }
}
