//! What each technique is, in words for people.

use super::Technique;
use Technique as T;

/// The texts, in the order of the techniques.
static ABOUT: [(Technique, &str); Technique::ALL.len()] = [
    (T::LastCell, "A house has one blank cell, so it takes the digit that is left."),
    (
        T::HiddenSingle,
        "A digit fits only one cell of a house. In a box that is easier to see (1.2) than in a row or column (1.5).",
    ),
    (
        T::DirectPointing,
        "A digit of a box is confined to one row or column. So it is nowhere else in that, and another box has one place left for it.",
    ),
    (
        T::DirectClaiming,
        "A digit of a row or column is confined to one box. So it is nowhere else in the box, and another row or column has one place left for it.",
    ),
    (
        T::DirectHiddenPair,
        "Two digits have the same two places in a house. No other digit goes there, and one of these has one place left.",
    ),
    (T::NakedSingle, "A cell has one candidate: every other digit stands in its row, column or box."),
    (
        T::DirectHiddenTriplet,
        "Three digits have three places in a house. No other digit goes there, and one of these has one place left.",
    ),
    (T::Pointing, "A digit of a box is confined to one row or column, so it goes from the rest of that."),
    (T::Claiming, "A digit of a row or column is confined to one box, so it goes from the rest of the box."),
    (T::NakedPair, "Two cells of a house have the same two candidates, so these go from the other cells."),
    (
        T::XWing,
        "A digit has the same two columns in two rows, so it goes from the rest of these columns; or with rows and columns exchanged.",
    ),
    (T::HiddenPair, "Two digits have the same two places in a house, so other candidates go from there."),
    (
        T::NakedTriplet,
        "Three cells of a house have three candidates between them, so these go from the other cells.",
    ),
    (
        T::Swordfish,
        "A digit has three columns in three rows, so it goes from the rest of these columns; or the other way round.",
    ),
    (T::HiddenTriplet, "Three digits have three places in a house, so other candidates go from there."),
    (
        T::XyWing,
        "A cell of two candidates sees two others, and the three have three digits between them. Whatever the first is, one of the others is the third digit, so that goes from the cells that see both.",
    ),
    (
        T::XyzWing,
        "As an XY-wing, but the first cell has all three candidates; the third digit goes from the cells that see all three.",
    ),
    (
        T::UniqueRectangle,
        "Four cells in two rows, two columns and two boxes would have two solutions with their two digits exchanged. The puzzle has one, so something else stands there.",
    ),
    (T::UniqueLoop, "As a unique rectangle, but with a loop of six cells or more."),
    (
        T::NakedQuad,
        "Four cells of a house have four candidates between them, so these go from the other cells.",
    ),
    (
        T::Jellyfish,
        "A digit has four columns in four rows, so it goes from the rest of these columns; or the other way round.",
    ),
    (T::HiddenQuad, "Four digits have four places in a house, so other candidates go from there."),
    (
        T::BivalueUniversalGrave,
        "If every blank cell had two candidates, each twice in its houses, there would be two solutions or none. So what is more than that stands.",
    ),
    (
        T::AlignedPairExclusion,
        "Two cells take a pair of digits. Cells that see both exclude pairs, and a digit of which all pairs are excluded goes.",
    ),
    (
        T::XCycle,
        "The places of one digit form a loop in which one of two neighbours holds it and of the next two not both. Either way, cells that see two neighbours do not hold it.",
    ),
    (
        T::YCycle,
        "Cells of two candidates form a loop: whichever way round it is filled, the same candidates go beside it.",
    ),
    (
        T::TurbotFish,
        "Two houses in which a digit has two places are linked, so one of the outer ends holds it.",
    ),
    (
        T::ForcingXChain,
        "A digit in one place leads, by its other places, to its being elsewhere. So it is not in that place, or is in the other.",
    ),
    (
        T::BidirectionalCycle,
        "A loop of candidates of several digits, in which every other one is right whichever way it is followed.",
    ),
    (
        T::ForcingChain,
        "An assumption leads, link by link, to its contrary; or it and its contrary lead to the same.",
    ),
    (T::NishioForcingChains, "If a digit stood in a cell, its other places would contradict each other."),
    (T::CellForcingChains, "Every candidate of a cell leads to the same."),
    (T::RegionForcingChains, "Every place of a digit in a house leads to the same."),
    (T::DynamicForcingChains, "Chains whose links may rest on several candidates that are gone by then."),
    (
        T::DynamicForcingChainsPlus,
        "Dynamic chains in which locked candidates, pairs and X-wings are used as well.",
    ),
    (
        T::NestedForcingChains,
        "Dynamic chains that go on by cycles and forcing chains where nothing simpler leads on. Each such chain is seen only because of what the outer chain has taken away.",
    ),
    (
        T::NestedMultipleChains,
        "Nested forcing chains that go on by cell and region forcing chains as well, where nothing simpler leads on.",
    ),
    (
        T::NestedDynamicChains,
        "Dynamic chains that go on by dynamic chains. No person looks for these; they tell the hardest puzzles apart.",
    ),
];

impl Technique {
    /// What it is, in a sentence or two.
    #[must_use]
    pub fn about(self) -> &'static str {
        ABOUT[self as usize].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_technique_has_its_own_text() {
        for (technique, (of, text)) in Technique::ALL.into_iter().zip(ABOUT) {
            assert_eq!(technique, of);
            assert_eq!(technique.about(), text);
            assert!(text.ends_with('.'), "{text}");
        }
    }
}
