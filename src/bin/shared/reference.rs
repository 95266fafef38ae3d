//! The reference in Markdown, written from clap: commands, arguments, defaults, environment
//! variables.

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, Command};

/// Commands whose help is clap's own.
const BUILT_IN: &str = "help";

/// Notes in brackets at the end of a help text, as clap writes its own, and their names in the
/// reference.
const NOTES: [(&str, &str); 2] = [("default", "Default"), ("range", "Range")];

/// The sections of a program and all its commands.
pub fn commands(command: Command) -> String {
    let mut root = command;
    root.build();
    let mut text = section(&root, 2);
    for command in root.get_subcommands().filter(|command| is_listed(command)) {
        text.push('\n');
        text += &section(command, 3);
    }
    text
}

/// A table of two columns below a heading.
pub fn table(heading: &str, columns: [&str; 2], rows: &[(&str, &str)]) -> String {
    let mut text = format!("{heading}\n\n| {} | {} |\n|---|---|\n", columns[0], columns[1]);
    for (first, second) in rows {
        text += &format!("| `{first}` | {second} |\n", first = first.replace(", ", "`, `"));
    }
    text
}

fn is_listed(command: &Command) -> bool {
    !command.is_hide_set() && command.get_name() != BUILT_IN
}

/// The section of one command.
fn section(command: &Command, level: usize) -> String {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let mut text = format!("{} `{name}`\n\n", "#".repeat(level));
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string);
    text += &sentences(&about.unwrap_or_default(), "");
    let usage = command.clone().render_usage().to_string();
    text.push('\n');
    for line in usage.trim_start_matches("Usage: ").lines() {
        text += &format!("    {}\n", line.trim());
    }

    let listed: Vec<&Command> = command.get_subcommands().filter(|command| is_listed(command)).collect();
    if !listed.is_empty() {
        text.push('\n');
    }
    for command in listed {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        text += &format!("- [`{0}`](#{1}): {about}.\n", command.get_name(), anchor(command));
    }

    let arguments: Vec<(&str, &Arg)> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !is_built_in(arg))
        .map(|arg| (heading(arg), arg))
        .collect();
    let mut headings = vec!["Arguments", "Options"];
    for (heading, _) in &arguments {
        if !headings.contains(heading) {
            headings.push(heading);
        }
    }
    for heading in headings {
        let items: String =
            arguments.iter().filter(|(of, _)| *of == heading).map(|(_, arg)| item(arg)).collect();
        if !items.is_empty() {
            text += &format!("\n**{heading}**\n\n{items}");
        }
    }
    if let Some(after) = command.get_after_long_help() {
        text += &format!("\n{}", after_help(&after.to_string()));
    }
    text
}

/// The heading of an argument in the help.
fn heading(arg: &Arg) -> &str {
    arg.get_help_heading().unwrap_or(if arg.is_positional() { "Arguments" } else { "Options" })
}

fn is_built_in(arg: &Arg) -> bool {
    matches!(
        arg.get_action(),
        ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
    )
}

/// The anchor of a command's heading.
fn anchor(command: &Command) -> String {
    command.get_bin_name().unwrap_or_else(|| command.get_name()).replace(' ', "-")
}

