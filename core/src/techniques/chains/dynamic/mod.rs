//! Nishio and dynamic forcing chains: what an assumption leads to when everything counts that it
//! has turned off so far.
//!
//! | kind | reasoning |
//! |---|---|
//! | contradiction | an assumption makes a candidate both on and off, so it is wrong |
//! | double | a candidate is the same whether another one is on or off |
//! | cell | a candidate is the same for every candidate of a cell |
//! | region | a candidate is the same for every place of a digit in a house |
//!
//! Nishio chains know links of one digit and contradictions only.

pub(super) mod worker;

use super::closure::Closure;
use super::consequences::Consequences;
use super::marks::{CANDIDATES, CELLS, OFF, ON, SIDE, WORDS, has};
use super::multiple::conclude;
use super::nested::{self, Nested};
use super::{IN_CELL, Workspace, difficulty, tenths};
use crate::techniques::geometry::KINDS;
use crate::techniques::hunt::{Hunt, Mark};
use crate::techniques::position::bits;
use crate::techniques::step::Kind;
use crate::techniques::technique::Technique;

use worker::{Rules, Scene, Worker};

/// The buffers of the search.
#[derive(Debug, Default)]
pub(super) struct DynamicBuffers {
    worker: Worker,
    consequences: Consequences,
    /// The closure of each candidate when it is on.
    on: Vec<Closure>,
    /// The closure of one candidate when it is off.
    off: Closure,
    /// The nested chains that have been counted, and the number of the count.
    counted: Vec<u32>,
    count: u32,
    /// The easiest step for each candidate, if all are wanted.
    all: Vec<Option<ProvenStep>>,
    /// The candidates that have one.
    found: Vec<u16>,
}

/// What a step rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    /// The candidate is on, or off, and that leads to a contradiction.
    Contradiction {
        id: u16,
        is_on: bool,
    },
    Double {
        id: u16,
    },
    Cell {
        cell: usize,
    },
    Region {
        house: usize,
        digit: usize,
    },
}

/// The best step so far: the fewest statements, then the kind, then the first.
#[derive(Clone, Copy, Debug)]
struct ProvenStep {
    complexity: usize,
    sort: u8,
    order: u32,
    proof: Proof,
    target: u16,
    is_on: bool,
}

impl ProvenStep {
    const fn technique(level: u8) -> Technique {
        if level == 0 { Technique::DynamicForcingChains } else { Technique::DynamicForcingChainsPlus }
    }
}

/// A contradiction of one digit.
pub(in crate::techniques) fn nishio(hunt: &mut Hunt<'_>, work: &mut Workspace) -> bool {
    let rules = Rules { is_nishio: true, level: 0, nested_level: 0 };
    search(hunt, work, Technique::NishioForcingChains, rules)
}

/// The rules of dynamic chains with techniques of a level inside.
const fn rules(level: u8) -> Rules {
    Rules { is_nishio: false, level, nested_level: 0 }
}

/// The easiest of dynamic chains.
pub(in crate::techniques) fn dynamic(hunt: &mut Hunt<'_>, work: &mut Workspace) -> bool {
    search(hunt, work, Technique::DynamicForcingChains, rules(0))
}

/// The easiest of dynamic chains with other techniques inside.
pub(in crate::techniques) fn dynamic_plus(hunt: &mut Hunt<'_>, work: &mut Workspace) -> bool {
    search(hunt, work, Technique::DynamicForcingChainsPlus, rules(1))
}

/// The easiest of dynamic chains with chains without branches inside.
pub(in crate::techniques) fn nested(hunt: &mut Hunt<'_>, work: &mut Workspace) -> bool {
    search(hunt, work, Technique::NestedForcingChains, rules(2))
}

/// The easiest of dynamic chains with multiple chains inside.
pub(in crate::techniques) fn nested_multiple(hunt: &mut Hunt<'_>, work: &mut Workspace) -> bool {
    search(hunt, work, Technique::NestedMultipleChains, rules(3))
}

/// The easiest of dynamic chains with dynamic chains inside.
pub(in crate::techniques) fn nested_dynamic(hunt: &mut Hunt<'_>, work: &mut Workspace) -> bool {
    (0..3).any(|nested_level| {
        let rules = Rules { nested_level, ..rules(4) };
        hunt.stopped.is_none() && search(hunt, work, Technique::NestedDynamicChains, rules)
    })
}

