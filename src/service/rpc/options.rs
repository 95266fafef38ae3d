//! The options of a request: the task, and the format of its text.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use tonic::Status;

use crate::answer::{AddedColumn, AddedColumns, OutputForm, Task};
use crate::grid::Order;
use crate::input::ContentKind;
use crate::service::context::Context;
use crate::service::wire::convert::{notation_from, option_field};
use crate::service::wire::proto;
use crate::service::wire::status::{RequestFields, format_unreadable, invalid};
use crate::solver::{DEFAULT_COUNT_LIMIT, DEFAULT_NODE_LIMIT, Question, Strategy};
use crate::techniques::Score;
use crate::text::{Alphabet, Format, FormatError, Hint, Notation};

/// The ratings that a request may ask for, in tenths.
pub(super) const TENTHS: RangeInclusive<u16> = 10..=200;

/// The options of a call, read and checked.
#[derive(Clone)]
pub(crate) struct SolveSettings {
    /// The task.
    pub(crate) task: Task,
    /// What the request says about the format of its text.
    pub(crate) hint: Hint,
}

/// Reads the options of a solving call.
///
/// # Errors
/// `INVALID_ARGUMENT` that names every bad field.
pub(crate) fn solve_settings(
    context: &Context,
    options: &proto::SolveOptions,
) -> Result<SolveSettings, Status> {
    let mut fields = RequestFields::below("options");
    let strategy = fields.read("strategy", strategy(context, &options.strategy));
    let question = fields.read("question", question(options.question, options.count_limit));
    let form = fields.read("output", output_form(options.output));
    let columns = fields.read("added_columns", columns(&options.added_columns));
    let hint = hint(&mut fields, &TextFields::from(options));
    match (strategy, question, form, columns) {
        (Some(strategy), Some(question), Some(form), Some(columns)) if fields.are_good() => {
            let node_limit = effective_node_limit(context, options.node_limit);
            let count_limit = match options.count_limit {
                0 => Task::default().count_limit,
                limit => limit,
            };
            let measure = options.measure;
            Ok(SolveSettings {
                task: Task { strategy, question, node_limit, form, columns, count_limit, measure },
                hint,
            })
        }
        _ => Err(fields.into_status()),
    }
}

/// Refuses added columns for a method whose answers are messages, which have no place for them.
///
/// # Errors
/// `INVALID_ARGUMENT`.
pub(crate) fn refuse_columns(task: &Task, method: &str) -> Result<(), Status> {
    if task.columns.is_none() {
        return Ok(());
    }
    let what = format!("{method} adds no columns to its answers. Use SolveLines or SolveDataset.");
    Err(invalid("options.added_columns", what))
}

/// The strategy of this name; `None` for an empty one, which leaves the choice to
/// [`task_for_order`].
fn strategy(context: &Context, name: &str) -> Result<Option<&'static dyn Strategy>, String> {
    if name.is_empty() {
        return Ok(None);
    }
    let found = context.strategies.iter().copied().find(|s| s.name() == name);
    found.map(Some).ok_or_else(|| {
        let names: Vec<_> = context.strategies.iter().map(|s| s.name()).collect();
        format!("`{name}` is no strategy. Use {}.", names.join(", "))
    })
}

/// The task with a strategy for puzzles of this order: the named one, or the first that
/// supports it.
///
/// # Errors
/// `INVALID_ARGUMENT` if the strategy does not support the order.
pub(crate) fn task_for_order(context: &Context, task: Task, order: Order) -> Result<Task, Status> {
    let supports = |s: &&'static dyn Strategy| s.supports(order);
    let refuse = |what: &str| invalid("options.strategy", format!("{what} does not solve {order} puzzles."));
    let strategy = match task.strategy {
        None => context.strategies.iter().copied().find(supports).ok_or_else(|| refuse("This server")),
        Some(named) if named.supports(order) => Ok(named),
        Some(named) => Err(refuse(&format!("The strategy {}", named.name()))),
    };
    Ok(Task { strategy: Some(strategy?), ..task })
}

