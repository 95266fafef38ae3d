//! What completion scripts offer: the arguments that help lists, and the names of values.

use std::ffi::OsStr;
use std::str::FromStr as _;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};
use sudoku_stream::solver::lanes::Backend;

/// A parser that tells completion the names that it reads, also where they are parts of a list. Help
/// would repeat them all without `hide_possible_values`.
#[derive(Clone)]
pub struct Completed<P> {
    pub parser: P,
    pub names: Vec<&'static str>,
}

impl<P: TypedValueParser> TypedValueParser for Completed<P> {
    type Value = P::Value;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<P::Value, Error> {
        self.parser.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names.iter().map(PossibleValue::new)))
    }
}

/// The names of a list of values.
pub fn names<T, const N: usize>(values: [(&'static str, T); N]) -> Vec<&'static str> {
    values.into_iter().map(|(name, _)| name).collect()
}

/// A back end that this machine has.
pub fn backend() -> impl TypedValueParser<Value = Backend> {
    Completed { parser: Backend::from_str, names: names(Backend::ALL) }
}

/// The command and all below it without the arguments that help never lists, because `clap_complete`
/// offers those too. Names live as long as the program.
pub fn without_hidden(mut command: Command) -> Command {
    command.build();
    visible(&command)
}

fn visible(command: &Command) -> Command {
    // What clap adds is among the arguments of a command that is built. Its flag of the version wants
    // one.
    let copy = Command::new(&*command.get_name().to_owned().leak())
        .version(env!("CARGO_PKG_VERSION"))
        .disable_version_flag(true)
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .args(command.get_arguments().filter(|arg| !arg.is_hide_set()).cloned())
        .subcommands(command.get_subcommands().map(visible));
    match command.get_about() {
        Some(about) => copy.about(about.clone()),
        None => copy,
    }
}
