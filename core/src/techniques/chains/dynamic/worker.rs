//! The work on one closure: what follows from an assumption, step by step.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{DynamicBuffers, find_all};
use crate::techniques::chains::advanced::{self, Advance};
use crate::techniques::chains::closure::{Closure, ROW, Reached};
use crate::techniques::chains::marks::{CANDIDATES, Marks, OFF, ON, SIDE, has};
use crate::techniques::chains::nested::{self, Nested};
use crate::techniques::chains::{IN_CELL, known_places};
use crate::techniques::geometry::{Geometry, KINDS};
use crate::techniques::position::bits;
use crate::techniques::technique::Family;

const STATEMENTS: usize = 2 * CANDIDATES;
/// Words of a set of statements.
const WIDE: usize = STATEMENTS.div_ceil(64);

/// The inferences that take as long as one in the graph of links.
const COST_OF_LINK: u64 = 5;

/// Which implications are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::techniques::chains) struct Rules {
    /// Links of one digit only.
    pub is_nishio: bool,
    /// What is applied to what is left: nothing for 0; locked candidates, pairs and X-wings for 1;
    /// after them chains without branches for 2, those and multiple chains for 3, dynamic chains
    /// for 4.
    pub level: u8,
    /// The level of the dynamic chains that are nested in those of level 4.
    pub nested_level: u8,
}

impl Rules {
    /// Whether whole chains are nested in the chains.
    pub(super) const fn has_nested(self) -> bool {
        self.level > 1
    }
}

/// What all closures of a search have in common.
#[derive(Clone, Copy, Debug)]
pub(in crate::techniques::chains) struct Scene<'a> {
    pub geometry: &'a Geometry,
    /// The blank cells of each house.
    pub blanks_in: &'a [u8],
    pub rules: Rules,
    /// The most inferences that may be made.
    pub most: u64,
    /// Raised when the caller wants to stop.
    pub cancel: Option<&'a AtomicBool>,
}

impl Scene<'_> {
    /// The same to follow once more what has been found: that ends as it did, whatever is left and
    /// whoever wants to stop meanwhile.
    pub(super) const fn without_limits(self) -> Self {
        Self { most: u64::MAX, cancel: None, ..self }
    }
}

/// What came of turning a candidate off.
enum Turned {
    /// It was not off before, and rests on so many statements.
    New(u16),
    Known,
    /// It is on.
    Contradiction,
}

/// What came of applying techniques.
enum Advanced {
    /// There are new statements.
    New,
    /// Nothing follows, or nothing that is of use.
    Done,
}

/// The work on one closure.
#[derive(Debug)]
pub(in crate::techniques::chains) struct Worker {
    pub source: Marks,
    marks: Marks,
    /// The nodes that each node rests on, `WIDE` words a node.
    ancestors: Vec<u64>,
    pub inferences: u64,
    pub nested: Nested,
    advances: Vec<Advance>,
    advance_parents: Vec<u16>,
    finder: Box<nested::Finder>,
    /// The search for dynamic chains that are nested.
    inner: Option<Box<DynamicBuffers>>,
}

impl Default for Worker {
    fn default() -> Self {
        Self {
            source: Marks::default(),
            marks: Marks::default(),
            ancestors: vec![0; (STATEMENTS + 2) * WIDE],
            inferences: 0,
            nested: Nested::default(),
            advances: Vec::new(),
            advance_parents: Vec::new(),
            finder: Box::default(),
            inner: None,
        }
    }
}

impl Worker {
    /// Adds a node whose parents have just been pushed, from `parents` on.
    fn node(
        &mut self,
        closure: &mut Closure,
        (id, state): (u16, usize),
        cause: u8,
        parents: usize,
        nested: Option<u32>,
    ) -> u16 {
        let number = closure.nodes.len();
        let words = number / 64 + 1;
        let (before, rest) = self.ancestors.split_at_mut(number * WIDE);
        let own = &mut rest[..words];
        own.fill(0);
        for &parent in &closure.parents[parents..] {
            let parent = usize::from(parent);
            let of_parent = &before[parent * WIDE..][..=parent / 64];
            for (word, other) in own.iter_mut().zip(of_parent) {
                *word |= other;
            }
        }
        own[number / 64] |= 1 << (number % 64);
        let count = own.iter().map(|word| word.count_ones()).sum::<u32>() as u16;
        let mut cost = u32::from(count);
        if nested.is_some() || !closure.nested.is_empty() {
            cost += self.nest(closure, parents, nested);
        }
        closure.nodes.push(Reached { id, is_on: state == ON, cause, parents: parents as u32, count, cost });
        number as u16
    }

