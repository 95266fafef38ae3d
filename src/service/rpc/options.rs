//! The options of a request: the task, and the format of its text.

use tonic::Status;

use crate::answer::{OutputForm, Task};
use crate::grid::Order;
use crate::service::context::Context;
use crate::service::wire::convert::option_field;
use crate::service::wire::proto;
use crate::service::wire::status::{Fields, invalid};
use crate::solver::{DEFAULT_COUNT_LIMIT, DEFAULT_NODE_LIMIT, Question, Strategy};
use crate::text::{Alphabet, FormatError, Hint, Notation};

/// The options of a call, read and checked.
#[derive(Clone)]
pub(crate) struct Settings {
    /// The task.
    pub(crate) task: Task,
    /// What the request says about the format of its text.
    pub(crate) hint: Hint,
}

impl Context {
    /// Reads the options of a solving call.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` that names every bad field.
    pub(crate) fn settings(&self, options: &proto::SolveOptions) -> Result<Settings, Status> {
        let mut fields = Fields::below("options");
        let strategy = fields.read("strategy", self.strategy(&options.strategy));
        let question = fields.read("question", question(options.question, options.count_limit));
        let form = fields.read("output", output_form(options.output));
        let hint = hint(&mut fields, options.notation, &options.alphabet, options.order);
        match (strategy, question, form) {
            (Some(strategy), Some(question), Some(form)) if fields.are_good() => {
                let node_limit = self.node_limit(options.node_limit);
                Ok(Settings {
                    task: Task { strategy, question, node_limit, form, measure: options.measure },
                    hint,
                })
            }
            _ => Err(fields.into_status()),
        }
    }

    /// The strategy of this name; `None` for an empty one, which leaves the choice to
    /// [`Self::for_order`].
    fn strategy(&self, name: &str) -> Result<Option<&'static dyn Strategy>, String> {
        if name.is_empty() {
            return Ok(None);
        }
        let found = self.strategies.iter().copied().find(|s| s.name() == name);
        found.map(Some).ok_or_else(|| {
            let names: Vec<_> = self.strategies.iter().map(|s| s.name()).collect();
            format!("`{name}` is no strategy. Use {}.", names.join(", "))
        })
    }

    /// The task with a strategy for puzzles of this order: the named one, or the first that
    /// supports it.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the strategy does not support the order.
    pub(crate) fn for_order(&self, task: Task, order: Order) -> Result<Task, Status> {
        let supports = |s: &&'static dyn Strategy| s.supports(order);
        let refuse =
            |what: &str| invalid("options.strategy", format!("{what} does not solve {order} puzzles."));
        let strategy = match task.strategy {
            None => self.strategies.iter().copied().find(supports).ok_or_else(|| refuse("This server")),
            Some(named) if named.supports(order) => Ok(named),
            Some(named) => Err(refuse(&format!("The strategy {}", named.name()))),
        };
        Ok(Task { strategy: Some(strategy?), ..task })
    }

    /// The node limit in force: the one requested, or the default, but at most the server's.
    fn node_limit(&self, asked: u64) -> u64 {
        let asked = if asked == 0 { DEFAULT_NODE_LIMIT } else { asked };
        asked.min(self.limits.nodes)
    }

    /// Reads the options of a Count call, as those of a solving one.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` that names every bad field.
    pub(crate) fn count_settings(&self, request: &proto::CountRequest) -> Result<Settings, Status> {
        let mut fields = Fields::at_top();
        let strategy = fields.read("strategy", self.strategy(&request.strategy));
        let hint = text_hint(request.options.as_ref())?;
        let Some(strategy) = strategy else { return Err(fields.into_status()) };
        let task = Task {
            strategy,
            question: count_question(request.count_limit),
            node_limit: self.node_limit(request.node_limit),
            form: OutputForm::Solution,
            measure: false,
        };
        Ok(Settings { task, hint })
    }
}