/// Searches for the step with the fewest statements.
fn search(hunt: &mut Hunt<'_>, work: &mut Workspace, technique: Technique, rules: Rules) -> bool {
    let position = hunt.position;
    let buffers = &mut work.dynamic;
    buffers.worker.source.load(position);
    buffers.worker.nested.clear();
    buffers.on.resize_with(CANDIDATES, Closure::default);
    let mut scene = Scene {
        geometry: position.geometry,
        blanks_in: &position.blanks_in,
        rules,
        most: hunt.budget.left,
        cancel: hunt.budget.cancel,
    };
    let mut search = DynamicSearch::new(scene, false, buffers);
    search.limit();
    for cell in 0..CELLS {
        search.search_cell(cell);
        let inferences = std::mem::take(&mut search.buffers.worker.inferences);
        if !hunt.spend(inferences) {
            break;
        }
        scene.most = hunt.budget.left;
        search.scene.most = scene.most;
    }
    let best = search.best;
    let is_found = best.is_some() && hunt.stopped.is_none();
    if let Some(best) = best.filter(|_| is_found) {
        write(hunt, technique, &scene.without_limits(), &best, buffers);
    }
    is_found
}

/// Finds the easiest step for each candidate in what an assumption leaves. Returns the number of
/// inferences.
pub(super) fn find_all(buffers: &mut DynamicBuffers, scene: &Scene<'_>, sink: &mut nested::Sink<'_>) -> u64 {
    buffers.worker.source.clone_from(sink.marks);
    buffers.worker.nested.clear();
    buffers.worker.inferences = 0;
    buffers.on.resize_with(CANDIDATES, Closure::default);
    buffers.all.resize(CANDIDATES, None);
    for id in buffers.found.drain(..) {
        buffers.all[usize::from(id)] = None;
    }
    let mut search = DynamicSearch::new(*scene, true, buffers);
    for cell in 0..CELLS {
        search.search_cell(cell);
        if search.buffers.worker.is_over(scene) {
            return search.buffers.worker.inferences;
        }
    }
    search.write_all(sink);
    buffers.worker.inferences
}

struct DynamicSearch<'a, 's> {
    scene: Scene<'s>,
    /// The most statements of a step.
    bound: usize,
    best: Option<ProvenStep>,
    /// The steps that have been proposed.
    order: u32,
    /// Whether the easiest step for each candidate is wanted.
    wants_all: bool,
    buffers: &'a mut DynamicBuffers,
}

impl<'a, 's> DynamicSearch<'a, 's> {
    /// Forgets what is known of another position, and finds out where closures can show something.
    fn new(scene: Scene<'s>, wants_all: bool, buffers: &'a mut DynamicBuffers) -> Self {
        buffers.on.iter_mut().for_each(|closure| closure.is_known = false);
        if scene.rules.level == 0 {
            let DynamicBuffers { worker, consequences, .. } = &mut *buffers;
            worker.inferences += consequences.explore(scene.geometry, &worker.source, scene.rules.is_nishio);
        }
        Self { scene, bound: usize::MAX, best: None, order: 0, wants_all, buffers }
    }

    /// Limits the search by the contradiction with the fewest statements, if it is known where they
    /// are: nothing longer is of use.
    fn limit(&mut self) {
        if self.scene.rules.level > 0 || self.scene.rules.is_nishio {
            return;
        }
        for cell in 0..CELLS {
            let candidates = self.candidates(cell);
            for digit in bits(candidates).filter(|_| candidates.count_ones() > 1) {
                self.refute((cell * SIDE + digit) as u16, false);
            }
        }
        (self.best, self.order) = (None, 0);
    }

    /// Whether a candidate that is on or off may lead to a contradiction.
    fn may_be_wrong(&self, id: u16, state: usize) -> bool {
        self.scene.rules.level > 0 || self.buffers.consequences.is_wrong(id, state)
    }

    fn candidates(&self, cell: usize) -> u32 {
        u32::from(self.buffers.worker.source.cells[cell])
    }

