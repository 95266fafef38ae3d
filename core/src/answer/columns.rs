//! Columns that are added to the rows of a table, and rows that keep their own.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};

use crate::grid::Grid;
use crate::techniques::Score;
use crate::text::{
    Delimiter, Format, MAX_LINE_BYTES, has_open_quotes, raw_fields, unquoted, writable, write_field,
};

/// A column that answers add to the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddedColumn {
    /// The cells of the solution.
    Solution,
    /// The number of solutions, up to [`Task::count_limit`](super::Task::count_limit).
    Solutions,
    /// The code of the error.
    Error,
    /// The number of clues.
    Clues,
    /// Whether the puzzle has one solution, and would have more without any one of its clues.
    Minimal,
    /// The nodes of the search.
    Nodes,
    /// The guesses of the search.
    Guesses,
    /// The rating of the hardest step by hand, of a puzzle with one solution that techniques solve.
    Rating,
    /// The technique of that step, or `beyond` if techniques do not solve it.
    Technique,
    /// The [canonical form](crate::canon) of a 9x9 puzzle.
    Canonical,
}

impl AddedColumn {
    /// The number of columns.
    pub const COUNT: usize = 10;

    /// All columns, each with its name on the command line and in headings.
    pub const ALL: [(&'static str, Self); Self::COUNT] = [
        ("solution", Self::Solution),
        ("solutions", Self::Solutions),
        ("error", Self::Error),
        ("clues", Self::Clues),
        ("minimal", Self::Minimal),
        ("nodes", Self::Nodes),
        ("guesses", Self::Guesses),
        ("rating", Self::Rating),
        ("technique", Self::Technique),
        ("canonical", Self::Canonical),
    ];

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, column)| *column == self).map_or("", |(name, _)| name)
    }
}

impl fmt::Display for AddedColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error of an unknown column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no column that can be added. Use solution, solutions, error, clues, minimal, nodes, guesses, rating, \
     technique or canonical."
)]
pub struct NoAddedColumn(String);

impl FromStr for AddedColumn {
    type Err = NoAddedColumn;

    fn from_str(text: &str) -> Result<Self, NoAddedColumn> {
        let known = Self::ALL.into_iter().find(|(name, _)| *name == text);
        known.map(|(_, column)| column).ok_or_else(|| NoAddedColumn(text.to_owned()))
    }
}

/// Columns in the order in which they are added, each once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddedColumns([Option<AddedColumn>; AddedColumn::COUNT]);

impl AddedColumns {
    /// These columns, without those that are repeated.
    #[must_use]
    pub fn new(columns: &[AddedColumn]) -> Self {
        let mut known = Self::default();
        for &column in columns {
            if !known.contains(column)
                && let Some(free) = known.0.iter_mut().find(|place| place.is_none())
            {
                *free = Some(column);
            }
        }
        known
    }

    /// Whether this column is one of them.
    #[must_use]
    pub fn contains(&self, column: AddedColumn) -> bool {
        self.iter().any(|own| own == column)
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0[0].is_none()
    }

    /// Whether puzzles have to be rated for these columns.
    #[must_use]
    pub fn have_ratings(&self) -> bool {
        self.contains(AddedColumn::Rating) || self.contains(AddedColumn::Technique)
    }

    /// The columns, in order.
    pub fn iter(&self) -> impl Iterator<Item = AddedColumn> {
        self.0.into_iter().flatten()
    }
}

/// The way in which rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowForm {
    /// Fields with this character between them, in quotes where RFC 4180 asks for them.
    Delimited(u8),
    /// Fields with commas between them, from which the columns of a file are made: the heading is
    /// there even where the input has none.
    Columns,
    /// A JSON object.
    Json,
}

impl RowForm {
    /// What stands between two fields.
    const fn delimiter(self) -> Option<u8> {
        match self {
            Self::Delimited(delimiter) => Some(delimiter),
            Self::Columns => Some(b','),
            Self::Json => None,
        }
    }
}

/// A writer of rows: the columns of the input as they are, if it is a table, and further columns
/// behind them.
#[derive(Clone, Debug)]
pub struct RowWriter {
    form: RowForm,
    kept: Kept,
    /// The names of the further columns.
    names: Vec<String>,
}

/// The columns of the input in a row of the output.
#[derive(Clone, Debug)]
enum Kept {
    /// The input is no table.
    None,
    /// The row as it is, with at least this many fields.
    AsIs { delimiter: Delimiter, fields: usize },
    /// Its fields, each as it is unless it has to be quoted for the other delimiter.
    Converted { delimiter: Delimiter, fields: usize },
    /// Its fields as strings, with these keys.
    Members { delimiter: Delimiter, keys: Vec<String> },
    /// The object as it is.
    Object,
}

