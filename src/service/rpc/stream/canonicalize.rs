//! `Canonicalize`: puzzles as separate entries, a canonical form or an error for each.

use std::sync::Arc;
use std::vec;

use bytes::Bytes;
use tonic::Status;

use crate::answer::{Cancel, Cancelled, CanonRow, CanonTask, Canonizers, Tally, TextReader};
use crate::canon::{Basis, Disguise};
use crate::grid::Order;
use crate::service::context::Context;
use crate::service::metrics;
use crate::service::rpc::options::{TextFields, effective_node_limit, hint, unknown};
use crate::service::rpc::stream::sent_puzzles::{PuzzlesMessage, SentPuzzles, are_blank, format_of};
use crate::service::rpc::stream::session::Numbering;
use crate::service::rpc::stream::{BidiMethod, OutputBuffer};
use crate::service::wire::codec::{size_class, vec_with_size_class};
use crate::service::wire::convert::{self, internal_error};
use crate::service::wire::proto;
use crate::service::wire::status::RequestFields;
use crate::text::{Format, Hint, PuzzleError};

/// The state of a `Canonicalize` stream.
pub(crate) struct Canonicalize {
    context: Arc<Context>,
    /// The most recent options.
    options: proto::CanonicalizeOptions,
    task: CanonTask,
    hint: Hint,
    /// What makes forms, once the format is known.
    canonizers: Option<Arc<Canonizers>>,
    numbering: Numbering,
}

impl Canonicalize {
    /// Applies the options of a message, if it has any. The format stays unless they describe
    /// another.
    fn apply_options(&mut self, options: Option<proto::CanonicalizeOptions>) -> Result<(), Status> {
        let Some(options) = options.filter(|options| *options != self.options) else { return Ok(()) };
        let (task, hint) = settings(&self.context, &options)?;
        let old = self.canonizers.take().filter(|_| hint == self.hint);
        (self.task, self.hint, self.options) = (task, hint, options);
        self.canonizers = old.map(|old| self.canonizers_for(old.format().clone()));
        Ok(())
    }

    fn canonizers_for(&self, format: Format) -> Arc<Canonizers> {
        Arc::new(self.context.canonizers(format, self.task))
    }
}

/// Reads the options: the task, and the format of its puzzles, which are 9x9.
///
/// # Errors
/// `INVALID_ARGUMENT` that names every bad field.
fn settings(context: &Context, options: &proto::CanonicalizeOptions) -> Result<(CanonTask, Hint), Status> {
    let mut fields = RequestFields::below("options");
    let basis = fields.read("basis", basis(options.basis));
    let text = TextFields {
        notation: options.notation,
        alphabet: &options.alphabet,
        order: 0,
        column: "",
        delimiter: "",
        has_heading: None,
    };
    let hint = Hint { order: Some(Order::NINE), ..hint(&mut fields, &text) };
    match basis {
        Some(basis) if fields.are_good() => {
            Ok((CanonTask { basis, node_limit: effective_node_limit(context, options.node_limit) }, hint))
        }
        _ => Err(fields.into_status()),
    }
}

fn basis(number: i32) -> Result<Option<Basis>, String> {
    use proto::CanonicalBasis as B;
    Ok(match B::try_from(number).map_err(|_| unknown("basis of canonical forms", number))? {
        B::Unspecified => None,
        B::Solution => Some(Basis::Solution),
        B::Puzzle => Some(Basis::Puzzle),
    })
}

/// What of a puzzle is in its least form.
const fn wire_basis(basis: Basis) -> proto::CanonicalBasis {
    match basis {
        Basis::Solution => proto::CanonicalBasis::Solution,
        Basis::Puzzle => proto::CanonicalBasis::Puzzle,
    }
}

/// The puzzles of a message, or of several consecutive ones.
pub(crate) struct FormsJob {
    canonizers: Arc<Canonizers>,
    with_disguises: bool,
    sent: SentPuzzles,
    /// The memory for the forms and their cells.
    buffer: OutputBuffer<(Vec<PackedForm>, Vec<u8>)>,
}

impl FormsJob {
    /// The responses with these forms, one for each puzzle.
    fn responses(&self, forms: Vec<PackedForm>, cells: Vec<u8>) -> FormsResponses {
        FormsResponses {
            messages: self.sent.messages.clone().into_iter(),
            forms: forms.into_iter(),
            line: self.sent.first_line,
            cells,
            taken: 0,
        }
    }
}

/// A form in little memory, from which the message is built later.
enum PackedForm {
    /// Its cells are the next ones.
    Form {
        basis: Basis,
        automorphisms: u64,
        disguise: Option<Disguise>,
    },
    Error(Box<PuzzleError>),
}

impl PackedForm {
    /// The form of a puzzle, whose cells are appended to `cells`.
    fn of(row: &CanonRow<'_>, with_disguises: bool, format: &Format, cells: &mut Vec<u8>) -> Self {
        match &row.result {
            Ok(form) => {
                format.write_cells(&form.puzzle, cells);
                let disguise = with_disguises.then_some(form.disguise);
                Self::Form { basis: form.basis, automorphisms: form.automorphisms, disguise }
            }
            Err(error) => Self::Error(Box::new(error.clone())),
        }
    }
}

/// The responses to the messages of a job. They are built on the thread that sends them.
pub(crate) struct FormsResponses {
    messages: vec::IntoIter<PuzzlesMessage>,
    forms: vec::IntoIter<PackedForm>,
    /// The number of the next puzzle.
    line: u64,
    /// The cells of all forms.
    cells: Vec<u8>,
    /// The number of cells taken.
    taken: usize,
}

