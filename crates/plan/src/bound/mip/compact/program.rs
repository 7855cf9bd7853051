//! The relaxation made whole: columns of whole numbers, the order of segments, and transients.

use crate::bound::lp::{Program, Row, Sense};
use crate::bound::rows::{Column, Relaxation};
use crate::model::Segment;
use crate::simulate::Vectors;

/// A program some of whose columns are whole numbers.
pub(super) struct Compact {
    pub(super) program: Program,
    /// By column the most that it may be if it is a whole number, which is at least 0; none for T.
    pub(super) most: Vec<Option<u32>>,
}

impl Compact {
    /// Of a relaxation's program, with its paths.
    pub(super) fn new(relaxation: &Relaxation<'_>, vectors: &Vectors, program: Program) -> Compact {
        let most = relaxation.columns.iter().map(|&column| Some(most(relaxation, column))).chain([None]).collect();
        let mut compact = Compact { program, most };
        compact.order(relaxation);
        compact.transients(relaxation, vectors);
        compact
    }

    /// A further column that is 0 or 1.
    fn binary(&mut self) -> usize {
        self.program.costs.push(0.0);
        self.program.free.push(false);
        self.most.push(Some(1));
        self.most.len() - 1
    }

    /// Adds that the sum of `of` is at most 0, or at least, where the column `flag` is 0, and `by` more where it is 1.
    fn unless(&mut self, of: Vec<(usize, f64)>, sense: Sense, flag: usize, by: f64) {
        let terms = of.into_iter().chain([(flag, -by)]).collect();
        self.program.rows.push(Row { terms, sense, right: 0.0 });
    }

    /// Segments of the body that follow each other: where the second one has begun, the first one has ended. For each
    /// virtual stage a column says whether it has.
    fn order(&mut self, relaxation: &Relaxation<'_>) {
        let problem = relaxation.problem;
        let segments = (0..problem.model().segments.len()).filter(|&at| problem.is_body(at));
        let body: Vec<usize> = segments.filter(|&at| relaxation.layers(at) > 0.0).collect();
        let until = |segment: usize, end: usize| -> Vec<(usize, f64)> {
            let own = |column: &Column| column.virtual_stage <= end && relaxation.of(*column).segment == segment;
            let columns = relaxation.columns.iter().enumerate();
            columns.filter(|(_, column)| own(column)).map(|(at, _)| (at, 1.0)).collect()
        };
        for pair in body.windows(2) {
            for end in 0..relaxation.order.dims().virtual_stages() - 1 {
                let ended = self.binary();
                self.unless(until(pair[0], end), Sense::Ge, ended, relaxation.layers(pair[0]));
                self.unless(until(pair[1], end), Sense::Le, ended, relaxation.layers(pair[1]));
            }
        }
    }

    /// For each count whose layers have a transient a column says whether there are any; with it a row for each backward
    /// that may be the peak then.
    fn transients(&mut self, relaxation: &Relaxation<'_>, vectors: &Vectors) {
        let Relaxation { problem, order, .. } = relaxation;
        let (_, fixed) = problem.costs(order, &relaxation.fixed);
        let rows = |at: usize, above: u64, there: Option<(usize, u64)>| -> Vec<Row> {
            let (stage, chunk) = order.shape().placement.of(at, order.dims().stages);
            let during = vectors.of(stage).iter().filter(|live| live.backward == Some(chunk as u32));
            during
                .filter_map(|live| relaxation.memory_row(&live.chunks, stage, &fixed, above, there))
                .map(|memory| memory.row)
                .collect()
        };
        for (at, &column) in relaxation.columns.iter().enumerate() {
            let (transient, most) = (relaxation.of(column).transient, f64::from(most(relaxation, column)));
            let rows = rows(column.virtual_stage, 0, Some((self.most.len(), transient)));
            if transient > 0 && !rows.is_empty() {
                let there = self.binary();
                self.unless(vec![(at, 1.0)], Sense::Le, there, most);
                self.program.rows.extend(rows);
            }
        }
        for (at, &transient) in fixed.transient.iter().enumerate().filter(|&(_, &transient)| transient > 0) {
            self.program.rows.extend(rows(at, transient, None));
        }
    }
}

/// The most layers of a column: those of its segment, or none where a pinned segment is in between.
fn most(relaxation: &Relaxation<'_>, column: Column) -> u32 {
    let (segments, own) = (&relaxation.problem.model().segments, relaxation.of(column).segment);
    let k = relaxation.order.dims().virtual_stages();
    let beyond = |(at, segment): (usize, &Segment)| {
        let pin = segment.role.place(k).filter(|_| segment.count > 0 && segments[own].role.moves());
        pin.is_some_and(
            |pin| if own < at { column.virtual_stage > pin } else { pin + 1 < k && column.virtual_stage < pin },
        )
    };
    if segments.iter().enumerate().any(beyond) { 0 } else { segments[own].count }
}
