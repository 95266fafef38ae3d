//! Cycles and chains without branches.
//!
//! A *cycle* comes back to the candidate that it began with, by alternating links. Either all of
//! its on statements hold or all of its off statements do, so a candidate that both would turn off
//! goes. A *forcing chain* ends in the contrary of its beginning, which is thereby refuted.

use std::sync::atomic::{AtomicBool, Ordering};

use super::collector::{Collector, Key};
use super::marks::{Marks, OFF, ON};
use super::reach::Reach;
use super::{Cells, IN_CELL, Links, Mode, Workspace, tenths};
use crate::techniques::geometry::Geometry;
use crate::techniques::hunt::{Hunt, Mark, RawImplication};
use crate::techniques::position::bits;
use crate::techniques::step::Why;
use crate::techniques::technique::{Technique, TechniqueSet};

/// No parent: the beginning of a chain.
const ROOT: u32 = u32::MAX;

/// The buffers of the search.
#[derive(Debug, Default)]
pub(super) struct SingleBuffers {
    /// The statements reached: candidate and the index of the one before.
    nodes: Vec<(u16, u32)>,
    /// Marks for candidates that have been on or off, by the number of the search that did it.
    on: Vec<u32>,
    off: Vec<u32>,
    /// Marks for what may be the last statement of a cycle, or the last but one of a chain.
    last: Vec<u32>,
    /// Marks for what may be before the last statement of a cycle.
    before_last: Vec<u32>,
    /// The number of the search.
    stamp: u32,
    /// The path of the best chain, from its end to its beginning; the first is its end. The kinds
    /// alternate.
    best_path: Vec<u16>,
    best_gone: Vec<(u16, u8)>,
    cycle_gone: Vec<(u16, u8)>,
}

impl SingleBuffers {
    /// Makes room for the marks of `count` candidates.
    fn resize(&mut self, count: usize) {
        if self.on.len() != count {
            for marks in [&mut self.on, &mut self.off, &mut self.last, &mut self.before_last] {
                *marks = vec![0; count];
            }
            self.stamp = 0;
        }
    }
}

/// The best step so far.
#[derive(Clone, Copy, Debug)]
struct BestChain {
    key: Key,
    technique: Technique,
    /// Whether the path ends in an on statement.
    ends_on: bool,
    is_cycle: bool,
    mode: Mode,
}

/// A search for the easiest of all chains, or for the easiest for each candidate.
pub(super) struct ChainSearch<'a, C> {
    geometry: &'a Geometry,
    cells: &'a C,
    links: &'a Links,
    buffers: &'a mut SingleBuffers,
    allowed: TechniqueSet,
    best: Option<BestChain>,
    pub inferences: u64,
    /// The most inferences that may be made.
    most: u64,
    cancel: Option<&'a AtomicBool>,
    /// The longest chains and cycles that would be better than the best.
    bounds: [usize; 2],
    /// Takes the easiest chain for each candidate.
    all: Option<(&'a mut Collector, &'a Marks)>,
}

/// Cycles and forcing chains of one digit, cycles of cells with two candidates, then those of both
/// kinds of links: the easiest of all.
pub(in crate::techniques) fn single_chain(hunt: &mut Hunt<'_>, work: &mut Workspace) -> bool {
    let position = hunt.position;
    work.links.load(position.geometry, position);
    let count = work.links.strong_count.len();
    let buffers = &mut work.single;
    buffers.resize(count);
    let mut search = ChainSearch {
        geometry: position.geometry,
        cells: position,
        links: &work.links,
        buffers,
        allowed: hunt.allowed,
        best: None,
        inferences: 0,
        most: hunt.budget.left,
        cancel: hunt.budget.cancel,
        bounds: [0; 2],
        all: None,
    };
    for mode in [Mode::X, Mode::Y, Mode::Xy] {
        // Those of both kinds of links are rated 7.0 and up.
        if mode != Mode::Xy || search.best.is_none_or(|best| best.key.difficulty >= 7.0) {
            search.search_all(&mut work.reach, mode);
        }
    }
    let (best, inferences) = (search.best, search.inferences);
    if !hunt.spend(inferences) {
        return false;
    }
    let Some(best) = best else { return false };
    write(hunt, work, &best);
    true
}