impl RowWriter {
    /// A writer for rows of an input in this format, with further columns of these names. A name
    /// that a column of the input has already gets a number, as in `solution_2`.
    #[must_use]
    pub fn new<'a>(format: &Format, form: RowForm, added: impl IntoIterator<Item = &'a str>) -> Self {
        let own: Vec<String> = match (format.whole_heading(), format.delimiter()) {
            (Some(heading), Some(delimiter)) => names(row_and_end(&heading).0, delimiter),
            _ => Vec::new(),
        };
        let names = distinct(added.into_iter().map(str::to_owned), own.iter().cloned().collect());
        let fields = own.len();
        let kept = match (form.delimiter(), format.delimiter()) {
            (None, None) if format.is_table() => Kept::Object,
            (_, None) => Kept::None,
            (Some(other), Some(delimiter)) if Delimiter::Byte(other) == delimiter => {
                Kept::AsIs { delimiter, fields }
            }
            (Some(_), Some(delimiter)) => Kept::Converted { delimiter, fields },
            (None, Some(delimiter)) => Kept::Members { delimiter, keys: own },
        };
        Self { form, kept, names }
    }

    /// The number of columns that an input in this format names in its heading.
    #[must_use]
    pub fn own_columns(format: &Format) -> usize {
        match (format.whole_heading(), format.delimiter()) {
            (Some(heading), Some(delimiter)) => raw_fields(row_and_end(&heading).0, delimiter).count(),
            _ => 0,
        }
    }

    /// Whether rows keep the columns of an input in this format.
    #[must_use]
    pub fn keeps_columns(format: &Format, form: RowForm) -> bool {
        format.delimiter().is_some() || (format.is_table() && form == RowForm::Json)
    }

    /// Appends the heading row, its line end included: the names of all columns. Nothing for JSON,
    /// and for a table without a heading.
    pub fn write_heading(&self, format: &Format, out: &mut Vec<u8>) {
        let is_list = matches!(self.kept, Kept::None);
        let has_none = !is_list && format.heading().is_none();
        if self.form == RowForm::Json || (has_none && self.form != RowForm::Columns) {
            return;
        }
        let mut row = match format.whole_heading() {
            Some(heading) => self.row(&heading, out),
            // What is added stands alone, because nothing is known of the input's columns.
            None => RowBuilder {
                form: self.form,
                names: Cow::Borrowed(self.names.as_slice()),
                out,
                index: 0,
                is_first: true,
                line_end: b"\n",
                all: None,
            },
        };
        for name in &self.names {
            row.text(name.as_bytes());
        }
        row.end();
    }

    /// Begins a row: what the input has in it, if that is a table. The further fields follow one by
    /// one.
    ///
    /// Of a row that is longer than what is read of a line, nothing is kept, because its end is not
    /// known. A row whose quotes are not closed gets no further fields where these would be in its
    /// quotes.
    pub fn row<'a>(&'a self, kept: &[u8], out: &'a mut Vec<u8>) -> RowBuilder<'a> {
        let kept = writable(if kept.len() < MAX_LINE_BYTES { kept } else { &[] });
        let (row, line_end) = row_and_end(&kept);
        let mut names = Cow::Borrowed(self.names.as_slice());
        let (mut is_first, mut all) = (false, None);
        match &self.kept {
            Kept::None => is_first = true,
            &Kept::AsIs { delimiter, .. } if self.form != RowForm::Columns && is_open(row, delimiter) => {
                out.extend_from_slice(row);
                all = Some(out.len());
            }
            &Kept::AsIs { delimiter, fields } => {
                out.extend_from_slice(row);
                // Every row has a field.
                if fields > 1 {
                    pad(count_fields(row, delimiter), fields, delimiter, out);
                }
            }
            &Kept::Converted { delimiter, fields } => {
                let Some(other) = self.form.delimiter() else { unreachable!("JSON is not converted") };
                let count = write_fields(row, delimiter, other, out);
                pad(count.max(1), fields, Delimiter::Byte(other), out);
            }
            Kept::Members { delimiter, keys } => write_members(row, *delimiter, keys, out),
            Kept::Object => match members(row, &self.names) {
                Some(taken) => {
                    let inner = row.trim_ascii();
                    let inner = inner.strip_suffix(b"}").unwrap_or(inner).trim_ascii_end();
                    out.extend_from_slice(inner);
                    is_first = inner.ends_with(b"{");
                    if !taken.is_empty() {
                        names = Cow::Owned(distinct(self.names.iter().cloned(), taken));
                    }
                }
                // What is no object is kept as a text.
                None => {
                    out.extend_from_slice(b"{\"text\":");
                    write_json(row, out);
                }
            },
        }
        if is_first && self.form == RowForm::Json && out.last() != Some(&b'{') {
            out.push(b'{');
        }
        let line_end = if matches!(self.kept, Kept::Members { .. }) { b"\n" } else { line_end };
        RowBuilder { form: self.form, names, out, index: 0, is_first, line_end, all }
    }
}