    /// Notes which nested chains the next node rests on. Returns their statements.
    #[cold]
    fn nest(&self, closure: &mut Closure, parents: usize, nested: Option<u32>) -> u32 {
        if closure.nested.is_empty() {
            closure.rows_from = closure.nodes.len();
        }
        let mut row = [0_u64; ROW];
        for &parent in &closure.parents[parents..] {
            let of_parent = usize::from(parent).checked_sub(closure.rows_from);
            if let Some(of_parent) = of_parent {
                for (word, other) in row.iter_mut().zip(closure.rows[of_parent]) {
                    *word |= other;
                }
            }
        }
        if let Some(number) = nested {
            let known = closure.nested.iter().rposition(|&known| known == number);
            let at = known.unwrap_or(closure.nested.len());
            if known.is_none() {
                closure.nested.push(number);
            }
            row[at / 64] |= 1 << (at % 64);
        }
        closure.rows.push(row);
        let node = closure.rows_from + closure.rows.len() - 1;
        let used = closure.nested_in(node as u16);
        used.map(|number| self.nested.complexities[number as usize]).sum()
    }

    /// Adds a statement to the closure.
    fn add(
        &mut self,
        closure: &mut Closure,
        (id, state): (u16, usize),
        cause: u8,
        parents: usize,
        nested: Option<u32>,
    ) -> u16 {
        let number = self.node(closure, (id, state), cause, parents, nested);
        closure.node_of[state][usize::from(id)] = number;
        closure.lists[state].push(id);
        closure.sets[state][usize::from(id) / 64] |= 1 << (id % 64);
        closure.nodes[usize::from(number)].count
    }

    /// Ends with a contradiction between a statement whose parents have just been pushed and one
    /// that has been reached before.
    fn contradict(&mut self, closure: &mut Closure, (id, state): (u16, usize), cause: u8, parents: usize) {
        let new = self.node(closure, (id, state), cause, parents, None);
        let old = closure.node(id, 1 - state);
        closure.contradiction = Some(if state == ON { [new, old] } else { [old, new] });
    }

    /// Follows an assumption to its end, or to a contradiction, or until nothing is left to follow
    /// that rests on fewer than `bound` statements.
    pub(in crate::techniques::chains) fn run(
        &mut self,
        scene: &Scene<'_>,
        assumption: (u16, usize),
        bound: usize,
        closure: &mut Closure,
    ) {
        let (geometry, rules) = (scene.geometry, scene.rules);
        self.marks.clone_from(&self.source);
        closure.clear();
        self.add(closure, assumption, IN_CELL, 0, None);
        let (mut next_on, mut next_off) = (0, 0);
        // Statements that wait to be followed and rest on few enough.
        let mut short = 1_usize;
        let is_short = |count: u16| usize::from(usize::from(count) < bound);
        // Techniques may find something short in what is long, so with them there is no early end.
        while short > 0 || rules.level > 0 {
            if let Some(&id) = closure.lists[ON].get(next_on) {
                next_on += 1;
                let own = closure.node(id, ON);
                short = short.saturating_sub(is_short(closure.nodes[usize::from(own)].count));
                let (cell, digit) = (usize::from(id) / SIDE, usize::from(id) % SIDE);
                if !rules.is_nishio {
                    for other in bits(u32::from(self.marks.cells[cell] & !(1 << digit))) {
                        let next = (cell * SIDE + other) as u16;
                        match self.turn_off(closure, next, own, IN_CELL) {
                            Turned::New(count) => short += is_short(count),
                            Turned::Known => {}
                            Turned::Contradiction => return,
                        }
                    }
                }
                for kind in 0..KINDS {
                    let house = geometry.house(cell, kind);
                    let known = 1 << geometry.position_in[cell][kind] | known_places(geometry, cell, kind);
                    for place in bits(u32::from(self.marks.places[house][digit]) & !known) {
                        let other = geometry.cell_at(house, place);
                        match self.turn_off(closure, (other * SIDE + digit) as u16, own, kind as u8) {
                            Turned::New(count) => short += is_short(count),
                            Turned::Known => {}
                            Turned::Contradiction => return,
                        }
                    }
                }
            } else if let Some(&id) = closure.lists[OFF].get(next_off) {
                next_off += 1;
                short =
                    short.saturating_sub(is_short(closure.nodes[usize::from(closure.node(id, OFF))].count));
                match self.follow_off(geometry, rules, closure, id, bound) {
                    Some(more) => short += more,
                    None => return,
                }
            } else if rules.level == 0 {
                return;
            } else {
                match self.advance(scene, bound, closure) {
                    Advanced::New => {}
                    Advanced::Done => return,
                }
            }
        }
    }

    /// Turns a candidate off.
    #[inline]
    fn turn_off(&mut self, closure: &mut Closure, id: u16, parent: u16, cause: u8) -> Turned {
        self.inferences += 1;
        let is_on = has(&closure.sets[ON], id);
        if !is_on && has(&closure.sets[OFF], id) {
            return Turned::Known;
        }
        let parents = closure.parents.len();
        closure.parents.push(parent);
        if is_on {
            self.contradict(closure, (id, OFF), cause, parents);
            return Turned::Contradiction;
        }
        Turned::New(self.add(closure, (id, OFF), cause, parents, None))
    }