/// The technique of a chain.
const fn technique(mode: Mode, is_cycle: bool, complexity: usize) -> Technique {
    match (mode, is_cycle) {
        (Mode::X, true) => Technique::XCycle,
        (Mode::Y, _) => Technique::YCycle,
        (Mode::Xy, true) => Technique::BidirectionalCycle,
        (Mode::X, false) if complexity == 6 => Technique::TurbotFish,
        (Mode::X, false) => Technique::ForcingXChain,
        (Mode::Xy, false) => Technique::ForcingChain,
    }
}

/// The digits of a cell besides one, as candidates.
fn others(cells: &impl Cells, side: usize, id: u16) -> impl Iterator<Item = u16> {
    let (cell, digit) = (usize::from(id) / side, usize::from(id) % side);
    bits(cells.candidates(cell) & !(1 << digit)).map(move |other| (cell * side + other) as u16)
}

impl<'a> ChainSearch<'a, Marks> {
    /// A search for the easiest chain for each candidate.
    pub(super) fn all(
        geometry: &'a Geometry,
        marks: &'a Marks,
        links: &'a Links,
        buffers: &'a mut SingleBuffers,
        most: u64,
        collector: &'a mut Collector,
    ) -> Self {
        buffers.resize(links.strong_count.len());
        Self {
            geometry,
            cells: marks,
            links,
            buffers,
            allowed: TechniqueSet::ALL,
            best: None,
            inferences: 0,
            most,
            cancel: None,
            bounds: [usize::MAX; 2],
            all: Some((collector, marks)),
        }
    }

    /// Whether a chain of both kinds of links that refutes a candidate, or its contrary, can be of
    /// use: chains of one digit are easier, if they are not very long.
    pub(super) fn wants(&self, id: u16, was_on: bool) -> bool {
        let Some((collector, _)) = &self.all else { return false };
        let wants = |id: u16| collector.best(id).is_none_or(|best| best.difficulty >= 7.0);
        if was_on { wants(id) } else { others(self.cells, self.links.side, id).any(wants) }
    }

    /// Limits cycles to those that can be easier than what there is.
    pub(super) fn limit_cycles(&mut self, mode: Mode) {
        let worst = self.all.as_ref().and_then(|(collector, _)| collector.worst());
        self.bounds[1] = worst.map_or(0, |worst| {
            (4..usize::from(u16::MAX)).find(|&length| Self::key(mode, true, length) > worst).unwrap_or(4) - 1
        });
    }
}

