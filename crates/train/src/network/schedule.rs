//! Where each activation lives and how long, worked out once from the list of layers.
//!
//! An activation goes back to the arena as soon as no later layer reads it, unless backward will; an in-place layer takes
//! over the block of its first input if it is the last to read it. [`Schedule::bytes`] plays one training step and one
//! evaluation with sizes alone, so the estimate of a run's memory is what the run will take. No number is touched here.

use crate::arena::Bytes;
use crate::layer::Needs;

/// Where an input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The dense features of the data set.
    Features,
    /// The output of an earlier layer.
    Node(usize),
}

/// What a schedule needs to know of a layer.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) sources: Vec<Source>,
    pub(crate) width: usize,
    pub(crate) in_place: bool,
    pub(crate) needs: Needs,
    pub(crate) has_parameters: bool,
}

/// The block that a layer writes its output into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A block of its own.
    Fresh,
    /// The block of its first input, which nobody reads afterwards.
    Over(usize),
    /// A copy of its first input.
    Copy(Source),
}

/// One step of a forward pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Forward {
    pub(crate) node: usize,
    pub(crate) place: Place,
    /// Layers whose outputs are not read after this step.
    pub(crate) release: Vec<usize>,
}

/// One step of a backward pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Backward {
    pub(crate) node: usize,
    /// For each input the layer whose output's gradient is wanted.
    pub(crate) into: Vec<Option<usize>>,
}

/// The order of all passes.
#[derive(Debug)]
pub(crate) struct Schedule {
    facts: Vec<Facts>,
    train: Vec<Forward>,
    evaluate: Vec<Forward>,
    pub(crate) backward: Vec<Backward>,
}

impl Schedule {
    /// The schedule of layers in running order; each source names an earlier one, none twice in one layer.
    pub(crate) fn new(facts: Vec<Facts>) -> Schedule {
        let mut learns = Vec::with_capacity(facts.len());
        for fact in &facts {
            let below = nodes(fact).any(|j| learns[j]);
            learns.push(fact.has_parameters || below);
        }
        let kept: Vec<bool> = (0..facts.len())
            .map(|j| {
                let own = learns[j] && facts[j].needs.output;
                own || (0..facts.len()).any(|i| learns[i] && facts[i].needs.input && nodes(&facts[i]).any(|k| k == j))
            })
            .collect();
        let nothing = vec![false; facts.len()];
        Schedule {
            train: forward(&facts, &kept),
            evaluate: forward(&facts, &nothing),
            backward: (0..facts.len())
                .rev()
                .filter(|&i| learns[i])
                .map(|node| backward(&facts, &learns, node))
                .collect(),
            facts,
        }
    }

    /// The forward pass that keeps what backward reads, or the one that keeps nothing.
    pub(crate) fn forward(&self, keep: bool) -> &[Forward] {
        if keep { &self.train } else { &self.evaluate }
    }

    /// What an arena holds after one training step and one evaluation on `rows` nodes with elements of `size` bytes.
    pub(crate) fn bytes(&self, rows: usize, size: usize) -> Bytes {
        let mut play = Play { rows: rows as u64, size: size as u64, ..Play::default() };
        let outputs = self.play_forward(&mut play, true);
        self.play_backward(&mut play, outputs);
        let outputs = self.play_forward(&mut play, false);
        (0..self.facts.len()).filter(|&j| outputs[j]).for_each(|j| play.give(self.facts[j].width));
        play.bytes
    }

    fn play_forward(&self, play: &mut Play, keep: bool) -> Vec<bool> {
        let mut alive = vec![false; self.facts.len()];
        for step in self.forward(keep) {
            match step.place {
                Place::Over(j) => alive[j] = false,
                Place::Fresh | Place::Copy(_) => play.take(self.facts[step.node].width),
            }
            alive[step.node] = true;
            for &done in &step.release {
                alive[done] = false;
                play.give(self.facts[done].width);
            }
        }
        alive
    }

    /// The gradient of the loss takes over the block of the logits.
    fn play_backward(&self, play: &mut Play, mut outputs: Vec<bool>) {
        let mut gradients = vec![false; self.facts.len()];
        if let (Some(logits), Some(first)) = (outputs.last_mut(), gradients.last_mut()) {
            (*logits, *first) = (false, true);
        }
        for step in &self.backward {
            let fact = &self.facts[step.node];
            let mut own = true;
            for &j in step.into.iter().flatten() {
                let inherits = fact.in_place && own && !gradients[j];
                if !gradients[j] && !inherits {
                    play.take(self.facts[j].width);
                }
                own &= !inherits;
                gradients[j] = true;
            }
            if own {
                play.give(fact.width);
            }
            if std::mem::take(&mut outputs[step.node]) {
                play.give(fact.width);
            }
        }
        (0..outputs.len()).filter(|&j| outputs[j]).for_each(|j| play.give(self.facts[j].width));
    }
}

fn nodes(fact: &Facts) -> impl Iterator<Item = usize> {
    fact.sources.iter().filter_map(|s| if let Source::Node(j) = s { Some(*j) } else { None })
}

