//! Where each activation lives and how long, worked out once from the list of layers.
//!
//! An activation goes back to the arena as soon as no later layer reads it, unless backward will; an in-place layer takes
//! over the block of its first input if it is the last to read it. Where layers are recomputed, see [`Training`], forward
//! keeps less and backward runs some layers again. [`Schedule::bytes`] plays one training step and one evaluation with
//! sizes alone, so the estimate of a run's memory is what the run will take. No number is touched here.

mod play;
mod training;

use crate::arena::Bytes;
use crate::layer::{InPlace, Needs};
use play::Play;
pub(crate) use training::{Backward, Training};

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
    pub(crate) in_place: InPlace,
    pub(crate) needs: Needs,
    pub(crate) has_parameters: bool,
}

impl Facts {
    /// The layers whose outputs it reads.
    fn nodes(&self) -> impl Iterator<Item = usize> {
        self.sources.iter().filter_map(node)
    }

    /// The layers whose outputs its backward pass reads as inputs.
    fn read_back(&self) -> impl Iterator<Item = usize> {
        let sources = if self.needs.input { &self.sources[..] } else { &[] };
        sources.iter().skip(usize::from(self.in_place != InPlace::No)).filter_map(node)
    }
}

fn node(source: &Source) -> Option<usize> {
    if let Source::Node(j) = source { Some(*j) } else { None }
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

/// The order of all passes.
#[derive(Debug)]
pub(crate) struct Schedule {
    facts: Vec<Facts>,
    /// Where segments may begin: the numbers of the first layers of each stage layer but the first, ascending.
    cuts: Vec<usize>,
    pub(crate) train: Training,
    pub(crate) evaluate: Vec<Forward>,
}

impl Schedule {
    /// The schedule of layers in running order; each source names an earlier one, none twice in one layer. Nothing is
    /// recomputed.
    pub(crate) fn new(facts: Vec<Facts>, cuts: Vec<usize>) -> Schedule {
        let all: Vec<usize> = (0..facts.len()).collect();
        Schedule {
            train: Training::new(&facts, &[]),
            evaluate: forward(&facts, &all, &vec![false; facts.len()]),
            facts,
            cuts,
        }
    }

    /// Segments of ⌈√L⌉ of the L stage layers, without the last one: its activations are needed as soon as forward ends,
    /// so that there is nothing to gain by dropping them.
    fn segments(&self) -> Vec<std::ops::Range<usize>> {
        let mut starts = vec![0];
        starts.extend(&self.cuts);
        let size = (1..).find(|s| s * s >= starts.len()).unwrap_or(1);
        let starts: Vec<usize> = starts.into_iter().step_by(size).collect();
        starts.windows(2).map(|w| w[0]..w[1]).collect()
    }

    /// How many segments can be recomputed.
    pub(crate) fn recomputable(&self) -> usize {
        self.segments().len()
    }

    /// Recomputes the first `segments` segments in backward, at most all of them.
    pub(crate) fn recompute(&mut self, segments: usize) {
        let all = self.segments();
        self.train = Training::new(&self.facts, &all[..segments.min(all.len())]);
    }

    /// What an arena holds after one training step and one evaluation on `rows` nodes with elements of `size` bytes.
    pub(crate) fn bytes(&self, rows: usize, size: usize) -> Bytes {
        let mut play = Play::new(&self.facts, rows, size);
        play.train(&self.train);
        play.evaluate(&self.evaluate);
        play.bytes()
    }
}

/// The steps of a forward pass over `list`, some layers in running order, after which the outputs that `keep` marks are
/// still there. Outputs of layers that are not in the list must be there and stay.
fn forward(facts: &[Facts], list: &[usize], keep: &[bool]) -> Vec<Forward> {
    let mut last_use = vec![usize::MAX; facts.len()];
    list.iter().for_each(|&i| last_use[i] = i);
    for &i in list {
        for j in facts[i].nodes() {
            if last_use[j] != usize::MAX {
                last_use[j] = i;
            }
        }
    }
    let step = |&node: &usize| {
        let fact = &facts[node];
        let free = |j: &usize| last_use[*j] == node && !keep[*j];
        let place = match fact.sources.first() {
            _ if fact.in_place == InPlace::No => Place::Fresh,
            Some(Source::Node(j)) if free(j) => Place::Over(*j),
            Some(&source) => Place::Copy(source),
            None => Place::Fresh,
        };
        let release = fact.nodes().filter(|j| free(j) && place != Place::Over(*j)).collect();
        Forward { node, place, release }
    };
    list.iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use InPlace::{Each, First, No};

    const INPUT: Needs = Needs { input: true, output: false };
    const OUTPUT: Needs = Needs { input: false, output: true };
    const NOTHING: Needs = Needs { input: false, output: false };

    fn fact(sources: &[Source], width: usize, in_place: InPlace, needs: Needs, has_parameters: bool) -> Facts {
        Facts { sources: sources.to_vec(), width, in_place, needs, has_parameters }
    }

    /// sparse linear → propagate → relu → linear → propagate → bias.
    fn gcn() -> Vec<Facts> {
        use Source::Node;
        vec![
            fact(&[], 8, No, NOTHING, true),
            fact(&[Node(0)], 8, No, NOTHING, false),
            fact(&[Node(1)], 8, Each, OUTPUT, true),
            fact(&[Node(2)], 3, No, INPUT, true),
            fact(&[Node(3)], 3, No, NOTHING, false),
            fact(&[Node(4)], 3, Each, NOTHING, true),
        ]
    }

    #[test]
    fn training_keeps_what_backward_reads_and_evaluation_nothing() {
        let s = Schedule::new(gcn(), vec![]);
        let places = s.train.forward.iter().map(|f| f.place).collect::<Vec<_>>();
        assert_eq!(places, [Place::Fresh, Place::Fresh, Place::Over(1), Place::Fresh, Place::Fresh, Place::Over(4)]);
        assert_eq!(s.train.forward[3].release, [] as [usize; 0]);
        assert_eq!(s.evaluate[3].release, [2]);
        let order: Vec<usize> = s.train.backward.iter().map(|b| b.node).collect();
        assert_eq!(order, [5, 4, 3, 2, 1, 0]);
    }

    #[test]
    fn bytes_of_a_step_are_those_worked_out_by_hand() {
        // Forward: two of width 8 at once; then 8 (kept), 3 and 3. Backward: G 3, T 3, H 8 with dH 8, then T 8.
        let bytes = Schedule::new(gcn(), vec![]).bytes(10, 4);
        assert_eq!(bytes.held, 10 * 4 * (2 * 8 + 2 * 3));
        assert_eq!(bytes.high_water, 10 * 4 * (2 * 8 + 3));
        assert_eq!(bytes.taken, 0);
    }

    #[test]
    fn a_second_reader_forces_a_copy_and_fixed_layers_get_no_gradient() {
        use Source::{Features, Node};
        let facts = vec![
            fact(&[Features], 5, No, NOTHING, false),
            fact(&[Node(0)], 5, No, INPUT, true),
            fact(&[Node(1)], 5, Each, OUTPUT, false),
            fact(&[Node(2), Node(1)], 5, Each, NOTHING, false),
        ];
        let s = Schedule::new(facts, vec![]);
        assert_eq!(s.train.forward[2].place, Place::Copy(Node(1)));
        assert_eq!(s.train.forward[3], Forward { node: 3, place: Place::Copy(Node(2)), release: vec![1] });
        assert_eq!(s.evaluate[3], Forward { node: 3, place: Place::Over(2), release: vec![1] });
        assert_eq!(s.train.backward.iter().map(|b| b.node).collect::<Vec<_>>(), [3, 2, 1]);
        assert_eq!(s.train.backward[2].into, [None]);
        assert_eq!(s.bytes(1, 1).taken, 0);
    }

    /// Like a jumping-knowledge network: each of `layers` layers is linear → in-place function; a sum over all of them is
    /// kept in one block of width 2.
    fn jumping(layers: usize) -> (Vec<Facts>, Vec<usize>) {
        use Source::Node;
        let (mut facts, mut cuts) =
            (vec![fact(&[], 8, No, NOTHING, true), fact(&[Node(0)], 8, Each, OUTPUT, false)], vec![]);
        facts.push(fact(&[Node(1)], 2, No, INPUT, true));
        let (mut h, mut z) = (1, 2);
        for _ in 1..layers {
            cuts.push(facts.len());
            let at = facts.len();
            facts.push(fact(&[Node(h)], 8, No, INPUT, true));
            facts.push(fact(&[Node(at)], 8, Each, OUTPUT, false));
            facts.push(fact(&[Node(z), Node(at + 1)], 2, First, INPUT, true));
            (h, z) = (at + 1, at + 2);
        }
        (facts, cuts)
    }

    #[test]
    fn a_recomputed_segment_keeps_its_last_activation_and_runs_what_is_missing_again() {
        let (facts, cuts) = jumping(9);
        let mut s = Schedule::new(facts, cuts);
        assert_eq!(s.recomputable(), 2);
        s.recompute(9);
        // Layers 1 to 3 are nodes 0..9. Node 7 is what layer 4 reads; 1 and 4 are gone, their sums are not wanted again.
        let again = |node: usize| {
            let step = s.train.backward.iter().find(|b| b.node == node).unwrap();
            step.again.iter().map(|f| f.node).collect::<Vec<_>>()
        };
        assert_eq!((again(8), again(17)), (vec![0, 1, 3, 4], vec![9, 10, 12, 13]));
        assert!(s.train.backward.iter().filter(|b| !b.again.is_empty()).count() == 2);
        let sum = s.train.backward.iter().find(|b| b.node == 8).unwrap();
        assert_eq!((&sum.heirs, &sum.into), (&vec![5], &vec![Some(7)]));
    }

    #[test]
    fn recomputing_more_segments_takes_less_memory() {
        let (facts, cuts) = jumping(64);
        let mut s = Schedule::new(facts, cuts);
        let taken: Vec<u64> = (0..=s.recomputable())
            .map(|segments| {
                s.recompute(segments);
                let bytes = s.bytes(100, 4);
                assert_eq!(bytes.taken, 0);
                bytes.high_water
            })
            .collect();
        assert_eq!(taken.len(), 8);
        assert!(taken.windows(2).all(|w| w[1] <= w[0]), "{taken:?}");
        assert!(taken[7] * 3 < taken[0], "{taken:?}");
    }
}