impl<C: Cells> ChainSearch<'_, C> {
    fn key(mode: Mode, is_cycle: bool, complexity: usize) -> Key {
        let (base, sort) = match mode {
            Mode::X => (if is_cycle { 6.5 } else { 6.6 }, 2),
            Mode::Y => (6.5, 3),
            Mode::Xy => (7.0, 4),
        };
        Key::new(base, complexity, sort)
    }

    /// The longest chain of a kind that would be better than the best.
    fn bound(&self, mode: Mode, is_cycle: bool) -> usize {
        let Some(best) = self.best else { return usize::MAX };
        // Nothing easier is as long as this.
        let is_worse = |complexity: &usize| Self::key(mode, is_cycle, *complexity) >= best.key;
        let worse = (4..=4 * best.key.complexity).find(is_worse).unwrap_or(0);
        worse.saturating_sub(1)
    }

    /// Remembers a step, and how long better ones may be.
    fn improve(&mut self, best: BestChain) {
        self.best = Some(best);
        self.bounds = [self.bound(best.mode, false), self.bound(best.mode, true)];
    }

    /// Looks at chains from every candidate that can begin the easiest.
    fn search_all(&mut self, reach: &mut Reach, mode: Mode) {
        let allowed = self.allowed;
        let allows = |technique| allowed.contains(technique);
        let (wants_cycles, wants_chains) = match mode {
            Mode::X => {
                (allows(Technique::XCycle), allows(Technique::ForcingXChain) || allows(Technique::TurbotFish))
            }
            Mode::Y => (allows(Technique::YCycle), false),
            Mode::Xy => (allows(Technique::BidirectionalCycle), allows(Technique::ForcingChain)),
        };
        if !wants_cycles && !wants_chains {
            return;
        }
        self.inferences += reach.explore(self.geometry, self.cells, mode);
        self.bounds = [self.bound(mode, false), self.bound(mode, true)];
        let side = self.links.side;
        let is_chain = |length: usize| length > 0 && allows(technique(mode, false, length));
        if wants_chains {
            let is_open = |id: u16| self.cells.candidates(usize::from(id) / side).count_ones() > 1;
            let lengths = |state: usize| reach.chains[state].iter().map(|&length| usize::from(length));
            let open = |state| lengths(state).zip(&reach.live).filter(|&(_, &id)| is_open(id));
            let chains = open(ON).chain(open(OFF)).map(|(length, _)| length);
            if let Some(shortest) = chains.filter(|&length| is_chain(length)).min() {
                // What is harder than the shortest chain is of no use.
                let key = Self::key(mode, false, shortest);
                let is_harder = |&length: &usize| Self::key(mode, true, length) > key;
                let cycle = (4..usize::from(u16::MAX)).find(is_harder).unwrap_or(4) - 1;
                self.bounds = [self.bounds[0].min(shortest), self.bounds[1].min(cycle)];
            }
        }
        for (at, &id) in reach.live.iter().enumerate() {
            if self.inferences > self.most || self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
            {
                return;
            }
            let source = usize::from(id);
            if self.cells.candidates(source / side).count_ones() < 2 {
                continue;
            }
            let cycle = usize::from(reach.cycles[at]);
            if wants_cycles && (1..=self.bounds[1]).contains(&cycle) {
                self.cycles(reach, source, mode);
            }
            for state in [ON, OFF] {
                let length = usize::from(reach.chains[state][at]);
                if wants_chains && is_chain(length) && length <= self.bounds[0] {
                    self.chains(source, state == ON, mode);
                }
            }
        }
    }

    fn begin(&mut self) {
        self.buffers.stamp += 1;
        self.buffers.nodes.clear();
    }

    /// Cycles from a candidate that is on.
    pub(super) fn cycles(&mut self, reach: &Reach, source: usize, mode: Mode) {
        let bound = self.bounds[1];
        let closing = self.links.strong(source, mode);
        if bound < 4 || closing.is_empty() {
            return;
        }
        self.begin();
        let stamp = self.buffers.stamp;
        // The last off statement of a cycle, and the last but one, which is on.
        for &(last, _) in closing {
            self.buffers.last[usize::from(last)] = stamp;
            for &before in self.links.weak(usize::from(last), mode) {
                self.buffers.before_last[usize::from(before)] = stamp;
            }
        }
        self.buffers.nodes.push((source as u16, ROOT));
        self.buffers.on[source] = stamp;
        // Levels of on and off statements in turns; each is a range of nodes.
        let (mut start, mut length) = (0, 1);
        loop {
            let end = self.buffers.nodes.len();
            if start == end {
                return;
            }
            // A cycle of this length ends with the off statements of this level.
            length += 1;
            if length > bound {
                return;
            }
            // The bound may fall while cycles are found.
            let is_last_level = length + 2 > bound;
            for at in start..end {
                let id = usize::from(self.buffers.nodes[at].0);
                let may_close = length > 2 && self.buffers.before_last[id] == stamp;
                if is_last_level && !may_close {
                    continue;
                }
                let weak = self.links.weak(id, mode);
                self.inferences += weak.len() as u64;
                for &next in weak {
                    let closes = may_close && self.buffers.last[usize::from(next)] == stamp;
                    let is_new = |&(on, _): &(u16, u8)| self.buffers.on[usize::from(on)] != stamp;
                    let is_useful =
                        !is_last_level && self.links.strong(usize::from(next), mode).iter().any(is_new);
                    if (closes || is_useful) && !self.is_ancestor(at, next) {
                        self.buffers.nodes.push((next, at as u32));
                        if closes {
                            self.close_cycle(self.buffers.nodes.len() - 1, length, mode);
                        }
                    }
                }
            }
            if is_last_level {
                return;
            }
            length += 1;
            start = end;
            let end = self.buffers.nodes.len();
            for at in start..end {
                let id = usize::from(self.buffers.nodes[at].0);
                for &(next, _) in self.links.strong(id, mode) {
                    // What does not come back soon enough is of no use.
                    let left = bound.saturating_sub(length - 1);
                    if self.buffers.on[usize::from(next)] != stamp
                        && reach.leads_on(next, source as u16, left)
                    {
                        self.buffers.on[usize::from(next)] = stamp;
                        self.buffers.nodes.push((next, at as u32));
                    }
                }
            }
            start = end;
        }
    }

    /// Whether an off statement is among those that an on statement rests on.
    fn is_ancestor(&self, node: usize, off: u16) -> bool {
        let nodes = &self.buffers.nodes;
        let mut at = nodes[node].1;
        while at != ROOT {
            let (id, parent) = nodes[at as usize];
            if id == off {
                return true;
            }
            // The next one is on, so it has one before it or is the beginning.
            at = nodes[parent as usize].1;
        }
        false
    }

    /// Looks at a cycle of `complexity` statements whose last off statement is a node.
    fn close_cycle(&mut self, last: usize, complexity: usize, mode: Mode) {
        let key = Self::key(mode, true, complexity);
        if self.best.is_some_and(|best| key >= best.key) {
            return;
        }
        let (geometry, side) = (self.geometry, self.links.side);
        // From the last off statement back to the first on statement.
        let mut path: Vec<u16> = Vec::with_capacity(complexity + 1);
        let mut at = last as u32;
        while at != ROOT {
            let (id, parent) = self.buffers.nodes[at as usize];
            path.push(id);
            at = parent;
        }
        let split = |id: u16| (usize::from(id) / side, usize::from(id) % side);
        let in_cycle = |cell: usize| path.iter().any(|&id| split(id).0 == cell);
        let gone = &mut self.buffers.cycle_gone;
        gone.clear();
        // The first on statement is the one that the cycle comes back to, so it comes first.
        let first = path[path.len() - 1];
        let is_on = path.iter().skip(1).step_by(2).copied();
        for on in std::iter::once(first).chain(is_on.take(path.len() / 2 - 1)) {
            let (cell, digit) = split(on);
            for &peer in geometry.peers(cell) {
                let seen = usize::from(peer);
                if self.cells.candidates(seen) & (1 << digit) != 0 && !in_cycle(seen) {
                    let sees_off = |&off: &u16| {
                        let (cell, other) = split(off);
                        other == digit && geometry.sees(cell, seen)
                    };
                    let mark = (peer, digit as u8);
                    if path.iter().step_by(2).any(sees_off) && !gone.contains(&mark) {
                        gone.push(mark);
                    }
                }
            }
        }
        if gone.is_empty() {
            return;
        }
        let technique = technique(mode, true, complexity);
        if let Some((collector, _)) = &mut self.all {
            let gone: Vec<u16> =
                gone.iter().map(|&(cell, digit)| cell * side as u16 + u16::from(digit)).collect();
            let path = std::iter::once(first).chain(path.iter().copied());
            collector.cycle((key, technique, mode), path, first, &gone);
            return;
        }
        self.buffers.best_gone.clone_from(&self.buffers.cycle_gone);
        self.buffers.best_path.clear();
        self.buffers.best_path.push(first);
        self.buffers.best_path.extend(path);
        self.improve(BestChain { key, technique, ends_on: true, is_cycle: true, mode });
    }

    /// Chains from a candidate that is on, or off, to its contrary.
    pub(super) fn chains(&mut self, source: usize, is_on: bool, mode: Mode) {
        self.begin();
        let stamp = self.buffers.stamp;
        self.buffers.nodes.push((source as u16, ROOT));
        // The last statement but one of a chain.
        if is_on {
            self.buffers.on[source] = stamp;
            for &last in self.links.weak(source, mode) {
                self.buffers.last[usize::from(last)] = stamp;
            }
        } else {
            self.buffers.off[source] = stamp;
            for &(last, _) in self.links.strong(source, mode) {
                self.buffers.last[usize::from(last)] = stamp;
            }
        }
        let (mut start, mut length, mut is_on_level) = (0, 1, is_on);
        loop {
            let end = self.buffers.nodes.len();
            if start == end {
                return;
            }
            length += 1;
            if is_on_level == is_on && length > 2 {
                let is_last = |&at: &usize| self.buffers.last[usize::from(self.buffers.nodes[at].0)] == stamp;
                if let Some(at) = (start..end).find(is_last) {
                    self.close_chain(source as u16, at, length, is_on, mode);
                    return;
                }
            }
            let SingleBuffers { nodes, on, off, .. } = &mut *self.buffers;
            for at in start..end {
                let id = usize::from(nodes[at].0);
                if is_on_level {
                    let weak = self.links.weak(id, mode);
                    self.inferences += weak.len() as u64;
                    for &next in weak {
                        let turned = &mut off[usize::from(next)];
                        // What turns nothing on leads nowhere.
                        if *turned != stamp && self.links.strong_count[usize::from(next)].0 > 0 {
                            *turned = stamp;
                            nodes.push((next, at as u32));
                        }
                    }
                } else {
                    for &(next, _) in self.links.strong(id, mode) {
                        let turned = &mut on[usize::from(next)];
                        if *turned != stamp {
                            *turned = stamp;
                            nodes.push((next, at as u32));
                        }
                    }
                }
            }
            (start, is_on_level) = (end, !is_on_level);
        }
    }

    /// Looks at a chain of `complexity` statements whose last but one is a node.
    fn close_chain(&mut self, source: u16, last: usize, complexity: usize, was_on: bool, mode: Mode) {
        let key = Self::key(mode, false, complexity);
        let technique = technique(mode, false, complexity);
        if self.best.is_some_and(|best| key >= best.key) || !self.allowed.contains(technique) {
            return;
        }
        let path = &mut self.buffers.best_path;
        path.clear();
        path.push(source);
        let mut at = last as u32;
        while at != ROOT {
            let (id, parent) = self.buffers.nodes[at as usize];
            path.push(id);
            at = parent;
        }
        if let Some((collector, marks)) = &mut self.all {
            collector.chain((key, technique, mode), !was_on, path, marks);
            return;
        }
        self.improve(BestChain { key, technique, ends_on: !was_on, is_cycle: false, mode });
    }
}