    /// Turns on what a candidate that is off leaves alone. Returns how many statements are new and
    /// short, or `None` at a contradiction.
    fn follow_off(
        &mut self,
        geometry: &Geometry,
        rules: Rules,
        closure: &mut Closure,
        id: u16,
        bound: usize,
    ) -> Option<usize> {
        let (cell, digit) = (usize::from(id) / SIDE, usize::from(id) % SIDE);
        self.inferences += 4;
        // Candidate, cause.
        let mut single = [(0_u16, 0_u8); 1 + KINDS];
        let mut count = 0;
        let here = self.marks.cells[cell];
        if !rules.is_nishio && here.count_ones() == 2 {
            let other = (here & !(1 << digit)).trailing_zeros() as usize;
            single[0] = ((cell * SIDE + other) as u16, IN_CELL);
            count = 1;
        }
        for kind in 0..KINDS {
            let house = geometry.house(cell, kind);
            let places = self.marks.places[house][digit] & !(1 << geometry.position_in[cell][kind]);
            if places.is_power_of_two() {
                let other = geometry.cell_at(house, places.trailing_zeros() as usize);
                let next = (other * SIDE + digit) as u16;
                if !single[..count].iter().any(|&(known, _)| known == next) {
                    single[count] = (next, kind as u8);
                    count += 1;
                }
            }
        }
        // The premises are what was gone before this one goes.
        let mut short = 0;
        let own = closure.node(id, OFF);
        for &(next, cause) in &single[..count] {
            let is_off = has(&closure.sets[OFF], next);
            if !is_off && has(&closure.sets[ON], next) {
                continue;
            }
            let parents = closure.parents.len();
            closure.parents.push(own);
            if cause == IN_CELL {
                let gone = self.source.cells[cell] & !here;
                for other in bits(u32::from(gone)) {
                    closure.parents.push(closure.node_of[OFF][cell * SIDE + other]);
                }
            } else {
                let house = geometry.house(cell, usize::from(cause));
                let gone = self.source.places[house][digit] & !self.marks.places[house][digit];
                for place in bits(u32::from(gone)) {
                    let other = geometry.cell_at(house, place);
                    closure.parents.push(closure.node_of[OFF][other * SIDE + digit]);
                }
            }
            if is_off {
                self.contradict(closure, (next, ON), cause, parents);
                return None;
            }
            let reached = self.add(closure, (next, ON), cause, parents, None);
            short += usize::from(usize::from(reached) < bound);
        }
        self.marks.remove(geometry, cell, digit);
        Some(short)
    }

    /// Whether the work has to stop.
    pub(super) fn is_over(&self, scene: &Scene<'_>) -> bool {
        self.inferences > scene.most || scene.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }

    /// Applies techniques to what is left.
    fn advance(&mut self, scene: &Scene<'_>, bound: usize, closure: &mut Closure) -> Advanced {
        self.inferences += 200;
        if self.is_over(scene) {
            return Advanced::Done;
        }
        self.advances.clear();
        self.advance_parents.clear();
        let rules = scene.rules;
        advanced::find(
            scene.geometry,
            scene.blanks_in,
            &self.source,
            &self.marks,
            &mut self.advances,
            &mut self.advance_parents,
        );
        let is_nested = self.advances.is_empty() && rules.has_nested();
        if is_nested {
            self.advance_by_chains(scene);
        }
        let mut cheapest = None;
        for at in 0..self.advances.len() {
            let Advance { id, technique, parents: (from, to), nested } = self.advances[at];
            if has(&closure.sets[OFF], id) {
                continue;
            }
            let parents = closure.parents.len();
            for index in from..to {
                let premise = self.advance_parents[index];
                closure.parents.push(closure.node_of[OFF][usize::from(premise)]);
            }
            let cause = IN_CELL + 1 + technique as u8;
            self.add(closure, (id, OFF), cause, parents, nested);
            let cost = closure.cost(closure.node(id, OFF));
            cheapest = Some(cheapest.map_or(cost, |cheapest: usize| cheapest.min(cost)));
        }
        // All that can be found from here on rests on one of the new statements, because what does
        // not would have been found before: that is, if nothing is tried after this technique.
        let is_last = |advance: &Advance| rules.level == 2 || advance.technique.family() != Family::Chains;
        let is_all = is_nested && self.advances.iter().all(is_last);
        match cheapest {
            Some(cheapest) if !(is_all && cheapest + 1 > bound) => Advanced::New,
            _ => Advanced::Done,
        }
    }

    /// Looks for chains in what is left.
    fn advance_by_chains(&mut self, scene: &Scene<'_>) {
        let rules = scene.rules;
        let mut sink = nested::Sink {
            source: &self.source,
            marks: &self.marks,
            advances: &mut self.advances,
            premises: &mut self.advance_parents,
            nested: &mut self.nested,
        };
        if rules.level < 4 {
            let left = scene.most.saturating_sub(self.inferences);
            let inferences = self.finder.find(scene.geometry, rules.level > 2, left, &mut sink);
            self.inferences += COST_OF_LINK * inferences;
            return;
        }
        let inner = self.inner.get_or_insert_with(Box::default);
        let scene = Scene {
            rules: Rules { is_nishio: false, level: rules.nested_level, nested_level: 0 },
            most: scene.most.saturating_sub(self.inferences),
            ..*scene
        };
        self.inferences += find_all(inner, &scene, &mut sink);
    }
}