    /// Looks at all steps that begin in a cell, and those of houses in which it comes first.
    fn search_cell(&mut self, cell: usize) {
        let geometry = self.scene.geometry;
        let candidates = self.candidates(cell);
        if candidates.count_ones() < 2 {
            return;
        }
        for digit in bits(candidates) {
            let id = (cell * SIDE + digit) as u16;
            self.binary(id, candidates.count_ones() > 2);
            if self.scene.rules.is_nishio {
                continue;
            }
            for kind in 0..KINDS {
                let house = geometry.house(cell, kind);
                let places = u32::from(self.buffers.worker.source.places[house][digit]);
                let first = places.trailing_zeros() as u8;
                if places.count_ones() > 1 && first == geometry.position_in[cell][kind] {
                    self.region(house, digit, places);
                }
            }
        }
        if !self.scene.rules.is_nishio {
            let sources: Vec<u16> = bits(candidates).map(|digit| (cell * SIDE + digit) as u16).collect();
            self.reduce(&sources, 5, Proof::Cell { cell });
        }
    }

    /// The statements of several chains, with those of chains nested in them; `None` if they are more
    /// than the bound.
    fn complexity<'c>(
        (nested, counted, count): (&Nested, &mut Vec<u32>, &mut u32),
        chains: impl Iterator<Item = (&'c Closure, u16)> + Clone,
        bound: usize,
    ) -> Option<usize> {
        let (mut flat, mut most_nested, mut total) = (0, 0, 0);
        for (closure, node) in chains.clone() {
            let (count, cost) = (closure.count(node), closure.cost(node));
            flat += count;
            total += cost;
            most_nested = most_nested.max(cost - count);
        }
        if flat + most_nested > bound {
            return None;
        }
        if total == flat || total - flat == most_nested {
            return Some(total);
        }
        // The same nested chain counts once.
        *count += 1;
        counted.resize(nested.complexities.len(), 0);
        let mut complexity = flat;
        for number in chains.flat_map(|(closure, node)| closure.nested_in(node)) {
            let counted = &mut counted[number as usize];
            if *counted != *count {
                *counted = *count;
                complexity += nested.complexities[number as usize] as usize;
            }
        }
        (complexity <= bound).then_some(complexity)
    }

    /// Proposes a step that several chains show.
    fn propose(&mut self, complexity: Option<usize>, sort: u8, proof: Proof, target: u16, is_on: bool) {
        let Some(complexity) = complexity else { return };
        let cell = usize::from(target) / SIDE;
        let candidates = self.candidates(cell);
        // A cell with one candidate has nothing to lose.
        if is_on && candidates.is_power_of_two() {
            return;
        }
        self.order += 1;
        let step = ProvenStep { complexity, sort, order: self.order, proof, target, is_on };
        let is_better = |best: &Option<ProvenStep>| {
            best.as_ref().is_none_or(|best| (complexity, sort) < (best.complexity, best.sort))
        };
        if !self.wants_all {
            if is_better(&self.best) {
                self.best = Some(step);
                // Nothing longer is of use any more.
                self.bound = complexity;
            }
            return;
        }
        let digit = 1 << (usize::from(target) % SIDE);
        let gone = if is_on { candidates & !digit } else { candidates & digit };
        for digit in bits(gone) {
            let best = &mut self.buffers.all[cell * SIDE + digit];
            if best.is_none() {
                self.buffers.found.push((cell * SIDE + digit) as u16);
            }
            if is_better(best) {
                *best = Some(step);
            }
        }
    }

    /// Computes the closure of a candidate that is on, once.
    fn know(&mut self, id: u16) {
        let closure = &mut self.buffers.on[usize::from(id)];
        if !closure.is_known {
            self.buffers.worker.run(&self.scene, (id, ON), self.bound, closure);
            let is_cut = self.scene.rules.level == 0 && self.buffers.consequences.is_wrong(id, ON);
            if is_cut && !self.scene.rules.is_nishio {
                self.buffers.consequences.learn(id, &closure.lists);
            }
        }
    }

    /// Contradictions of a candidate that is on, and off; computes both closures if they are wanted.
    fn refute(&mut self, id: u16, wants_both: bool) {
        if wants_both || self.may_be_wrong(id, ON) {
            self.know(id);
            self.contradiction(id, true);
        }
        if wants_both || self.may_be_wrong(id, OFF) {
            let DynamicBuffers { worker, off, .. } = &mut *self.buffers;
            worker.run(&self.scene, (id, OFF), self.bound, off);
            self.contradiction(id, false);
        }
    }