/// [`task_for_order`] for a method whose answers are text.
///
/// # Errors
/// Also `INVALID_ARGUMENT` if rows of the form have no columns for what is beside the puzzles.
pub(crate) fn task_for_format(context: &Context, task: Task, format: &Format) -> Result<Task, Status> {
    if format.notation() == Notation::Jsonl && matches!(task.form, OutputForm::Csv | OutputForm::Tsv) {
        let what = "JSON objects have members, which have no columns in a table. Use OUTPUT_FORM_JSONL.";
        return Err(invalid("options.output", what));
    }
    task_for_order(context, task, format.order())
}

/// The node limit in force: the one requested, or the default, but at most the server's.
pub(crate) fn effective_node_limit(context: &Context, asked: u64) -> u64 {
    let asked = if asked == 0 { DEFAULT_NODE_LIMIT } else { asked };
    asked.min(context.limits().nodes)
}

/// Reads the options of a Count call, as those of a solving one.
///
/// # Errors
/// `INVALID_ARGUMENT` that names every bad field.
pub(crate) fn count_settings(
    context: &Context,
    request: &proto::CountRequest,
) -> Result<SolveSettings, Status> {
    let mut fields = RequestFields::at_top();
    let strategy = fields.read("strategy", strategy(context, &request.strategy));
    let hint = request.options.as_ref().map_or_else(Hint::default, |options| {
        fields.under("options", |fields| hint(fields, &TextFields::from(options)))
    });
    let Some(strategy) = strategy.filter(|_| fields.are_good()) else { return Err(fields.into_status()) };
    let task = Task {
        strategy,
        question: count_question(request.count_limit),
        node_limit: effective_node_limit(context, request.node_limit),
        ..Task::default()
    };
    Ok(SolveSettings { task, hint })
}

/// Reads the options of a call that does not solve.
///
/// # Errors
/// `INVALID_ARGUMENT` that names every bad field.
pub(crate) fn text_hint(options: Option<&proto::TextOptions>) -> Result<Hint, Status> {
    let Some(options) = options else { return Ok(Hint::default()) };
    let mut fields = RequestFields::below("options");
    let hint = hint(&mut fields, &TextFields::from(options));
    if fields.are_good() { Ok(hint) } else { Err(fields.into_status()) }
}

/// The status of a call whose text does not fit its options; `text_field` is the field of the text.
pub(crate) fn unreadable(error: &FormatError, text_field: &str) -> Status {
    format_unreadable(error, option_field(error).as_deref().unwrap_or(text_field))
}

/// Refuses a text that would have to be turned into lines before it is read; `text_field` is its
/// field.
///
/// # Errors
/// `INVALID_ARGUMENT`.
pub(crate) fn refuse_what_is_not_plain(text: &[u8], hint: &Hint, text_field: &str) -> Result<(), Status> {
    // The symbols of an alphabet of one's own may begin a puzzle as they begin a file.
    if hint.notation.is_some() || matches!(hint.alphabet, Some(Alphabet::Custom(_))) {
        return Ok(());
    }
    let Some((what, advice)) = ContentKind::of_text(text).not_plain() else { return Ok(()) };
    let message = format!("The text {what}. The service reads plain text: {advice}.");
    Err(invalid(text_field, message))
}

/// The message for a number that is none of an enum's.
pub(crate) fn unknown(what: &str, number: i32) -> String {
    format!("{number} is no {what} that this server knows.")
}

fn question(number: i32, count_limit: u64) -> Result<Question, String> {
    use proto::Question as Q;
    match Q::try_from(number).map_err(|_| unknown("question", number))? {
        Q::Unspecified | Q::First => Ok(Question::First),
        Q::Unique => Ok(Question::Unique),
        Q::Count => Ok(count_question(count_limit)),
    }
}

const fn count_question(limit: u64) -> Question {
    Question::Count { limit: if limit == 0 { DEFAULT_COUNT_LIMIT } else { limit } }
}

fn output_form(number: i32) -> Result<OutputForm, String> {
    use proto::OutputForm as F;
    Ok(match F::try_from(number).map_err(|_| unknown("form of output", number))? {
        F::Unspecified | F::Solution => OutputForm::Solution,
        F::Pair => OutputForm::Pair,
        F::Csv => OutputForm::Csv,
        F::Jsonl => OutputForm::Jsonl,
        F::Grid => OutputForm::Grid,
        F::Tsv => OutputForm::Tsv,
    })
}