/// One argument as an item of a list, one sentence a line.
fn item(arg: &Arg) -> String {
    let values: Vec<&str> = arg.get_value_names().unwrap_or_default().iter().map(AsRef::as_ref).collect();
    let takes_value = arg.get_action().takes_values();
    let is_optional = arg.get_num_args().is_some_and(|count| count.min_values() == 0);
    let value = match (takes_value, is_optional) {
        (false, _) => String::new(),
        (true, false) => format!(" <{}>", values.join("> <")),
        (true, true) if arg.is_require_equals_set() => format!("[=<{}>]", values.join("> <")),
        (true, true) => format!(" [<{}>]", values.join("> <")),
    };
    let mut name = String::new();
    if let Some(short) = arg.get_short() {
        name += &format!("-{short}, ");
    }
    match arg.get_long() {
        Some(long) => name += &format!("--{long}{value}"),
        None => name += value.trim_start(),
    }
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let (first, rest) = help.split_once("\n\n").unwrap_or((&help, ""));
    let (first, notes) = take_notes(first);
    let mut text = format!("- `{}`: {}", name, sentences(first, "  ").trim_start());
    text += &sentences(rest, "  ");
    for (note, value) in notes {
        text += &format!("  {note}: {value}.\n");
    }
    let defaults = arg.get_default_values();
    if takes_value && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        let defaults: Vec<_> = defaults.iter().map(|value| value.to_string_lossy()).collect();
        text += &format!("  Default: `{}`.\n", defaults.join(","));
    }
    if let Some(variable) = arg.get_env() {
        text += &format!("  Environment: `{}`.\n", variable.to_string_lossy());
    }
    if takes_value && !arg.is_hide_possible_values_set() {
        text += &possible_values(&arg.get_possible_values());
    }
    text
}

/// The values of an argument: a line of names, or a list where they are explained.
fn possible_values(values: &[PossibleValue]) -> String {
    if values.is_empty() {
        return String::new();
    }
    if values.iter().all(|value| value.get_help().is_none()) {
        let names: Vec<String> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
        return format!("  Values: {}.\n", names.join(", "));
    }
    let mut text = "  Values:\n".to_owned();
    for value in values {
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        text += &format!("  - `{}`: {}", value.get_name(), sentences(&help, ""));
    }
    text
}

/// Splits the notes off a help text.
fn take_notes(help: &str) -> (&str, Vec<(&'static str, &str)>) {
    let (mut rest, mut notes) = (help.trim_end(), Vec::new());
    while let Some((before, note)) = rest.strip_suffix(']').and_then(|rest| rest.rsplit_once(" [")) {
        let Some((key, value)) = note.split_once(": ") else { break };
        let Some((_, name)) = NOTES.iter().find(|(known, _)| *known == key) else { break };
        notes.insert(0, (*name, value));
        rest = before;
    }
    (rest, notes)
}

/// Text with one sentence a line, each line indented and the last with a full stop.
fn sentences(text: &str, indent: &str) -> String {
    let mut lines = String::new();
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        let paragraph = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut rest = paragraph.as_str();
        while let Some(end) = sentence_end(rest) {
            lines += &format!("{indent}{}\n", &rest[..end]);
            rest = rest[end..].trim_start();
        }
        let stop = if rest.ends_with(['.', ':']) { "" } else { "." };
        lines += &format!("{indent}{rest}{stop}\n");
    }
    lines
}

/// The end of the first sentence, if another one follows.
fn sentence_end(text: &str) -> Option<usize> {
    text.match_indices(". ")
        .map(|(at, _)| at + 1)
        .find(|&end| text[end..].trim_start().starts_with(|first: char| first.is_uppercase() || first == '`'))
}

/// The text below the flags: examples as a block of code, paragraphs one sentence a line.
fn after_help(text: &str) -> String {
    let mut out = String::new();
    for (place, block) in text.split("\n\n").enumerate() {
        if place > 0 {
            out.push('\n');
        }
        match block.strip_prefix("Examples:\n") {
            Some(examples) => {
                out += "Examples:\n\n";
                for line in examples.lines() {
                    out += &format!("    {}\n", line.trim_start());
                }
            }
            None => out += &sentences(block, ""),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_split_off_the_help() {
        let (help, notes) = take_notes("Worker threads [range: 1 to 1024] [default: one per core]");
        assert_eq!(help, "Worker threads");
        assert_eq!(notes, [("Range", "1 to 1024"), ("Default", "one per core")]);
        assert_eq!(take_notes("A list [sic]"), ("A list [sic]", Vec::new()));
    }

    #[test]
    fn every_sentence_has_a_line() {
        assert_eq!(
            sentences("One. Two, as in e.g. 3.5\n\nThree", "  "),
            "  One.\n  Two, as in e.g. 3.5.\n  Three.\n"
        );
    }
}
