//! Which orders run: dynamic partial-order reduction by source sets, with sleep sets (Abdulla,
//! Aronis, Jonsson and Sagonas, POPL 2014, algorithm 1). Two steps *race* if they depend on each
//! other and no step between orders them. After each step, its races are looked for. At the earlier
//! step of a race, a split that leads to the reversed order is added to the splits to try there
//! (the source set), unless the set already has one that begins an equivalent order.
//!
//! With a bound of preemptions, the order that a source set leads to may exceed the bound although
//! an equivalent order does not. So all splits that lead to the later step are added, and also
//! where the run of steps with the earlier one began, since a switch there preempts nothing; and
//! there are no sleep sets (Coons, Musuvathi and McKinley, OOPSLA 2013).
//!
//! A split that sleeps in a poll is woken by a write. The poll that follows cannot precede that
//! write, so the two do not race. The poll before, which read the old value, races with it.
//!
//! Each order runs from the start; memory is the caller's to restore.

use std::rc::Rc;
use std::sync::Arc;

use super::clocks::{Clock, LaneClocks};
use crate::machine::{Footprint, Meeting, RunningLaunch, Stepped};
use crate::switches::{SplitId, Switch};

/// The most accesses of an order.
const MOST_STEPS: usize = 1 << 13;

/// Which orders are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    /// None, within a bound of preemptions if there is one: for tests.
    #[cfg_attr(not(test), expect(dead_code, reason = "what the others are compared with"))]
    None(Option<u32>),
    /// Those that are like another one.
    SourceSets,
    /// Likewise, and those with more preemptions than this.
    Preemptions(u32),
}

/// How an order ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// All blocks have, or a fault stopped the launch.
    Whole,
    /// It is like one that ran before.
    Redundant,
    TooLong,
}

/// A point where a split was chosen.
struct Node {
    /// The splits that could run, each with what its step would access.
    enabled: Vec<(u32, Arc<Footprint>)>,
    /// The split that the rule would choose.
    usual: u32,
    /// The split that ran before, if it could run on.
    running: Option<u32>,
    /// Preemptions before.
    preemptions: u32,
    /// The split that is chosen.
    current: u32,
    /// The splits that must be chosen here, in one order or another.
    backtrack: Vec<u32>,
    /// The splits that need not be: all orders with them are like one that ran.
    sleep: Vec<(u32, Arc<Footprint>)>,
}

impl Node {
    fn footprint(&self, split: u32) -> Option<&Arc<Footprint>> {
        self.enabled.iter().find(|(other, _)| *other == split).map(|(_, footprint)| footprint)
    }

    fn sleeps(&self, split: u32) -> bool {
        self.sleep.iter().any(|(other, _)| *other == split)
    }

    /// Preemptions after somebody went on.
    fn preemptions_with(&self, split: u32) -> u32 {
        self.preemptions + u32::from(self.running.is_some_and(|running| running != split))
    }

    fn add(&mut self, split: u32) {
        if !self.backtrack.contains(&split) {
            self.backtrack.push(split);
        }
    }

    fn add_all(&mut self) {
        self.backtrack = self.enabled.iter().map(|&(split, _)| split).collect();
    }
}

/// A step that was made.
struct Event {
    split: u32,
    /// Which of its split's steps it is, from 1.
    number: u32,
    footprint: Arc<Footprint>,
    /// What comes before it, itself included.
    clock: Rc<Clock>,
    woken: Vec<u32>,
    met: Vec<Meeting>,
}

impl Event {
    fn is_before(&self, clock: &Clock) -> bool {
        clock.of(self.split) >= self.number
    }
}

/// The orders of a launch.
pub(super) struct Search<'l> {
    pub launched: &'l RunningLaunch<'l>,
    reduction: Reduction,
    stepped: Stepped<'l>,
    /// Splits by number.
    ids: Vec<SplitId>,
    nodes: Vec<Node>,
    events: Vec<Event>,
    clocks: LaneClocks,
    /// The steps that woke splits that have not gone on since.
    wakers: Vec<(u32, usize)>,
}

impl<'l> Search<'l> {
    pub fn new(launched: &'l RunningLaunch<'l>, reduction: Reduction) -> Self {
        Self {
            launched,
            reduction,
            stepped: Stepped::new(launched),
            ids: Vec::new(),
            nodes: Vec::new(),
            events: Vec::new(),
            clocks: LaneClocks::new(launched.threads.div_ceil(32)),
            wakers: Vec::new(),
        }
    }

