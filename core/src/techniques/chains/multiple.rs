//! Multiple forcing chains: what follows from every candidate of a cell, or from every place of a
//! digit in a house, is true.

use super::marks::{CANDIDATES, CELLS, OFF, ON, SIDE, WORDS, has};
use super::{Links, Mode, Workspace, difficulty, tenths};
use crate::techniques::geometry::{Geometry, KINDS};
use crate::techniques::hunt::{Hunt, Mark, RawImplication};
use crate::techniques::position::{Position, bits};
use crate::techniques::step::{Kind, Why};
use crate::techniques::technique::Technique;

/// The lowest rating of a step.
pub(super) const BASE: f64 = 8.0;

/// What follows from a candidate that is on, in the order in which it is found.
#[derive(Debug)]
pub(super) struct LinkClosure {
    /// Whether it has been computed in this position.
    pub is_known: bool,
    /// The candidates that get on and off.
    pub lists: [Vec<u16>; 2],
    sets: [[u64; WORDS]; 2],
    /// The number of statements of the chain to each.
    pub counts: [[u16; CANDIDATES]; 2],
    /// The candidate that each follows from; only valid where its set has it.
    parents: [[u16; CANDIDATES]; 2],
}

impl Default for LinkClosure {
    fn default() -> Self {
        Self {
            is_known: false,
            lists: [Vec::new(), Vec::new()],
            sets: [[0; WORDS]; 2],
            counts: [[0; CANDIDATES]; 2],
            parents: [[0; CANDIDATES]; 2],
        }
    }
}

impl LinkClosure {
    /// Follows all links from a candidate that is on. Stops at a contradiction, of which simpler
    /// chains take care.
    pub(super) fn compute(&mut self, links: &Links, source: u16) -> u64 {
        self.is_known = true;
        self.lists.iter_mut().for_each(Vec::clear);
        self.sets = [[0; WORDS]; 2];
        self.add(ON, source, source, 1);
        let (mut next_on, mut next_off) = (0, 0);
        let mut inferences = 0;
        loop {
            if let Some(&id) = self.lists[ON].get(next_on) {
                next_on += 1;
                let weak = links.weak(usize::from(id), Mode::Xy);
                inferences += weak.len() as u64;
                for &next in weak {
                    if has(&self.sets[ON], next) {
                        return inferences;
                    }
                    if !has(&self.sets[OFF], next) {
                        self.add(OFF, next, id, self.counts[ON][usize::from(id)] + 1);
                    }
                }
            } else if let Some(&id) = self.lists[OFF].get(next_off) {
                next_off += 1;
                for &(next, _) in links.strong(usize::from(id), Mode::Xy) {
                    if has(&self.sets[OFF], next) {
                        return inferences;
                    }
                    if !has(&self.sets[ON], next) {
                        self.add(ON, next, id, self.counts[OFF][usize::from(id)] + 1);
                    }
                }
            } else {
                return inferences;
            }
        }
    }

    #[inline]
    fn add(&mut self, state: usize, id: u16, parent: u16, count: u16) {
        self.lists[state].push(id);
        self.sets[state][usize::from(id) / 64] |= 1 << (id % 64);
        self.counts[state][usize::from(id)] = count;
        self.parents[state][usize::from(id)] = parent;
    }

    /// Whether a candidate gets on, or off.
    #[inline]
    pub(super) fn has(&self, state: usize, id: u16) -> bool {
        has(&self.sets[state], id)
    }

    /// The candidates of the chain to a statement, from its end to its beginning. They are on and off
    /// in turns.
    pub(super) fn path(&self, state: usize, target: u16) -> Vec<u16> {
        let mut path = vec![target];
        let (mut at, mut now) = (target, state);
        while !(now == ON && self.parents[ON][usize::from(at)] == at) {
            at = self.parents[now][usize::from(at)];
            now = 1 - now;
            path.push(at);
        }
        path
    }

    /// The chain to a statement.
    fn chain(&self, geometry: &Geometry, links: &Links, state: usize, target: u16) -> Vec<RawImplication> {
        let mut path = self.path(state, target);
        path.reverse();
        let mut chain: Vec<RawImplication> = Vec::with_capacity(path.len());
        for (index, &id) in path.iter().enumerate() {
            let is_on = index % 2 == 0;
            let before = index.checked_sub(1);
            let why = before.map_or(Why::Assumption, |before| {
                super::single::reason(geometry, links, Mode::Xy, path[before], id, is_on)
            });
            let mark = Mark::new(usize::from(id) / SIDE, usize::from(id) % SIDE);
            chain.push(RawImplication { mark, is_on, parents: before.into_iter().collect(), why });
        }
        chain
    }
}

/// The best step so far.
struct CommonConclusion {
    complexity: usize,
    /// Cells come before houses.
    house: Option<usize>,
    sources: Vec<u16>,
    state: usize,
    target: u16,
}