    /// Contradictions of a candidate, and what is the same whether it is on or off.
    fn binary(&mut self, id: u16, wants_double: bool) {
        let rules = self.scene.rules;
        let is_double =
            wants_double && !rules.is_nishio && (rules.level > 0 || self.buffers.consequences.is_double(id));
        self.refute(id, is_double);
        if !is_double {
            return;
        }
        for state in [ON, OFF] {
            for at in 0..self.buffers.on[usize::from(id)].lists[state].len() {
                let DynamicBuffers { worker, on, off, counted, count, .. } = &mut *self.buffers;
                let on = &on[usize::from(id)];
                let target = on.lists[state][at];
                if has(&off.sets[state], target) {
                    let chains = [on, off].into_iter().map(|closure| (closure, closure.node(target, state)));
                    let complexity = Self::complexity((&worker.nested, counted, count), chains, self.bound);
                    self.propose(complexity, 1, Proof::Double { id }, target, state == ON);
                }
            }
        }
    }

    /// Proposes what follows if the closure of a candidate ends in a contradiction.
    fn contradiction(&mut self, id: u16, is_on: bool) {
        let DynamicBuffers { worker, on, off, counted, count, .. } = &mut *self.buffers;
        let closure = if is_on { &on[usize::from(id)] } else { &*off };
        let Some(nodes) = closure.contradiction else { return };
        let chains = nodes.iter().map(|&node| (closure, node));
        let complexity = Self::complexity((&worker.nested, counted, count), chains, self.bound);
        self.propose(complexity, 7, Proof::Contradiction { id, is_on }, id, !is_on);
    }

    fn region(&mut self, house: usize, digit: usize, places: u32) {
        let geometry = self.scene.geometry;
        let sources: Vec<u16> =
            bits(places).map(|at| (geometry.cell_at(house, at) * SIDE + digit) as u16).collect();
        self.reduce(&sources, 6, Proof::Region { house, digit });
    }

    /// Looks for what follows from all of several candidates.
    fn reduce(&mut self, sources: &[u16], sort: u8, proof: Proof) {
        if self.scene.rules.level == 0 && !self.buffers.consequences.meet(sources) {
            return;
        }
        for &source in sources {
            self.know(source);
        }
        for state in [ON, OFF] {
            let mut common = self.buffers.on[usize::from(sources[0])].sets[state];
            for &source in &sources[1..] {
                let other = &self.buffers.on[usize::from(source)].sets[state];
                for (word, other) in common.iter_mut().zip(other) {
                    *word &= other;
                }
            }
            if common == [0; WORDS] {
                continue;
            }
            for at in 0..self.buffers.on[usize::from(sources[0])].lists[state].len() {
                let DynamicBuffers { worker, on, counted, count, .. } = &mut *self.buffers;
                let target = on[usize::from(sources[0])].lists[state][at];
                if has(&common, target) {
                    let chains = sources.iter().map(|&source| {
                        let closure = &on[usize::from(source)];
                        (closure, closure.node(target, state))
                    });
                    let complexity = Self::complexity((&worker.nested, counted, count), chains, self.bound);
                    self.propose(complexity, sort, proof, target, state == ON);
                }
            }
        }
    }