    pub fn stepped(&mut self) -> &mut Stepped<'l> {
        &mut self.stepped
    }

    /// Steps of the order that ran.
    pub fn steps(&self) -> u64 {
        self.stepped.steps
    }

    /// Runs an order: the first, or the one that [`backtrack`](Self::backtrack) has chosen.
    pub fn run(&mut self) -> Ended {
        self.clocks.clear();
        self.wakers.clear();
        if self.stepped.begin().is_err() {
            return Ended::Whole;
        }
        for depth in 0.. {
            if depth == MOST_STEPS {
                return Ended::TooLong;
            }
            if depth == self.nodes.len() {
                if self.stepped.ready().is_empty() {
                    return Ended::Whole;
                }
                let Some(node) = self.node() else { return Ended::Redundant };
                self.nodes.push(node);
            }
            let split = self.nodes[depth].current;
            let is_new = depth == self.events.len();
            if is_new {
                let Some(event) = self.event(depth) else { return Ended::Redundant };
                self.events.push(event);
            }
            let stepped = self.stepped.step(self.ids[split as usize]);
            // The launch has the reason if it stopped.
            let Ok(stepping) = stepped else { return Ended::Whole };
            if is_new {
                self.events[depth].woken = stepping.woken.iter().map(|&id| self.number(id)).collect();
                self.events[depth].met = stepping.met;
            }
            self.apply(depth);
        }
        Ended::TooLong
    }

    /// Chooses the next order. Returns whether there is one.
    pub fn backtrack(&mut self) -> bool {
        while let Some(last) = self.nodes.len().checked_sub(1) {
            self.events.truncate(last);
            let node = &mut self.nodes[last];
            if let Some(footprint) = node.footprint(node.current).cloned() {
                node.sleep.push((node.current, footprint));
            }
            let most = match self.reduction {
                Reduction::SourceSets | Reduction::None(None) => u32::MAX,
                Reduction::Preemptions(most) | Reduction::None(Some(most)) => most,
            };
            let next = node.backtrack.iter().copied().find(|&split| {
                node.footprint(split).is_some() && !node.sleeps(split) && node.preemptions_with(split) <= most
            });
            if let Some(next) = next {
                node.current = next;
                return true;
            }
            self.nodes.pop();
        }
        false
    }

    /// The switches of the order that ran.
    pub fn switches(&self) -> Vec<Switch> {
        let mut made = vec![0; self.ids.len()];
        let id = |split: u32| self.ids[split as usize];
        let switch = |node: &Node| {
            let switch = Switch { split: id(node.usual), access: made[node.usual as usize] + 1, to: id(node.current) };
            made[node.current as usize] += 1;
            (node.usual != node.current).then_some(switch)
        };
        self.nodes.iter().filter_map(switch).collect()
    }

    /// What orders that are alike have in common: which steps come before each step.
    #[cfg(test)]
    pub fn class(&self) -> Vec<(u32, u32, Vec<u32>)> {
        let splits = 0..self.ids.len() as u32;
        let before = |event: &Event| splits.clone().map(|split| event.clock.of(split)).collect();
        let mut steps: Vec<_> = self.events.iter().map(|event| (event.split, event.number, before(event))).collect();
        steps.sort_unstable();
        steps
    }

    fn number(&mut self, id: SplitId) -> u32 {
        let found = self.ids.iter().position(|&other| other == id);
        found.unwrap_or_else(|| {
            self.ids.push(id);
            self.ids.len() - 1
        }) as u32
    }

    /// Where the launch has come to. `None`: all who can go on sleep.
    fn node(&mut self) -> Option<Node> {
        let awake: Vec<_> = self.stepped.ready().iter().filter(|ready| !ready.sleeps).cloned().collect();
        let enabled: Vec<_> = awake.into_iter().map(|ready| (self.number(ready.id), ready.footprint)).collect();
        let usual = self.stepped.usual().map(|id| self.number(id))?;
        let (mut running, mut preemptions, mut sleep) = (None, 0, Vec::new());
        if let Some(last) = self.nodes.last() {
            // After a barrier, anybody may go on.
            let met = self.events.last().is_some_and(|event| !event.met.is_empty());
            let is_enabled = |split: &u32| enabled.iter().any(|(other, _)| other == split);
            running = Some(last.current).filter(|split| !met && is_enabled(split));
            preemptions = last.preemptions_with(last.current);
            if let (Reduction::SourceSets, Some(made)) = (self.reduction, last.footprint(last.current)) {
                let still =
                    |(split, footprint): &&(u32, Arc<Footprint>)| *split != last.current && !footprint.depends(made);
                sleep = last.sleep.iter().filter(still).cloned().collect();
            }
        }
        let goes = |split: &u32| !sleep.iter().any(|(other, _)| other == split);
        let current = Some(usual).filter(goes).or_else(|| enabled.iter().map(|&(split, _)| split).find(goes))?;
        let mut node = Node { enabled, usual, running, preemptions, current, backtrack: vec![current], sleep };
        if matches!(self.reduction, Reduction::None(_)) {
            node.add_all();
        }
        Some(node)
    }

    /// The step that is made next. Adds who has to go on earlier in other orders, because of it.
    fn event(&mut self, depth: usize) -> Option<Event> {
        let split = self.nodes[depth].current;
        let footprint = self.nodes[depth].footprint(split)?.clone();
        let mut clock = self.clocks.of(self.ids[split as usize], footprint.mask);
        let number = clock.of(split) + 1;
        let waker = self.wakers.iter().find(|(woken, _)| *woken == split).map(|&(_, waker)| waker);
        let mut races = Vec::new();
        for (at, earlier) in self.events.iter().enumerate().rev() {
            if earlier.split != split && earlier.footprint.depends(&footprint) {
                if !earlier.is_before(&clock) && waker != Some(at) {
                    races.push(at);
                }
                clock.join(&earlier.clock);
            }
        }
        for race in races {
            match self.reduction {
                Reduction::None(_) => {}
                Reduction::SourceSets => self.reverse(race, (split, &clock)),
                Reduction::Preemptions(_) => self.reverse_within(race, (split, &clock)),
            }
        }
        clock.set(split, number);
        Some(Event { split, number, footprint, clock: Rc::new(clock), woken: Vec::new(), met: Vec::new() })
    }

    /// A step races with the one at `race`: adds to that node a split that begins an order in which
    /// the step comes first, unless the node already has one.
    fn reverse(&mut self, race: usize, (split, clock): (u32, &Clock)) {
        let raced = &self.events[race];
        // Each split's first step that need not come after the raced one.
        let mut firsts: Vec<(u32, u32)> = Vec::new();
        let mut initials = Vec::new();
        let later = self.events[race + 1..].iter().filter(|event| !raced.is_before(&event.clock));
        let later = later.map(|event| (event.split, event.number, &*event.clock));
        let number = clock.of(split) + 1;
        for (of, number, clock) in later.chain([(split, number, clock)]) {
            if !firsts.iter().any(|&(first, number)| clock.of(first) >= number) {
                initials.push(of);
            }
            if !firsts.iter().any(|&(first, _)| first == of) {
                firsts.push((of, number));
            }
        }
        let node = &mut self.nodes[race];
        if initials.iter().any(|initial| node.backtrack.contains(initial)) {
            return;
        }
        let chosen = if initials.contains(&split) { Some(split) } else { initials.first().copied() };
        match chosen.filter(|&chosen| node.footprint(chosen).is_some()) {
            Some(chosen) => node.add(chosen),
            None => node.add_all(),
        }
    }

    /// Likewise, within a bound of preemptions: adds all who lead to the step, also where the raced
    /// step's run of steps began.
    fn reverse_within(&mut self, race: usize, (split, clock): (u32, &Clock)) {
        let between = self.events[race + 1..].iter().filter(|event| event.is_before(clock));
        let lead: Vec<u32> = between.map(|event| event.split).chain([split]).collect();
        let runs = |at: usize| self.events[at].split;
        let mut begin = race;
        while begin > 0 && runs(begin - 1) == runs(race) && self.nodes[begin].running.is_some() {
            begin -= 1;
        }
        for at in [race, begin] {
            let node = &mut self.nodes[at];
            let can: Vec<u32> = lead.iter().copied().filter(|&split| node.footprint(split).is_some()).collect();
            if can.is_empty() {
                node.add_all();
            }
            can.into_iter().for_each(|split| node.add(split));
        }
    }

    /// Takes note of a step that was made.
    fn apply(&mut self, depth: usize) {
        let Self { events, clocks, wakers, ids, .. } = self;
        let event = &events[depth];
        let SplitId { block, warp, .. } = ids[event.split as usize];
        clocks.set((block, warp.into(), event.footprint.mask), &event.clock);
        event.met.iter().for_each(|met| clocks.meet(met, &event.clock));
        wakers.retain(|(woken, _)| *woken != event.split);
        wakers.extend(event.woken.iter().map(|&woken| (woken, depth)));
    }
}