fn columns(numbers: &[i32]) -> Result<Option<AddedColumns>, String> {
    use proto::AddedColumn as C;
    let column = |&number: &i32| match C::try_from(number) {
        Ok(C::Solution) => Ok(AddedColumn::Solution),
        Ok(C::Solutions) => Ok(AddedColumn::Solutions),
        Ok(C::Error) => Ok(AddedColumn::Error),
        Ok(C::Clues) => Ok(AddedColumn::Clues),
        Ok(C::Minimal) => Ok(AddedColumn::Minimal),
        Ok(C::Nodes) => Ok(AddedColumn::Nodes),
        Ok(C::Guesses) => Ok(AddedColumn::Guesses),
        Ok(C::Rating) => Ok(AddedColumn::Rating),
        Ok(C::Technique) => Ok(AddedColumn::Technique),
        Ok(C::Canonical) => Ok(AddedColumn::Canonical),
        Ok(C::Unspecified) | Err(_) => Err(unknown("column", number)),
    };
    let columns = AddedColumns::new(&numbers.iter().map(column).collect::<Result<Vec<_>, _>>()?);
    Ok(Some(columns).filter(|columns| !columns.is_empty()))
}

fn notation(number: i32) -> Result<Option<Notation>, String> {
    let wire = proto::Notation::try_from(number).map_err(|_| unknown("notation", number))?;
    Ok(notation_from(wire))
}

/// The fields that describe the format of a text.
pub(super) struct TextFields<'a> {
    pub(super) notation: i32,
    pub(super) alphabet: &'a str,
    pub(super) order: u32,
    pub(super) column: &'a str,
    pub(super) delimiter: &'a str,
    pub(super) has_heading: Option<bool>,
}

impl<'a> From<&'a proto::SolveOptions> for TextFields<'a> {
    fn from(options: &'a proto::SolveOptions) -> Self {
        let proto::SolveOptions { notation, alphabet, order, column, delimiter, has_heading, .. } = options;
        Self { notation: *notation, alphabet, order: *order, column, delimiter, has_heading: *has_heading }
    }
}

impl<'a> From<&'a proto::TextOptions> for TextFields<'a> {
    fn from(options: &'a proto::TextOptions) -> Self {
        let proto::TextOptions { notation, alphabet, order, column, delimiter } = options;
        Self { notation: *notation, alphabet, order: *order, column, delimiter, has_heading: None }
    }
}

/// Reads the order of puzzles; `None` for 0, which stands for none.
pub(super) fn order(number: u32) -> Result<Option<Order>, String> {
    if number == 0 {
        return Ok(None);
    }
    let order = usize::try_from(number).ok().and_then(Order::new);
    order.map(Some).ok_or_else(|| format!("{number} is no order. Use 1 to 5, the side of a box."))
}

/// Reads a rating; `None` for 0, which stands for none.
pub(super) fn score(tenths: u32) -> Result<Option<Score>, String> {
    if tenths == 0 {
        return Ok(None);
    }
    let tenths = u16::try_from(tenths).ok().filter(|tenths| TENTHS.contains(tenths));
    tenths
        .map(|tenths| Some(Score::from_tenths(tenths)))
        .ok_or_else(|| "Ratings are 10 to 200 tenths.".to_owned())
}

/// The number that was asked for, at most `most`; 0 stands for that.
pub(super) fn capped(asked: u32, most: usize) -> usize {
    match usize::try_from(asked).unwrap_or(most) {
        0 => most,
        asked => asked.min(most),
    }
}

/// The value that a text stands for; `None` for an empty one.
fn parsed<T: FromStr<Err: Display>>(text: &str) -> Result<Option<T>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|error: T::Err| error.to_string())
}

/// A sentence for what flags say behind the name of the flag.
fn sentence(what: &str) -> String {
    let first = what.chars().take(1).flat_map(char::to_uppercase);
    first.chain(what.chars().skip(1)).chain(['.']).collect()
}

