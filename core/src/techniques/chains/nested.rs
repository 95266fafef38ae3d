//! Chains that are nested in dynamic chains: what chains take away from what an assumption leaves.
//!
//! Where a search for a step wants the easiest chain, a nested search wants for every candidate the
//! easiest chain that takes it away. Most of the time there is none at all, so a look at what each
//! candidate leads to comes first: a candidate is refuted by a chain if it leads to its own
//! contrary, and what several candidates lead to is what the sets of all that they lead to have in
//! common.

use std::collections::HashMap;

use super::advanced::{Advance, sort_as_hashed};
use super::collector::{CollectedChain, Collector, Key, Shape, refuted};
use super::marks::{CANDIDATES, Marks, OFF, ON, SIDE, WORDS};
use super::reach::Reach;
use super::{IN_CELL, Links, Mode, multiple, single};
use crate::techniques::geometry::{Geometry, KINDS};
use crate::techniques::position::bits;
use crate::techniques::technique::Technique;

/// What nested chains read, and where they write what they take away.
pub(super) struct Sink<'a> {
    /// The candidates of the position.
    pub source: &'a Marks,
    /// Those that the assumption leaves.
    pub marks: &'a Marks,
    pub advances: &'a mut Vec<Advance>,
    /// Parents of all advances.
    pub premises: &'a mut Vec<u16>,
    pub nested: &'a mut Nested,
}

/// The candidates that were gone before a chain could be seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Premises([u64; WORDS]);

impl Premises {
    /// Adds what had to be gone so that a candidate is the last of its cell, or of its digit in a
    /// house of a kind.
    pub(super) fn add(&mut self, geometry: &Geometry, sink: &Sink<'_>, id: u16, kind: u8) {
        let (cell, digit) = (usize::from(id) / SIDE, usize::from(id) % SIDE);
        let mut set = |id: usize| self.0[id / 64] |= 1 << (id % 64);
        if kind == IN_CELL {
            let gone = sink.source.cells[cell] & !sink.marks.cells[cell];
            bits(u32::from(gone)).for_each(|digit| set(cell * SIDE + digit));
        } else {
            let house = geometry.house(cell, usize::from(kind));
            let gone = sink.source.places[house][digit] & !sink.marks.places[house][digit];
            bits(u32::from(gone)).for_each(|at| set(geometry.cell_at(house, at) * SIDE + digit));
        }
    }
}

/// The nested chains that a search has come across: chains that consist of the same statements
/// count once in a step, wherever they are used.
#[derive(Debug, Default)]
pub(super) struct Nested {
    /// The number of each, by a fingerprint of its statements.
    numbers: HashMap<u128, u32>,
    /// The statements of each.
    pub complexities: Vec<u32>,
}

impl Nested {
    /// The number of a chain.
    pub(super) fn number(&mut self, fingerprint: u128, complexity: u32) -> u32 {
        let next = self.complexities.len() as u32;
        let number = *self.numbers.entry(fingerprint).or_insert(next);
        if number == next {
            self.complexities.push(complexity);
        }
        number
    }

    pub(super) fn clear(&mut self) {
        self.numbers.clear();
        self.complexities.clear();
    }
}

/// A number that stands for the statements of a chain. Two chains with the same one would have to
/// be sought for among more than 2^60.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fingerprint([u64; 2]);

impl Fingerprint {
    pub(super) const fn new() -> Self {
        Self([0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344])
    }

    fn push(&mut self, value: u64) {
        let factors = [0x9e37_79b9_7f4a_7c15_u64, 0xd1b5_4a32_d192_ed03];
        for (half, factor) in self.0.iter_mut().zip(factors) {
            *half = (half.rotate_left(23) ^ value).wrapping_mul(factor);
            *half ^= *half >> 29;
        }
    }

    /// Adds a statement.
    pub(super) fn statement(&mut self, id: u16, is_on: bool) {
        self.push(u64::from(id) << 1 | u64::from(is_on));
    }

    /// Ends one of several chains.
    pub(super) fn end(&mut self) {
        self.push(u64::MAX);
    }

    pub(super) const fn value(self) -> u128 {
        (self.0[0] as u128) << 64 | self.0[1] as u128
    }
}

impl Sink<'_> {
    /// Adds the candidates that a chain takes away. A chain that needs no premise was there before
    /// the assumption.
    pub(super) fn add(
        &mut self,
        technique: Technique,
        premises: &Premises,
        (fingerprint, complexity): (Fingerprint, usize),
        gone: impl Iterator<Item = u16>,
    ) {
        let from = self.premises.len();
        for (at, &word) in premises.0.iter().enumerate() {
            let mut word = word;
            while word != 0 {
                self.premises.push((64 * at) as u16 + word.trailing_zeros() as u16);
                word &= word - 1;
            }
        }
        let parents = (from, self.premises.len());
        if parents.0 == parents.1 {
            return;
        }
        let nested = Some(self.nested.number(fingerprint.value(), complexity as u32));
        self.advances.extend(gone.map(|id| Advance { id, technique, parents, nested }));
    }
}

