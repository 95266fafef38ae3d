//! Draws `docs/peers.svg`, the picture of the README, from the tables of `docs/performance.md`: the
//! throughput of this project beside that of the best of the other solvers.
//!
//! ```text
//! cargo run --example peers_picture
//! ```

use std::error::Error;
use std::fmt::Write as _;
use std::fs;

/// The lists that are drawn, by their names in the tables.
const LISTS: [&str; 6] = [
    "trivial, as the Kaggle set",
    "easy, long chains of singles",
    "minimal, unbiased",
    "17 clues",
    "magictour top 1465",
    "hardest known, 10,000 of them",
];

/// Sizes in pixels.
const WIDTH: usize = 860;
const LEFT: usize = 230;
const LONGEST: usize = 420;
const TOP: usize = 58;
const GROUP: usize = 46;
const BAR: usize = 15;

/// Figures of a list.
struct Figures<'a> {
    list: &'a str,
    ours: f64,
    peer: &'a str,
    best: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let root = env!("CARGO_MANIFEST_DIR");
    let tables = fs::read_to_string(format!("{root}/docs/performance.md"))?;
    let picture = picture(&tables).ok_or("docs/performance.md has other tables")?;
    fs::write(format!("{root}/docs/peers.svg"), picture)?;
    Ok(())
}

/// The picture of the tables of a document; `None` if it has others.
#[must_use]
pub fn picture(document: &str) -> Option<String> {
    let (_, tables) = document.split_once("Uniqueness proven, ours by N:")?;
    let (ours, peers) = tables.split_once("and the peers, for the whole list:")?;
    let (peers, _) = peers.split_once("First solution")?;
    let names = cells(peers.lines().find(|line| line.starts_with("| list |"))?);
    let figures: Option<Vec<Figures<'_>>> = LISTS
        .into_iter()
        .map(|list| {
            // The whole list is the last column but one, with the ratio in brackets behind the time.
            let ours = row(ours, list)?;
            let whole = number(ours.get(ours.len().checked_sub(2)?)?.split(' ').next()?)?;
            let others = row(peers, list)?;
            let times =
                names.iter().zip(others).skip(1).filter_map(|(name, cell)| Some((*name, number(cell)?)));
            let (peer, best) = times.min_by(|one, other| one.1.total_cmp(&other.1))?;
            Some(Figures { list, ours: whole, peer, best })
        })
        .collect();
    Some(drawn(&figures?))
}

fn row<'a>(table: &'a str, list: &str) -> Option<Vec<&'a str>> {
    table.lines().map(cells).find(|cells| cells.first() == Some(&list))
}

fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

fn number(text: &str) -> Option<f64> {
    text.replace(',', "").parse().ok()
}

/// Nanoseconds a puzzle as puzzles a second.
fn rate(nanoseconds: f64) -> String {
    let rate = 1e9 / nanoseconds;
    // What rounds to a million is one; a tenth of a million is the last digit that is shown.
    if rate >= 999_500.0 {
        format!("{:.1} million", rate / 1e6)
    } else if rate >= 1e3 {
        format!("{:.0},000", rate / 1e3)
    } else {
        format!("{rate:.0}")
    }
}

fn drawn(figures: &[Figures<'_>]) -> String {
    let height = TOP + figures.len() * GROUP + 14;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" rx=\"8\" fill=\"#ffffff\"/>\n\
         <text x=\"20\" y=\"24\" font-size=\"15\" font-weight=\"600\" fill=\"#1f2328\">Puzzles a second on one core, each solution proven to be the only one</text>\n\
         <text x=\"20\" y=\"43\" fill=\"#59636e\">sudoku-stream beside the best of five public solvers, with AVX-512, text to text; each pair has its own scale</text>\n"
    );
    for (index, figures) in figures.iter().enumerate() {
        let y = TOP + index * GROUP;
        let Figures { list, ours, peer, best } = figures;
        // A bar of the peer by its share of ours.
        let share = (ours / best * f64::from(u32::try_from(LONGEST).unwrap_or(u32::MAX))).max(2.0);
        let middle = y + BAR + 5;
        let _ = write!(
            svg,
            "<text x=\"{end}\" y=\"{middle}\" text-anchor=\"end\" fill=\"#1f2328\">{list}</text>\n\
             <rect x=\"{LEFT}\" y=\"{y}\" width=\"{LONGEST}\" height=\"{BAR}\" rx=\"2\" fill=\"#0969da\"/>\n\
             <text x=\"{ours_x}\" y=\"{ours_y}\" fill=\"#1f2328\" font-weight=\"600\">{ours} ({times:.0} times)</text>\n\
             <rect x=\"{LEFT}\" y=\"{peer_top}\" width=\"{share:.0}\" height=\"{BAR}\" rx=\"2\" fill=\"#afb8c1\"/>\n\
             <text x=\"{peer_x:.0}\" y=\"{peer_y}\" fill=\"#59636e\">{peer}: {best}</text>\n",
            end = LEFT - 10,
            ours = rate(*ours),
            times = best / ours,
            ours_x = LEFT + LONGEST + 8,
            ours_y = y + 12,
            peer_top = y + BAR + 2,
            peer_x = f64::from(u32::try_from(LEFT).unwrap_or(u32::MAX)) + share + 8.0,
            peer_y = y + BAR + 14,
            peer = peer.replace('`', ""),
            best = rate(*best),
        );
    }
    svg.push_str("</svg>\n");
    svg
}
