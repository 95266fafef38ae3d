//! Arguments of a command that are built only when it is called.

use clap::builder::{Resettable, StyledStr};
use clap::error::Error;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, Id};

/// Arguments of a command, built only when it is called or its help is wanted, because building
/// those of all commands takes longer than solving a puzzle.
pub struct Deferred<A>(pub A);

/// Builds the arguments. What is said about the command stays, because that is set before, and `A`
/// would replace it by what is said about its type.
fn build(command: Command, arguments: fn(Command) -> Command) -> Command {
    let text = |text: Option<&StyledStr>| text.cloned().map_or(Resettable::Reset, Resettable::Value);
    let (about, long_about) = (text(command.get_about()), text(command.get_long_about()));
    arguments(command).about(about).long_about(long_about).mut_args(with_negative_numbers)
}

/// Lets an option take a negative number, so that its error names the range. clap would take it for
/// a flag that it does not know.
fn with_negative_numbers(arg: Arg) -> Arg {
    let has_value = !arg.is_positional() && arg.get_action().takes_values();
    arg.allow_negative_numbers(has_value)
}

impl<A: Args> Args for Deferred<A> {
    fn group_id() -> Option<Id> {
        A::group_id()
    }

    fn augment_args(command: Command) -> Command {
        command.defer(|command| build(command, A::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(|command| build(command, A::augment_args_for_update))
    }
}

impl<A: FromArgMatches> FromArgMatches for Deferred<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        A::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        A::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }

    fn update_from_arg_matches_mut(&mut self, matches: &mut ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches_mut(matches)
    }
}
