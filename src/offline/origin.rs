//! Origins of answers: which of several inputs an error line or a JSON object is about.

use std::borrow::Cow;

use memchr::memmem;

use crate::answer::{OutputForm, RowWriter, free_member_name};
use crate::text::Format;

/// The beginning of an error line.
const ERROR: &[u8] = b"error: ";

/// The origin of answers, as their sentences name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputOrigin {
    /// One of several files: `Line 3 of b.txt has no solution.`
    File(String),
    /// A puzzle by itself, the argument with this number where there are several: `The puzzle has
    /// no solution.`, `Argument 2 has no solution.`
    Puzzle(Option<usize>),
}

/// The form of answers, as far as it tells where their origin is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnswerForm {
    form: OutputForm,
    /// Whether answers are rows of the input, with all that the user wrote in them.
    keeps_rows: bool,
}

impl AnswerForm {
    /// The form of answers to an input in this format.
    pub(super) fn new(form: OutputForm, format: &Format) -> Self {
        let keeps_rows = form.row_form().is_some_and(|rows| RowWriter::keeps_columns(format, rows));
        Self { form, keeps_rows }
    }
}

impl InputOrigin {
    /// The sentence about a line of this input, from one that begins with `Line 3`. Other sentences
    /// stay as they are.
    #[must_use]
    pub fn sentence<'a>(&self, sentence: &'a str) -> Cow<'a, str> {
        let Some((line, rest)) = split_line(sentence.as_bytes()) else { return Cow::Borrowed(sentence) };
        let (line, rest) = (String::from_utf8_lossy(line), String::from_utf8_lossy(rest));
        Cow::Owned(format!("{}{rest}", self.subject(&line)))
    }

    /// The subject of a sentence about `line`, such as `Line 3`.
    fn subject(&self, line: &str) -> String {
        match self {
            Self::File(name) => format!("{line} of {name}"),
            Self::Puzzle(None) => "The puzzle".to_owned(),
            Self::Puzzle(Some(argument)) => format!("Argument {argument}"),
        }
    }

    /// The member of a JSON object that names it: its name and its value.
    fn json_member(&self) -> Option<(&'static str, serde_json::Value)> {
        match self {
            Self::File(name) => Some(("file", name.as_str().into())),
            Self::Puzzle(None) => None,
            Self::Puzzle(Some(argument)) => Some(("argument", (*argument).into())),
        }
    }

    /// Whether answers in this form differ, where some of them are an error or none is.
    pub(super) fn changes(&self, form: AnswerForm, has_errors: bool) -> bool {
        let has_sentences = has_errors && !form.keeps_rows;
        has_sentences || (form.form == OutputForm::Jsonl && *self != Self::Puzzle(None))
    }

    /// The text of answers with their origin in every error line, and in every JSON object.
    pub(super) fn name_in(&self, form: AnswerForm, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len() + text.len() / 8);
        let AnswerForm { form, keeps_rows } = form;
        let member = self.json_member();
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let end = match form {
                // Sentences there are the user's, because such rows have codes.
                _ if keeps_rows => None,
                OutputForm::Jsonl => end_of(line, b"\"message\":\""),
                OutputForm::Csv => end_of(line, b",\"error: "),
                // It is the beginning of an error line.
                _ => line.starts_with(ERROR).then_some(ERROR.len()),
            };
            let (head, sentence) = line.split_at(end.unwrap_or(line.len()));
            match (&member, head) {
                (Some((name, value)), [b'{', members @ ..]) if form == OutputForm::Jsonl => {
                    let name = if keeps_rows { free_member_name(line, name) } else { (*name).to_owned() };
                    out.extend_from_slice(format!("{{\"{name}\":{value},").as_bytes());
                    out.extend_from_slice(members);
                }
                _ => out.extend_from_slice(head),
            }
            match split_line(sentence) {
                None => out.extend_from_slice(sentence),
                Some((line, rest)) => {
                    let subject = self.subject(&String::from_utf8_lossy(line));
                    let subject = match form {
                        OutputForm::Jsonl => {
                            let quoted = serde_json::Value::from(subject).to_string();
                            quoted[1..quoted.len() - 1].to_owned()
                        }
                        OutputForm::Csv => subject.replace('"', "\"\""),
                        _ => subject,
                    };
                    out.extend_from_slice(subject.as_bytes());
                    out.extend_from_slice(rest);
                }
            }
        }
        out
    }
}

/// The end of the first `part` of a line.
fn end_of(line: &[u8], part: &[u8]) -> Option<usize> {
    memmem::find(line, part).map(|at| at + part.len())
}