impl FormsResponses {
    fn form(&mut self, packed: PackedForm) -> proto::CanonicalForm {
        use proto::canonical_form::Result as R;
        let line = self.line;
        self.line += 1;
        match packed {
            PackedForm::Form { basis, automorphisms, disguise } => {
                let cells = &self.cells[self.taken..self.taken + CELLS];
                self.taken += CELLS;
                proto::CanonicalForm {
                    // All alphabets are ASCII.
                    result: Some(R::Form(String::from_utf8_lossy(cells).into_owned())),
                    basis: wire_basis(basis).into(),
                    automorphisms,
                    disguise: disguise.map(|disguise| disguise.to_string()).unwrap_or_default(),
                    line,
                }
            }
            PackedForm::Error(error) => proto::CanonicalForm {
                result: Some(R::Error(convert::puzzle_error(&error))),
                line,
                ..proto::CanonicalForm::default()
            },
        }
    }
}

/// The cells of a form.
const CELLS: usize = 81;

impl Iterator for FormsResponses {
    type Item = proto::CanonicalizeResponse;

    fn next(&mut self) -> Option<Self::Item> {
        let PuzzlesMessage { batch_id, puzzles } = self.messages.next()?;
        let mut forms = Vec::with_capacity(puzzles);
        while forms.len() < puzzles
            && let Some(packed) = self.forms.next()
        {
            forms.push(self.form(packed));
        }
        Some(proto::CanonicalizeResponse { batch_id, forms })
    }
}

impl BidiMethod for Canonicalize {
    const METHOD: &'static str = "Canonicalize";

    type Request = proto::CanonicalizeRequest;
    type Job = FormsJob;
    type Responses = FormsResponses;
    type Response = proto::CanonicalizeResponse;

    fn new(context: Arc<Context>) -> Result<Self, Status> {
        let options = proto::CanonicalizeOptions::default();
        let (task, hint) = settings(&context, &options)?;
        Ok(Self { context, options, task, hint, canonizers: None, numbering: Numbering::new() })
    }

    fn bytes(request: &Self::Request) -> usize {
        request.puzzles.iter().map(Bytes::len).sum()
    }

    fn lines(&self) -> u64 {
        self.numbering.lines()
    }

    fn prepare(
        &mut self,
        request: Self::Request,
        before: Option<&mut FormsJob>,
    ) -> Result<Option<FormsJob>, Status> {
        self.apply_options(request.options)?;
        let (puzzles, batch_id) = (request.puzzles, request.batch_id);
        let first_line = self.numbering.number(&self.context, puzzles.len())?;
        let with_disguises = self.options.with_disguises;
        let canonizers = match &self.canonizers {
            Some(canonizers) => {
                let may_join = |job: &&mut FormsJob| Arc::ptr_eq(&job.canonizers, canonizers);
                if let Some(before) = before.filter(may_join) {
                    before.sent.add(batch_id, &puzzles);
                    return Ok(None);
                }
                Arc::clone(canonizers)
            }
            None => {
                let canonizers = self.canonizers_for(format_of(&puzzles, &self.hint, Self::METHOD)?);
                if !are_blank(&puzzles) {
                    self.canonizers = Some(Arc::clone(&canonizers));
                }
                canonizers
            }
        };
        let sent = SentPuzzles::new(first_line, batch_id, &puzzles);
        Ok(Some(FormsJob { canonizers, with_disguises, sent, buffer: OutputBuffer::default() }))
    }

    fn reserve(job: &mut FormsJob) {
        let forms = vec_with_size_class(job.sent.puzzles.len());
        // A form is as long as its puzzle, so blank entries reserve nothing.
        let cells = Vec::with_capacity(size_class(job.sent.puzzles.bytes()));
        job.buffer = OutputBuffer::new((forms, cells));
    }

    /// Puzzles are searched together for their solutions, and the handover of a form costs as much
    /// as the form.
    fn searches_together(&self) -> bool {
        true
    }

    fn answer(job: &FormsJob, cancel: &dyn Cancel) -> Result<FormsResponses, Cancelled> {
        let format = job.canonizers.format();
        let (mut forms, mut cells) = job.buffer.take();
        let entries = (0..job.sent.puzzles.len()).map(|index| Some(job.sent.puzzles.get(index)));
        let mut reader = TextReader::new(format, entries);
        let visit = |row: &CanonRow<'_>| {
            forms.push(PackedForm::of(row, job.with_disguises, format, &mut cells));
        };
        let tally =
            job.canonizers.canonize_puzzles(&mut reader, job.sent.first_line, cancel.flag(), visit)?;
        metrics::answered(&Tally { answers: tally.puzzles, errors: tally.errors, ..Tally::default() });
        Ok(job.responses(forms, cells))
    }

    fn split(job: &FormsJob) -> Option<Vec<FormsJob>> {
        let part = |sent| FormsJob {
            canonizers: Arc::clone(&job.canonizers),
            with_disguises: job.with_disguises,
            sent,
            buffer: OutputBuffer::default(),
        };
        Some(job.sent.split()?.into_iter().map(part).collect())
    }

    fn internal_errors(job: &FormsJob) -> FormsResponses {
        let internal = |line| PackedForm::Error(Box::new(internal_error(Some(line))));
        let forms: Vec<_> = job.sent.lines().map(internal).collect();
        metrics::internal_errors(forms.len());
        job.responses(forms, Vec::new())
    }
}