fn forward(facts: &[Facts], kept: &[bool]) -> Vec<Forward> {
    let mut last_use = vec![0; facts.len()];
    for (i, fact) in facts.iter().enumerate() {
        nodes(fact).for_each(|j| last_use[j] = i);
    }
    let step = |(node, fact): (usize, &Facts)| {
        let free = |j: &usize| last_use[*j] == node && !kept[*j];
        let place = match fact.sources.first() {
            Some(Source::Node(j)) if fact.in_place && free(j) => Place::Over(*j),
            Some(&source) if fact.in_place => Place::Copy(source),
            _ => Place::Fresh,
        };
        let release = nodes(fact).filter(|j| free(j) && place != Place::Over(*j)).collect();
        Forward { node, place, release }
    };
    facts.iter().enumerate().map(step).collect()
}

fn backward(facts: &[Facts], learns: &[bool], node: usize) -> Backward {
    let wanted = |source: &Source| match source {
        Source::Node(j) if learns[*j] => Some(*j),
        _ => None,
    };
    Backward { node, into: facts[node].sources.iter().map(wanted).collect() }
}

/// An arena of sizes alone.
#[derive(Debug, Default)]
struct Play {
    rows: u64,
    size: u64,
    /// Width of each free block.
    free: Vec<usize>,
    bytes: Bytes,
}

impl Play {
    fn take(&mut self, width: usize) {
        let free = self.free.iter().position(|&w| w == width);
        free.map(|at| self.free.swap_remove(at));
        self.bytes.take(self.rows * width as u64 * self.size, free.is_none());
    }

    fn give(&mut self, width: usize) {
        self.free.push(width);
        self.bytes.give(self.rows * width as u64 * self.size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INPUT: Needs = Needs { input: true, output: false };
    const OUTPUT: Needs = Needs { input: false, output: true };
    const NOTHING: Needs = Needs { input: false, output: false };

    fn fact(sources: &[Source], width: usize, in_place: bool, needs: Needs, has_parameters: bool) -> Facts {
        Facts { sources: sources.to_vec(), width, in_place, needs, has_parameters }
    }

    /// sparse linear → propagate → relu → linear → propagate → bias.
    fn gcn() -> Vec<Facts> {
        use Source::Node;
        vec![
            fact(&[], 8, false, NOTHING, true),
            fact(&[Node(0)], 8, false, NOTHING, false),
            fact(&[Node(1)], 8, true, OUTPUT, true),
            fact(&[Node(2)], 3, false, INPUT, true),
            fact(&[Node(3)], 3, false, NOTHING, false),
            fact(&[Node(4)], 3, true, NOTHING, true),
        ]
    }

    #[test]
    fn training_keeps_what_backward_reads_and_evaluation_nothing() {
        let s = Schedule::new(gcn());
        let places = |keep| s.forward(keep).iter().map(|f| f.place).collect::<Vec<_>>();
        assert_eq!(
            places(true),
            [Place::Fresh, Place::Fresh, Place::Over(1), Place::Fresh, Place::Fresh, Place::Over(4)]
        );
        assert_eq!(s.forward(true)[3].release, [] as [usize; 0]);
        assert_eq!(s.forward(false)[3].release, [2]);
        let order: Vec<usize> = s.backward.iter().map(|b| b.node).collect();
        assert_eq!(order, [5, 4, 3, 2, 1, 0]);
    }

    #[test]
    fn bytes_of_a_step_are_those_worked_out_by_hand() {
        // Forward: two of width 8 at once; then 8 (kept), 3 and 3. Backward: G 3, T 3, H 8 with dH 8, then T 8.
        let bytes = Schedule::new(gcn()).bytes(10, 4);
        assert_eq!(bytes.held, 10 * 4 * (2 * 8 + 2 * 3));
        assert_eq!(bytes.high_water, 10 * 4 * (2 * 8 + 3));
        assert_eq!(bytes.taken, 0);
    }

    #[test]
    fn a_second_reader_forces_a_copy_and_fixed_layers_get_no_gradient() {
        use Source::{Features, Node};
        let s = Schedule::new(vec![
            fact(&[Features], 5, false, NOTHING, false),
            fact(&[Node(0)], 5, false, INPUT, true),
            fact(&[Node(1)], 5, true, OUTPUT, false),
            fact(&[Node(2), Node(1)], 5, true, NOTHING, false),
        ]);
        assert_eq!(s.forward(true)[2].place, Place::Copy(Node(1)));
        assert_eq!(s.forward(true)[3], Forward { node: 3, place: Place::Copy(Node(2)), release: vec![1] });
        assert_eq!(s.forward(false)[3], Forward { node: 3, place: Place::Over(2), release: vec![1] });
        assert_eq!(s.backward.iter().map(|b| b.node).collect::<Vec<_>>(), [3, 2, 1]);
        assert_eq!(s.backward[2].into, [None]);
        assert_eq!(s.bytes(1, 1).taken, 0);
    }
}