/// Writes the best step.
fn write(hunt: &mut Hunt<'_>, work: &Workspace, best: &BestChain) {
    let position = hunt.position;
    let side = position.geometry.side;
    let mark = |id: u16| Mark::new(usize::from(id) / side, usize::from(id) % side);
    hunt.found.begin(best.technique);
    hunt.found.rating = tenths(best.key.difficulty);
    let path = &work.single.best_path;
    let target = mark(path[0]);
    let (cell, digit) = (usize::from(target.cell), usize::from(target.digit));
    if best.is_cycle {
        let gone = work.single.best_gone.iter();
        hunt.found.eliminations.extend(gone.map(|&(cell, digit)| Mark { cell, digit }));
    } else if best.ends_on {
        hunt.found.placement = Some(target);
        let others = position.candidates[cell] & !(1 << digit);
        hunt.found.eliminations.extend(bits(others).map(|other| Mark::new(cell, other)));
    } else {
        hunt.found.eliminations.push(target);
    }
    if !hunt.explains {
        return;
    }
    let links = &work.links;
    let mut chain: Vec<RawImplication> = Vec::with_capacity(path.len());
    let mut digits = 0;
    let mut is_on = best.ends_on == (path.len() % 2 == 1);
    for (at, &id) in path.iter().rev().enumerate() {
        let before = at.checked_sub(1).map(|before| path[path.len() - 1 - before]);
        let why = before
            .map_or(Why::Assumption, |before| reason(position.geometry, links, best.mode, before, id, is_on));
        digits |= 1 << (usize::from(id) % side);
        chain.push(RawImplication {
            mark: mark(id),
            is_on,
            parents: before.map(|_| at - 1).into_iter().collect(),
            why,
        });
        is_on = !is_on;
    }
    for implication in &chain {
        if !hunt.found.cells.contains(&implication.mark.cell) {
            hunt.found.cells.push(implication.mark.cell);
        }
        if !hunt.found.candidates.contains(&implication.mark) {
            hunt.found.candidates.push(implication.mark);
        }
    }
    hunt.found.digits = digits;
    hunt.found.chains.push(chain);
}

/// Why a statement follows from the one before it.
pub(super) fn reason(geometry: &Geometry, links: &Links, mode: Mode, from: u16, to: u16, is_on: bool) -> Why {
    let side = links.side;
    let (from_cell, to_cell) = (usize::from(from) / side, usize::from(to) / side);
    let house_of = |kind: usize| geometry.public_house(geometry.house(to_cell, kind));
    if is_on {
        let strong = links.strong(usize::from(from), mode).iter().find(|&&(next, _)| next == to);
        return match strong {
            Some(&(_, kind)) if kind != IN_CELL => Why::LastPlace(house_of(usize::from(kind))),
            _ => Why::LastDigit,
        };
    }
    if from_cell == to_cell {
        return Why::OneDigit;
    }
    let shared =
        (0..super::KINDS).find(|&kind| geometry.house(from_cell, kind) == geometry.house(to_cell, kind));
    shared.map_or(Why::OneDigit, |kind| Why::OnceIn(house_of(kind)))
}