/// The search for nested chains, with its buffers.
#[derive(Debug, Default)]
pub(super) struct Finder {
    /// The links, once they are wanted.
    links: Links,
    has_links: bool,
    reach: Reach,
    single: single::SingleBuffers,
    collector: Collector,
    closures: Vec<multiple::LinkClosure>,
    /// The closures that have been computed.
    known: Vec<u16>,
}

impl Finder {
    /// Finds what cycles and chains without branches take away, and if there are none, what
    /// multiple chains take away if they are wanted. Returns the number of inferences.
    pub(super) fn find(
        &mut self,
        geometry: &Geometry,
        wants_multiple: bool,
        most: u64,
        sink: &mut Sink<'_>,
    ) -> u64 {
        self.has_links = false;
        let mut inferences = self.reach.explore(geometry, sink.marks, Mode::Xy);
        self.collector.clear();
        inferences += self.single(geometry, most, sink.marks);
        if self.collector.chains.is_empty() && wants_multiple {
            inferences += self.multiple(geometry, sink.marks);
        }
        self.write(geometry, sink);
        inferences
    }

    /// Cycles and chains without branches.
    fn single(&mut self, geometry: &Geometry, most: u64, marks: &Marks) -> u64 {
        let Self { links, has_links, reach, single, collector, .. } = self;
        if reach.chains.iter().flatten().all(|&length| length == 0) {
            return 0;
        }
        links.load(geometry, marks);
        *has_links = true;
        let mut search = single::ChainSearch::all(geometry, marks, links, single, most, collector);
        for mode in [Mode::X, Mode::Xy] {
            for (at, &id) in reach.live.iter().enumerate() {
                for state in [ON, OFF] {
                    let is_wanted = mode == Mode::X || search.wants(id, state == ON);
                    if reach.chains[state][at] > 0 && is_wanted {
                        search.chains(usize::from(id), state == ON, mode);
                    }
                }
            }
        }
        for mode in [Mode::X, Mode::Y, Mode::Xy] {
            search.limit_cycles(mode);
            for (at, &id) in reach.live.iter().enumerate() {
                let is_pair = marks.cells[usize::from(id) / SIDE].count_ones() == 2;
                if reach.cycles[at] > 0 && (mode != Mode::Y || is_pair) {
                    search.cycles(reach, usize::from(id), mode);
                }
            }
        }
        search.inferences
    }

    /// Multiple chains.
    fn multiple(&mut self, geometry: &Geometry, marks: &Marks) -> u64 {
        self.reach.turn(geometry, marks);
        for id in self.known.drain(..) {
            self.closures[usize::from(id)].is_known = false;
        }
        let mut inferences = 0;
        let mut order = 0;
        let mut sources: Vec<u16> = Vec::with_capacity(SIDE);
        for cell in 0..marks.cells.len() {
            let candidates = u32::from(marks.cells[cell]);
            if candidates.count_ones() < 3 {
                continue;
            }
            for digit in bits(candidates) {
                for kind in 0..KINDS {
                    let house = geometry.house(cell, kind);
                    let places = u32::from(marks.places[house][digit]);
                    let first = places.trailing_zeros() as u8;
                    if places.count_ones() < 2 || first != geometry.position_in[cell][kind] {
                        continue;
                    }
                    sources.clear();
                    sources
                        .extend(bits(places).map(|at| (geometry.cell_at(house, at) * SIDE + digit) as u16));
                    inferences += self.reduce(geometry, marks, &sources, kind as u8, &mut order);
                }
            }
            sources.clear();
            sources.extend(bits(candidates).map(|digit| (cell * SIDE + digit) as u16));
            inferences += self.reduce(geometry, marks, &sources, IN_CELL, &mut order);
        }
        inferences
    }

    /// Looks for what all of several candidates lead to.
    fn reduce(
        &mut self,
        geometry: &Geometry,
        marks: &Marks,
        sources: &[u16],
        kind: u8,
        order: &mut u32,
    ) -> u64 {
        if !self.reach.meet(sources) {
            return 4;
        }
        if self.closures.is_empty() {
            self.closures.resize_with(CANDIDATES, multiple::LinkClosure::default);
        }
        if !self.has_links {
            self.links.load(geometry, marks);
            self.has_links = true;
        }
        let mut inferences = 4;
        for &source in sources {
            let closure = &mut self.closures[usize::from(source)];
            if !closure.is_known {
                inferences += closure.compute(&self.links, source);
                self.known.push(source);
            }
        }
        let first = &self.closures[usize::from(sources[0])];
        for state in [ON, OFF] {
            for &target in &first.lists[state] {
                let counts = sources.iter().map(|&source| {
                    let closure = &self.closures[usize::from(source)];
                    closure
                        .has(state, target)
                        .then(|| usize::from(closure.counts[state][usize::from(target)]))
                });
                let Some(complexity) = counts.sum::<Option<usize>>() else { continue };
                let (is_cell, technique) = match kind {
                    IN_CELL => (true, Technique::CellForcingChains),
                    _ => (false, Technique::RegionForcingChains),
                };
                let (gone, count) = refuted(marks, target, state == ON);
                *order += 1;
                let key = Key::new(multiple::BASE, complexity, if is_cell { 5 } else { 6 });
                let shape = Shape::Multiple { source: sources[0], kind, target, state: state as u8 };
                let chain =
                    CollectedChain { key, order: *order, technique, shape, path: (0, 0), gone: (0, 0) };
                self.collector.offer(chain, std::iter::empty(), &gone[..count]);
            }
        }
        inferences
    }