/// The easiest step from all candidates of a cell or all places of a digit.
pub(in crate::techniques) fn multiple(hunt: &mut Hunt<'_>, work: &mut Workspace) -> bool {
    let position = hunt.position;
    let geometry = position.geometry;
    work.links.load(geometry, position);
    let closures = &mut work.multiple;
    closures.resize_with(CANDIDATES, LinkClosure::default);
    for closure in closures.iter_mut() {
        closure.is_known = false;
    }
    let mut inferences = work.reach.explore(geometry, position, Mode::Xy);
    work.reach.turn(geometry, position);
    let cells = hunt.allowed.contains(Technique::CellForcingChains);
    let houses = hunt.allowed.contains(Technique::RegionForcingChains);
    let mut best: Option<CommonConclusion> = None;
    let mut look = |sources: &[u16], house: Option<usize>| {
        if work.reach.meet(sources) {
            for &source in sources {
                know(closures, &work.links, source, &mut inferences);
            }
            reduce(position, closures, sources, house, &mut best);
        }
    };
    let mut sources: Vec<u16> = Vec::with_capacity(SIDE);
    for cell in 0..CELLS {
        let candidates = position.candidates[cell];
        if candidates.count_ones() < 3 {
            continue;
        }
        for digit in bits(candidates) {
            for kind in (0..KINDS).filter(|_| houses) {
                let house = geometry.house(cell, kind);
                let places = position.places(house, digit);
                let first = places.trailing_zeros() as u8;
                if places.count_ones() < 2 || first != geometry.position_in[cell][kind] {
                    continue;
                }
                sources.clear();
                sources.extend(bits(places).map(|at| (geometry.cell_at(house, at) * SIDE + digit) as u16));
                look(&sources, Some(house));
            }
        }
        if cells {
            sources.clear();
            sources.extend(bits(candidates).map(|digit| (cell * SIDE + digit) as u16));
            look(&sources, None);
        }
    }
    if !hunt.spend(inferences) {
        return false;
    }
    let Some(best) = best else { return false };
    let technique = match best.house {
        Some(_) => Technique::RegionForcingChains,
        None => Technique::CellForcingChains,
    };
    hunt.found.begin(technique);
    hunt.found.kind = if best.house.is_some() { Kind::Region } else { Kind::Cell };
    hunt.found.rating = tenths(difficulty(BASE, best.complexity));
    conclude(hunt, best.target, best.state == ON);
    if hunt.explains {
        let (links, closures) = (&work.links, &work.multiple);
        for &source in &best.sources {
            let chain = closures[usize::from(source)].chain(geometry, links, best.state, best.target);
            hunt.found.candidates.push(chain[0].mark);
            if !hunt.found.cells.contains(&chain[0].mark.cell) {
                hunt.found.cells.push(chain[0].mark.cell);
            }
            hunt.found.digits |= 1 << chain[0].mark.digit;
            hunt.found.chains.push(chain);
        }
        hunt.found.houses.extend(best.house.map(|house| house as u16));
    }
    true
}

/// Writes what follows for a candidate that is on or off.
pub(super) fn conclude(hunt: &mut Hunt<'_>, target: u16, is_on: bool) {
    let (cell, digit) = (usize::from(target) / SIDE, usize::from(target) % SIDE);
    if is_on {
        hunt.found.placement = Some(Mark::new(cell, digit));
        for other in bits(hunt.position.candidates[cell] & !(1 << digit)) {
            hunt.eliminate(cell, other);
        }
    } else {
        hunt.found.eliminations.push(Mark::new(cell, digit));
    }
}

/// Computes the closure of a candidate once.
fn know(closures: &mut [LinkClosure], links: &Links, source: u16, inferences: &mut u64) {
    let closure = &mut closures[usize::from(source)];
    if !closure.is_known {
        *inferences += closure.compute(links, source);
    }
}

/// Looks for what follows from all of several candidates.
fn reduce(
    position: &Position,
    closures: &[LinkClosure],
    sources: &[u16],
    house: Option<usize>,
    best: &mut Option<CommonConclusion>,
) {
    let first = &closures[usize::from(sources[0])];
    for state in [ON, OFF] {
        let mut common = first.sets[state];
        for &source in &sources[1..] {
            for (word, other) in common.iter_mut().zip(closures[usize::from(source)].sets[state]) {
                *word &= other;
            }
        }
        if common == [0; WORDS] {
            continue;
        }
        for &target in first.lists[state].iter().filter(|&&target| has(&common, target)) {
            let counts = sources
                .iter()
                .map(|&source| closures[usize::from(source)].counts[state][usize::from(target)]);
            let complexity: usize = counts.map(usize::from).sum();
            let key = (complexity, house.is_some());
            let is_better = best.as_ref().is_none_or(|best| key < (best.complexity, best.house.is_some()));
            // A cell with one candidate has nothing to lose.
            let is_worth = state == OFF || !position.candidates[usize::from(target) / SIDE].is_power_of_two();
            if is_better && is_worth {
                *best =
                    Some(CommonConclusion { complexity, house, sources: sources.to_vec(), state, target });
            }
        }
    }
}