/// Splits `Line 3 has no solution.` behind the number.
fn split_line(sentence: &[u8]) -> Option<(&[u8], &[u8])> {
    let number = sentence.strip_prefix(b"Line ")?;
    let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0 && number.get(digits) == Some(&b' ')).then(|| sentence.split_at(b"Line ".len() + digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn of_list(form: OutputForm) -> AnswerForm {
        AnswerForm { form, keeps_rows: false }
    }

    const fn of_table(form: OutputForm) -> AnswerForm {
        AnswerForm { form, keeps_rows: true }
    }

    fn named(origin: &InputOrigin, form: AnswerForm, text: &str) -> String {
        String::from_utf8(origin.name_in(form, text.as_bytes())).unwrap()
    }

    #[test]
    fn error_lines_name_the_input_in_every_form() {
        let file = InputOrigin::File("b \"x\".txt".to_owned());
        let argument = InputOrigin::Puzzle(Some(2));
        for (form, text, of_file, of_argument) in [
            (
                OutputForm::Solution,
                "1234\nerror: Line 3 has no solution.\n",
                "1234\nerror: Line 3 of b \"x\".txt has no solution.\n",
                "1234\nerror: Argument 2 has no solution.\n",
            ),
            (
                OutputForm::Csv,
                "12,34\n,\"error: Line 12 has the wrong length.\"\n",
                "12,34\n,\"error: Line 12 of b \"\"x\"\".txt has the wrong length.\"\n",
                "12,34\n,\"error: Argument 2 has the wrong length.\"\n",
            ),
            (
                OutputForm::Jsonl,
                "{\"line\":3,\"error\":{\"code\":\"no_solution\",\"message\":\"Line 3 has no solution.\"}}\n",
                "{\"file\":\"b \\\"x\\\".txt\",\"line\":3,\"error\":{\"code\":\"no_solution\",\"message\":\"Line 3 of b \
                 \\\"x\\\".txt has no solution.\"}}\n",
                "{\"argument\":2,\"line\":3,\"error\":{\"code\":\"no_solution\",\"message\":\"Argument 2 has no solution.\"}}\n",
            ),
        ] {
            assert_eq!(named(&file, of_list(form), text), of_file);
            assert_eq!(named(&argument, of_list(form), text), of_argument);
        }
        let only = InputOrigin::Puzzle(None);
        assert_eq!(
            named(&only, of_list(OutputForm::Grid), "error: Line 1 is odd.\n\n"),
            "error: The puzzle is odd.\n\n"
        );
        assert_eq!(named(&only, of_list(OutputForm::Jsonl), "{\"line\":1}\n"), "{\"line\":1}\n");
    }

    #[test]
    fn rows_keep_what_the_user_wrote() {
        let file = InputOrigin::File("a.jsonl".to_owned());
        for (text, wanted) in [
            (
                "{\"message\":\"Line 3 is mine\",\"file\":\"x\",\"error\":null}\n",
                "{\"file_2\":\"a.jsonl\",\"message\":\"Line 3 is mine\",\"file\":\"x\",\"error\":null}\n",
            ),
            (
                "{\"fil\\u0065\":1,\"file_2\":\"\\\"file\\\"\"}\n",
                "{\"file_3\":\"a.jsonl\",\"fil\\u0065\":1,\"file_2\":\"\\\"file\\\"\"}\n",
            ),
            (
                "{\"in\":{\"file\":1},\"error\":\"no_solution\"}\n",
                "{\"file\":\"a.jsonl\",\"in\":{\"file\":1},\"error\":\"no_solution\"}\n",
            ),
        ] {
            assert_eq!(named(&file, of_table(OutputForm::Jsonl), text), wanted);
        }
        for row in ["1,\"error: Line 3 is mine\",,no_solution\n", "error: Line 3 is mine,2\n"] {
            for form in [OutputForm::Csv, OutputForm::Tsv] {
                assert_eq!(named(&file, of_table(form), row), row);
                assert!(!file.changes(of_table(form), true));
            }
        }
    }

    #[test]
    fn only_sentences_about_a_line_change() {
        let file = InputOrigin::File("a.txt".to_owned());
        assert_eq!(file.sentence("Line 7 is odd."), "Line 7 of a.txt is odd.");
        for other in ["Invalid block size.", "Line x is odd.", "Line 7.", "Lines 7 are odd."] {
            assert_eq!(file.sentence(other), other);
        }
    }

    #[test]
    fn answers_without_errors_need_no_origin_but_in_json() {
        let (file, only) = (InputOrigin::File("a".to_owned()), InputOrigin::Puzzle(None));
        let [solution, jsonl] = [OutputForm::Solution, OutputForm::Jsonl].map(of_list);
        assert!(file.changes(solution, true) && !file.changes(solution, false));
        assert!(file.changes(jsonl, false) && !only.changes(jsonl, false));
    }
}