    /// Writes the easiest chain for each candidate.
    fn write(&self, geometry: &Geometry, sink: &mut Sink<'_>) {
        let collector = &self.collector;
        for number in collector.sorted() {
            let chain = &collector.chains[number as usize];
            let path = &collector.paths[chain.path.0..chain.path.1];
            let mut premises = Premises::default();
            let mut fingerprint = Fingerprint::new();
            match chain.shape {
                Shape::Chain { mode, ends_on } => {
                    self.follow(geometry, sink, (path, mode, ends_on), &mut premises, &mut fingerprint);
                }
                Shape::Cycle { mode } => {
                    // The beginning stands at both ends, and counts where it is turned on.
                    self.follow(geometry, sink, (path, mode, true), &mut premises, &mut fingerprint);
                    fingerprint.end();
                    // The other way round, what was off is on, and the reference takes the weak link
                    // to it for the reason.
                    let mut is_on = false;
                    for (at, &id) in path.iter().enumerate().rev() {
                        fingerprint.statement(id, is_on);
                        if is_on {
                            let kind = weak_kind(geometry, path[at + 1], id);
                            premises.add(geometry, sink, id, kind);
                        }
                        is_on = !is_on;
                    }
                }
                Shape::Multiple { source, kind, target, state } => {
                    let (cell, digit) = (usize::from(source) / SIDE, usize::from(source) % SIDE);
                    let each = |id: usize, premises: &mut Premises, fingerprint: &mut Fingerprint| {
                        let closure = &self.closures[id];
                        let path = closure.path(usize::from(state), target);
                        let ends_on = usize::from(state) == ON;
                        self.follow(geometry, sink, (&path, Mode::Xy, ends_on), premises, fingerprint);
                        premises.add(geometry, sink, id as u16, kind);
                        fingerprint.end();
                    };
                    if kind == IN_CELL {
                        for digit in bits(u32::from(sink.marks.cells[cell])) {
                            each(cell * SIDE + digit, &mut premises, &mut fingerprint);
                        }
                    } else {
                        let house = geometry.house(cell, usize::from(kind));
                        for at in bits(u32::from(sink.marks.places[house][digit])) {
                            let id = geometry.cell_at(house, at) * SIDE + digit;
                            each(id, &mut premises, &mut fingerprint);
                        }
                    }
                }
            }
            let mut gone: Vec<(usize, u32)> = Vec::new();
            for &id in &collector.gone[chain.gone.0..chain.gone.1] {
                let (cell, digit) = (usize::from(id) / SIDE, 1 << (usize::from(id) % SIDE));
                match gone.iter_mut().find(|(known, _)| *known == cell) {
                    Some((_, digits)) => *digits |= digit,
                    None => gone.push((cell, digit)),
                }
            }
            sort_as_hashed(&mut gone);
            let gone = gone
                .into_iter()
                .flat_map(|(cell, digits)| bits(digits).map(move |digit| (cell * SIDE + digit) as u16))
                .filter(|&id| collector.best[usize::from(id)] == number);
            sink.add(chain.technique, &premises, (fingerprint, chain.key.complexity), gone);
        }
    }

    /// Goes through a path from its end to its beginning, which is what it assumes.
    fn follow(
        &self,
        geometry: &Geometry,
        sink: &Sink<'_>,
        (path, mode, ends_on): (&[u16], Mode, bool),
        premises: &mut Premises,
        fingerprint: &mut Fingerprint,
    ) {
        let mut is_on = ends_on;
        for (at, &id) in path.iter().enumerate() {
            fingerprint.statement(id, is_on);
            if let Some(&before) = path.get(at + 1).filter(|_| is_on) {
                let strong = self.links.strong(usize::from(before), mode);
                if let Some(&(_, kind)) = strong.iter().find(|&&(next, _)| next == id) {
                    premises.add(geometry, sink, id, kind);
                }
            }
            is_on = !is_on;
        }
    }
}

/// The kind of the weak link between two candidates: in a cell, or in the first house that they
/// share.
fn weak_kind(geometry: &Geometry, from: u16, to: u16) -> u8 {
    let (from, to) = (usize::from(from) / SIDE, usize::from(to) / SIDE);
    if from == to {
        return IN_CELL;
    }
    let shared = (0..KINDS).find(|&kind| geometry.house(from, kind) == geometry.house(to, kind));
    shared.map_or(IN_CELL, |kind| kind as u8)
}