/// Reads the fields that describe the format of a text.
pub(super) fn hint(fields: &mut RequestFields, text: &TextFields<'_>) -> Hint {
    Hint {
        notation: fields.read("notation", notation(text.notation)).flatten(),
        alphabet: fields.read("alphabet", parsed(text.alphabet)).flatten(),
        order: fields.read("order", order(text.order)).flatten(),
        column: fields.read("column", parsed(text.column).map_err(|what| sentence(&what))).flatten(),
        delimiter: fields.read("delimiter", parsed(text.delimiter)).flatten(),
        has_heading: text.has_heading,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::{
        Just, ProptestConfig, Strategy, TestCaseError, any, prop, prop_assert_eq, prop_oneof,
    };
    use proptest::sample::select;
    use proptest::test_runner::TestRunner;
    use tokio::sync::watch;

    use super::*;
    use crate::service::config::Limits;
    use crate::service::sched::pools::WorkerPools;
    use crate::service::wire::convert::options_from;
    use crate::solver::STRATEGIES;
    use crate::text::{Column, Delimiter};

    /// A task with its strategy as an index, if any; without colours, which never go over the wire.
    type Asked = (Option<usize>, Question, u64, OutputForm, bool, (Vec<usize>, u64));

    fn asked() -> impl Strategy<Value = Asked> {
        let counts = (1..=u64::MAX).prop_map(|limit| Question::Count { limit });
        let question = prop_oneof![Just(Question::First), Just(Question::Unique), counts];
        let forms = OutputForm::ALL.map(|(_, form)| form).to_vec();
        let nodes = 1..=Limits::default().nodes;
        let columns = (prop::collection::vec(0..AddedColumn::COUNT, 0..9), 1..=u64::MAX);
        (prop::option::of(0..STRATEGIES.len()), question, nodes, select(forms), any::<bool>(), columns)
    }

    fn task((place, question, node_limit, form, measure, (columns, count_limit)): Asked) -> Task {
        let strategy = place.map(|place| STRATEGIES[place]);
        let columns =
            AddedColumns::new(&columns.iter().map(|&place| AddedColumn::ALL[place].1).collect::<Vec<_>>());
        let columns = Some(columns).filter(|columns| !columns.is_empty());
        // A count has one limit for both.
        let count_limit = if let Question::Count { limit } = question { limit } else { count_limit };
        Task { strategy, question, node_limit, form, columns, count_limit, measure }
    }

    fn hints() -> impl Strategy<Value = Hint> {
        let alphabets = ["letters", "ascii", "alpha", "hex", "x", "a*0B", "987654321", "FEDCBA9876543210"];
        let alphabet = select(alphabets.to_vec()).prop_map(|name| name.parse::<Alphabet>().unwrap());
        let notation = select(Notation::ALL.map(|(_, notation)| notation).to_vec());
        let order = select(Order::ALL.to_vec());
        let column = select(vec!["puzzle", "3", "id,x"]).prop_map(|name| name.parse::<Column>().unwrap());
        let delimiter = select(Delimiter::ALL.map(|(_, delimiter)| delimiter).to_vec());
        let of = prop::option::of;
        (of(notation), prop::option::of(alphabet), prop::option::of(order), prop::option::of(column))
            .prop_map(|(notation, alphabet, order, column)| Hint {
                notation,
                alphabet,
                order,
                column,
                delimiter: None,
                has_heading: None,
            })
            .prop_flat_map(move |hint| {
                (prop::option::of(delimiter.clone()), prop::option::of(any::<bool>()))
                    .prop_map(move |(delimiter, has_heading)| Hint { delimiter, has_heading, ..hint.clone() })
            })
    }

    /// The server reads the options that a client has written.
    #[tokio::test]
    async fn options_survive_the_wire() {
        let pools = WorkerPools::new(1, None, Duration::from_secs(1)).unwrap();
        let (_keep, draining) = watch::channel(false);
        let context = Context::new(pools, STRATEGIES, Limits::default(), None, draining);
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
        let survives = |(asked, hint)| {
            let task = task(asked);
            let options = options_from(&task, &hint);
            let failed = |status: Status| TestCaseError::fail(status.to_string());
            let read = solve_settings(&context, &options).map_err(failed)?;
            prop_assert_eq!(&read.hint, &hint);
            prop_assert_eq!(
                (read.task.question, read.task.node_limit, read.task.form, read.task.measure),
                (task.question, task.node_limit, task.form, task.measure)
            );
            prop_assert_eq!((read.task.columns, read.task.count_limit), (task.columns, task.count_limit));
            // This compares the strategies too, by name.
            prop_assert_eq!(options_from(&read.task, &read.hint), options);
            Ok(())
        };
        TestRunner::new(config).run(&(asked(), hints()), survives).unwrap();
    }
}
