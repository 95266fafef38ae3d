//! What documents show of a text, with elisions.

/// What stands for something that is left out.
pub const ELISION: &str = "[...]";

/// Is a text what a document shows of it?
pub fn is_shown(text: &str, shown: &str) -> bool {
    // On a line of its own an elision stands for any number of lines.
    let mut shown = shown.replace(&format!("\n{ELISION}\n"), &format!("\n{ELISION}"));
    if let Some(before) = shown.strip_suffix(&format!("\n{ELISION}")) {
        shown = format!("{before}{ELISION}");
    }
    if let Some(behind) = shown.strip_prefix(&format!("{ELISION}\n")) {
        shown = format!("{ELISION}{behind}");
    }
    let mut parts = shown.split(ELISION);
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}