/// The names, with numbers for those that are taken.
fn distinct(names: impl IntoIterator<Item = String>, mut taken: HashSet<String>) -> Vec<String> {
    let free = |name: String| {
        let name = free_name(name, |name| taken.contains(name));
        taken.insert(name.clone());
        name
    };
    names.into_iter().map(free).collect()
}

/// The name, with a number if it is taken.
fn free_name(name: String, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(&name) {
        return name;
    }
    let mut numbered = (2..).map(|number: usize| format!("{name}_{number}"));
    numbered.find(|name| !is_taken(name)).unwrap_or_default()
}

/// The name of a column without one.
fn numbered(index: usize) -> String {
    format!("column_{}", index + 1)
}

/// The names of the members of an object, if one of `names` is among them; nothing otherwise.
/// `None` if the text is no object.
fn members(text: &[u8], names: &[String]) -> Option<HashSet<String>> {
    struct Keys<'a>(&'a [String]);
    impl<'de> Visitor<'de> for Keys<'_> {
        type Value = (bool, HashSet<String>);

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let (mut is_taken, mut keys) = (false, HashSet::new());
            while let Some((key, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                is_taken |= self.0.contains(&key);
                keys.insert(key);
            }
            Ok((is_taken, keys))
        }
    }
    let mut json = serde_json::Deserializer::from_slice(text);
    let (is_taken, keys) = json.deserialize_map(Keys(names)).ok()?;
    json.end().ok()?;
    Some(if is_taken { keys } else { HashSet::new() })
}

/// The name of a further member of the JSON object that is written in `object`: `name`, with a
/// number if it has such a member already.
#[doc(hidden)]
#[must_use]
pub fn free_member_name(object: &[u8], name: &str) -> String {
    let taken = members(object, &[name.to_owned()]).unwrap_or_default();
    free_name(name.to_owned(), |name| taken.contains(name))
}

/// A row that is being written.
pub struct RowBuilder<'a> {
    form: RowForm,
    /// The names of the further fields.
    names: Cow<'a, [String]>,
    out: &'a mut Vec<u8>,
    /// The index of the next field among these.
    index: usize,
    /// Whether nothing is written yet.
    is_first: bool,
    line_end: &'static [u8],
    /// The end of the row, if it takes no further fields.
    all: Option<usize>,
}

impl RowBuilder<'_> {
    /// Begins the next field, and returns the delimiter if there is one.
    fn next(&mut self) -> Option<u8> {
        let is_first = std::mem::take(&mut self.is_first);
        let delimiter = match self.form.delimiter() {
            Some(delimiter) => {
                if !is_first {
                    self.out.push(delimiter);
                }
                Some(delimiter)
            }
            None => {
                if !is_first {
                    self.out.push(b',');
                }
                if let Some(name) = self.names.get(self.index) {
                    write_json(name.as_bytes(), self.out);
                }
                self.out.push(b':');
                None
            }
        };
        self.index += 1;
        delimiter
    }

    /// The next field: a text, if there is one.
    pub fn text<'t>(&mut self, text: impl Into<Option<&'t [u8]>>) {
        let Some(text) = text.into() else { return self.nothing() };
        match self.next() {
            Some(delimiter) => write_field(text, delimiter, self.out),
            None => write_json(text, self.out),
        }
    }

    /// The next field: the cells of a grid, if there is one. No alphabet has a character that would
    /// have to be quoted.
    pub fn cells<'g>(&mut self, grid: impl Into<Option<&'g Grid>>, format: &Format) {
        let Some(grid) = grid.into() else { return self.nothing() };
        if self.next().is_some() {
            return format.write_cells(grid, self.out);
        }
        let begin = self.out.len();
        self.out.push(b'"');
        format.write_cells(grid, self.out);
        if self.out[begin..].contains(&b'\\') {
            let cells = self.out.split_off(begin);
            return write_json(&cells[1..], self.out);
        }
        self.out.push(b'"');
    }

    /// The next field: a number, if there is one.
    pub fn number(&mut self, number: impl Into<Option<u64>>) {
        let Some(number) = number.into() else { return self.nothing() };
        self.next();
        self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }

    /// The next field: a rating, which is a number with one decimal, if there is one.
    pub fn score(&mut self, score: impl Into<Option<Score>>) {
        let Some(score) = score.into() else { return self.nothing() };
        self.next();
        self.out.extend_from_slice(score.to_string().as_bytes());
    }

    /// The next field: true or false, if that is known.
    pub fn flag(&mut self, flag: impl Into<Option<bool>>) {
        let Some(flag) = flag.into() else { return self.nothing() };
        self.next();
        self.out.extend_from_slice(if flag { b"true" } else { b"false" });
    }

    /// The next field, which has no value: empty, in JSON `null`.
    pub fn nothing(&mut self) {
        if self.next().is_none() {
            self.out.extend_from_slice(b"null");
        }
    }

    /// Ends the row.
    pub fn end(self) {
        if let Some(end) = self.all {
            self.out.truncate(end);
        }
        if self.form == RowForm::Json {
            self.out.push(b'}');
        }
        self.out.extend_from_slice(self.line_end);
    }
}

