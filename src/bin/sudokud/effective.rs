//! The effective configuration: the text of every setting, where it is from, and the file that it makes up.

use std::collections::BTreeMap;
use std::fmt;

use clap::ArgMatches;
use clap::parser::ValueSource;

use crate::flags::{self, Flag};

/// Where a setting is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SettingSource {
    CommandLine,
    Environment,
    File,
}

/// The settings that were given, by their names. Its text is a configuration file with all settings, each
/// with where it is from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given(BTreeMap<String, (Vec<String>, SettingSource)>);

impl Given {
    /// Records the text of a flag. Whether it was given: what a flag has by default is not.
    pub fn record(&mut self, flag: &Flag, matches: &ArgMatches, is_file: bool) -> bool {
        let source = match matches.value_source(flag.name()) {
            None | Some(ValueSource::DefaultValue) => return false,
            Some(ValueSource::EnvVariable) => SettingSource::Environment,
            Some(_) if is_file => SettingSource::File,
            Some(_) => SettingSource::CommandLine,
        };
        let texts = matches.get_raw(flag.name()).into_iter().flatten();
        let texts = texts.map(|text| text.to_string_lossy().into_owned()).collect();
        self.0.insert(flag.name().to_owned(), (texts, source));
        true
    }

    /// The settings other than limits that differ, which only another start can put into force.
    pub fn differing(&self, other: &Self) -> Vec<&'static str> {
        let settings = flags::flags().iter().filter(|flag| !flag.is_limit());
        settings.map(Flag::name).filter(|name| self.texts(name) != other.texts(name)).collect()
    }

    fn texts(&self, name: &str) -> Option<&[String]> {
        self.0.get(name).map(|(texts, _)| &**texts)
    }
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for flag in flags::flags() {
            let name = flag.name();
            match (self.0.get(name), flag.default()) {
                (Some((texts, source)), _) => {
                    write!(f, "{name} = {}", value(texts))?;
                    match source {
                        SettingSource::CommandLine => writeln!(f, " # --{name}")?,
                        SettingSource::Environment => writeln!(f, " # {}", flags::variable(name))?,
                        SettingSource::File => writeln!(f, " # the configuration file")?,
                    }
                }
                (None, Ok(default)) => writeln!(f, "{name} = {} # default", value(&[default]))?,
                (None, Err(words)) => writeln!(f, "# {name}: {words}")?,
            }
        }
        Ok(())
    }
}

/// Texts as a value of TOML.
fn value(texts: &[String]) -> toml::Value {
    let one = |text: &String| {
        let number = text.parse().map(toml::Value::Integer).ok();
        let truth = text.parse().map(toml::Value::Boolean).ok();
        number.or(truth).unwrap_or_else(|| toml::Value::String(text.clone()))
    };
    match texts {
        [text] => one(text),
        _ => toml::Value::Array(texts.iter().cloned().map(toml::Value::String).collect()),
    }
}