/// Reads the options of a call that does not solve.
///
/// # Errors
/// `INVALID_ARGUMENT` that names every bad field.
pub(crate) fn text_hint(options: Option<&proto::TextOptions>) -> Result<Hint, Status> {
    let Some(options) = options else { return Ok(Hint::default()) };
    let mut fields = Fields::below("options");
    let hint = hint(&mut fields, options.notation, &options.alphabet, options.order);
    if fields.are_good() { Ok(hint) } else { Err(fields.into_status()) }
}

/// The status of a call whose text does not fit its options; `text_field` is the field of the text.
pub(crate) fn unreadable(error: &FormatError, text_field: &str) -> Status {
    invalid(option_field(error).as_deref().unwrap_or(text_field), error.to_string())
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
    })
}

fn notation(number: i32) -> Result<Option<Notation>, String> {
    use proto::Notation as N;
    Ok(match N::try_from(number).map_err(|_| unknown("notation", number))? {
        N::Unspecified => None,
        N::Lines => Some(Notation::Lines),
        N::Header => Some(Notation::Header),
        N::Grid => Some(Notation::Grid),
        N::Triples => Some(Notation::Triples),
        N::Csv => Some(Notation::Csv),
    })
}

/// Reads the three fields that describe the format of a text.
fn hint(fields: &mut Fields, notation_number: i32, alphabet: &str, order: u32) -> Hint {
    let parsed = if alphabet.is_empty() {
        Ok(None)
    } else {
        alphabet.parse::<Alphabet>().map(Some).map_err(|error| error.to_string())
    };
    let known_order = match order {
        0 => Ok(None),
        _ => usize::try_from(order)
            .ok()
            .and_then(Order::new)
            .map(Some)
            .ok_or_else(|| format!("{order} is no order. Use 1 to 5, the side of a box.")),
    };
    Hint {
        notation: fields.read("notation", notation(notation_number)).flatten(),
        alphabet: fields.read("alphabet", parsed).flatten(),
        order: fields.read("order", known_order).flatten(),
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

    /// A task with its strategy as an index, if any; without colours, which never go over the wire.
    type Asked = (Option<usize>, Question, u64, OutputForm, bool);

    fn asked() -> impl Strategy<Value = Asked> {
        let counts = (1..=u64::MAX).prop_map(|limit| Question::Count { limit });
        let question = prop_oneof![Just(Question::First), Just(Question::Unique), counts];
        let forms = OutputForm::ALL.map(|(_, form)| form).to_vec();
        let nodes = 1..=Limits::default().nodes;
        (prop::option::of(0..STRATEGIES.len()), question, nodes, select(forms), any::<bool>())
    }

    fn task((place, question, node_limit, form, measure): Asked) -> Task {
        Task { strategy: place.map(|place| STRATEGIES[place]), question, node_limit, form, measure }
    }

    fn hints() -> impl Strategy<Value = Hint> {
        let alphabets = ["letters", "ascii", "alpha", "hex", "x", "a*0B", "987654321", "FEDCBA9876543210"];
        let alphabet = select(alphabets.to_vec()).prop_map(|name| name.parse::<Alphabet>().unwrap());
        let notation = select(Notation::ALL.map(|(_, notation)| notation).to_vec());
        let order = select(Order::ALL.to_vec());
        (prop::option::of(notation), prop::option::of(alphabet), prop::option::of(order))
            .prop_map(|(notation, alphabet, order)| Hint { notation, alphabet, order })
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
            let read = context.settings(&options).map_err(failed)?;
            prop_assert_eq!(&read.hint, &hint);
            prop_assert_eq!(
                (read.task.question, read.task.node_limit, read.task.form, read.task.measure),
                (task.question, task.node_limit, task.form, task.measure)
            );
            // This compares the strategies too, by name.
            prop_assert_eq!(options_from(&read.task, &read.hint), options);
            Ok(())
        };
        TestRunner::new(config).run(&(asked(), hints()), survives).unwrap();
    }
}