/// A row without a carriage return at its end, and the line end that it has.
fn row_and_end(row: &[u8]) -> (&[u8], &'static [u8]) {
    match row.strip_suffix(b"\r") {
        Some(row) => (row, b"\r\n"),
        None => (row, b"\n"),
    }
}

/// The names in a heading row. A name that is empty or repeated is the number of its column, as in
/// `column_3`, or `column_3_2` if another column is named so.
fn names(heading: &[u8], delimiter: Delimiter) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut names: Vec<String> = raw_fields(heading, delimiter)
        .map(|field| {
            let name = String::from_utf8_lossy(&unquoted(field)).trim().to_owned();
            if seen.insert(name.clone()) { name } else { String::new() }
        })
        .collect();
    for (index, name) in names.iter_mut().enumerate().filter(|(_, name)| name.is_empty()) {
        *name = free_name(numbered(index), |name| seen.contains(name));
        seen.insert(name.clone());
    }
    names
}

/// Whether what is written behind a row would be in its quotes.
fn is_open(row: &[u8], delimiter: Delimiter) -> bool {
    memchr::memchr(b'"', row).is_some() && has_open_quotes(row, delimiter)
}

fn count_fields(row: &[u8], delimiter: Delimiter) -> usize {
    match delimiter {
        Delimiter::Byte(byte) if memchr::memchr(b'"', row).is_none() => {
            memchr::memchr_iter(byte, row).count() + 1
        }
        _ => raw_fields(row, delimiter).count(),
    }
}

/// Appends empty fields to a row with `count` fields until it has `fields`.
fn pad(count: usize, fields: usize, delimiter: Delimiter, out: &mut Vec<u8>) {
    if let Delimiter::Byte(byte) = delimiter {
        out.extend(std::iter::repeat_n(byte, fields.saturating_sub(count)));
    }
}

/// Appends the fields of a row, separated by another delimiter. Returns their number.
fn write_fields(row: &[u8], delimiter: Delimiter, other: u8, out: &mut Vec<u8>) -> usize {
    let mut count = 0;
    for field in raw_fields(row, delimiter) {
        if count > 0 {
            out.push(other);
        }
        count += 1;
        let inner = field.trim_ascii();
        if inner.len() > 1 && inner.starts_with(b"\"") && inner.ends_with(b"\"") {
            out.extend_from_slice(field);
        } else {
            write_field(field, other, out);
        }
    }
    count
}

/// Appends the fields of a row as members of an open JSON object; fields without a key get a number.
fn write_members(row: &[u8], delimiter: Delimiter, keys: &[String], out: &mut Vec<u8>) {
    let mut fields = raw_fields(row, delimiter);
    let mut count = 0;
    loop {
        let field = fields.next();
        if field.is_none() && count >= keys.len() {
            return;
        }
        out.push(if count == 0 { b'{' } else { b',' });
        match keys.get(count) {
            Some(key) => write_json(key.as_bytes(), out),
            None => {
                let key = free_name(numbered(count), |name| keys.iter().any(|key| key == name));
                write_json(key.as_bytes(), out);
            }
        }
        out.push(b':');
        write_json(&field.map(unquoted).unwrap_or_default(), out);
        count += 1;
    }
}

/// Appends the text as a JSON string. What is not UTF-8 becomes replacement characters, because
/// JSON has nothing else for it.
fn write_json(text: &[u8], out: &mut Vec<u8>) {
    // Cannot fail: strings always serialise, and the writer is a vector.
    let _ = serde_json::to_writer(out, &String::from_utf8_lossy(text));
}