    /// Writes the easiest step for each candidate, the easiest first.
    fn write_all(&mut self, sink: &mut nested::Sink<'_>) {
        let geometry = self.scene.geometry;
        let scene = self.scene.without_limits();
        let mut steps: Vec<(ProvenStep, u16)> = Vec::with_capacity(self.buffers.found.len());
        for &id in &self.buffers.found {
            steps.extend(self.buffers.all[usize::from(id)].map(|step| (step, id)));
        }
        steps.sort_unstable_by_key(|&(step, id)| (step.complexity, step.sort, step.order, id));
        let technique = ProvenStep::technique(self.scene.rules.level);
        for same in steps.chunk_by(|(one, _), (other, _)| one.order == other.order) {
            let step = same[0].0;
            let state = if step.is_on { ON } else { OFF };
            let mut premises = nested::Premises::default();
            let mut fingerprint = nested::Fingerprint::new();
            let mut see = |closure: &Closure, node: u16, assumed: Option<(u16, u8)>| {
                closure.ancestors(node, |id, is_on, kind| {
                    fingerprint.statement(id, is_on);
                    if let Some(kind) = kind.filter(|_| is_on) {
                        premises.add(geometry, sink, id, kind);
                    }
                });
                if let Some((id, kind)) = assumed {
                    premises.add(geometry, sink, id, kind);
                }
                fingerprint.end();
            };
            let DynamicBuffers { worker, on, off, .. } = &mut *self.buffers;
            match step.proof {
                Proof::Contradiction { id, is_on } => {
                    if !is_on {
                        worker.run(&scene, (id, OFF), usize::MAX, off);
                    }
                    let closure = if is_on { &on[usize::from(id)] } else { &*off };
                    for node in closure.contradiction.into_iter().flatten() {
                        see(closure, node, None);
                    }
                }
                Proof::Double { id } => {
                    worker.run(&scene, (id, OFF), usize::MAX, off);
                    for closure in [&on[usize::from(id)], &*off] {
                        see(closure, closure.node(step.target, state), None);
                    }
                }
                Proof::Cell { cell } => {
                    for digit in bits(u32::from(sink.marks.cells[cell])) {
                        let id = cell * SIDE + digit;
                        see(&on[id], on[id].node(step.target, state), Some((id as u16, IN_CELL)));
                    }
                }
                Proof::Region { house, digit } => {
                    for at in bits(u32::from(sink.marks.places[house][digit])) {
                        let id = geometry.cell_at(house, at) * SIDE + digit;
                        let kind = (house / SIDE) as u8;
                        see(&on[id], on[id].node(step.target, state), Some((id as u16, kind)));
                    }
                }
            }
            let gone = same.iter().map(|&(_, id)| id);
            sink.add(technique, &premises, (fingerprint, step.complexity), gone);
        }
    }
}

/// Writes the best step.
fn write(
    hunt: &mut Hunt<'_>,
    technique: Technique,
    scene: &Scene<'_>,
    best: &ProvenStep,
    buffers: &mut DynamicBuffers,
) {
    let position = hunt.position;
    let geometry = position.geometry;
    let base = f64::from(technique.base_rating().tenths()) / 10.0;
    hunt.found.begin(technique);
    hunt.found.rating = tenths(difficulty(base, best.complexity));
    hunt.found.kind = match best.proof {
        Proof::Contradiction { .. } => Kind::Contradiction,
        Proof::Double { .. } => Kind::Double,
        Proof::Cell { .. } => Kind::Cell,
        Proof::Region { .. } => Kind::Region,
    };
    conclude(hunt, best.target, best.is_on);
    if !hunt.explains {
        return;
    }
    let DynamicBuffers { worker, off: closure, .. } = buffers;
    let state = if best.is_on { ON } else { OFF };
    let mut sources: Vec<u16> = Vec::new();
    match best.proof {
        Proof::Contradiction { id, is_on } => {
            worker.run(scene, (id, if is_on { ON } else { OFF }), usize::MAX, closure);
            let nodes = closure.contradiction.into_iter().flatten();
            hunt.found.chains = nodes.map(|node| closure.chain(geometry, node)).collect();
            sources.push(id);
        }
        Proof::Double { id } => {
            for assumed in [ON, OFF] {
                worker.run(scene, (id, assumed), usize::MAX, closure);
                hunt.found.chains.push(closure.chain(geometry, closure.node(best.target, state)));
            }
            sources.push(id);
        }
        Proof::Cell { cell } => {
            sources.extend(bits(position.candidates[cell]).map(|digit| (cell * SIDE + digit) as u16));
        }
        Proof::Region { house, digit } => {
            let places = bits(position.places(house, digit));
            sources.extend(places.map(|at| (geometry.cell_at(house, at) * SIDE + digit) as u16));
            hunt.found.houses.push(house as u16);
        }
    }
    if matches!(best.proof, Proof::Cell { .. } | Proof::Region { .. }) {
        for &source in &sources {
            worker.run(scene, (source, ON), usize::MAX, closure);
            hunt.found.chains.push(closure.chain(geometry, closure.node(best.target, state)));
        }
    }
    for source in sources {
        let mark = Mark::new(usize::from(source) / SIDE, usize::from(source) % SIDE);
        hunt.found.candidates.push(mark);
        if !hunt.found.cells.contains(&mark.cell) {
            hunt.found.cells.push(mark.cell);
        }
        hunt.found.digits |= 1 << mark.digit;
    }
}
