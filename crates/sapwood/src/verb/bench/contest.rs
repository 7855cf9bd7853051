//! Takes turns: one repetition of every contender, round after round, so that all meet the same load of the machine.
//!
//! Ratios are taken within a round and their median is reported, since neighbours in time compare best.
//! Must never let one contender run alone for long. Start reading at [`contest`].

use sapwood_machine::fit::median;
use serde::Serialize;

use super::peer::{Peer, Times};

/// Any failure of a contender.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// One repetition is as many iterations as take this long, at least one.
const REPETITION_S: f64 = 0.02;
/// At most so many iterations in a repetition.
const MOST_ITERATIONS: f64 = 2000.0;
/// A run that takes this long warms up enough for its contender.
const LONG_S: f64 = 1.0;

/// When the numbers of a result are those they should be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Agreement {
    /// None differs from ours by more than this times the largest magnitude.
    Relative(f64),
    /// None, ours included, differs from what is expected by more than this.
    Near {
        /// What the numbers should be.
        expected: Vec<f64>,
        /// How far off they may be.
        within: f64,
    },
}

impl Agreement {
    /// For results in f32.
    pub(crate) const F32: Agreement = Agreement::Relative(1e-4);

    /// Whether `values` agree with `ours`, or with what is expected: as many, all finite, none too far off.
    pub(crate) fn holds(&self, values: &[f64], ours: &[f64]) -> bool {
        let (reference, within) = match self {
            Agreement::Relative(tolerance) => {
                let largest = values.iter().chain(ours).fold(0.0_f64, |m, v| m.max(v.abs()));
                (ours, tolerance * largest)
            }
            Agreement::Near { expected, within } => (&expected[..], *within),
        };
        values.len() == reference.len() && values.iter().zip(reference).all(|(x, y)| (x - y).abs() <= within)
    }
}

/// A system that can be timed on the cases of one benchmark.
pub(crate) trait Contender {
    /// Name in tables; the first contender of a contest is the one all are compared with.
    fn name(&self) -> &str;
    /// Threads it uses.
    fn threads(&self) -> usize;
    /// Time of one of `iterations` iterations of `case`.
    ///
    /// # Errors
    /// Whatever stops the system.
    fn run(&mut self, case: &str, iterations: usize) -> Result<Times, BoxError>;
    /// Numbers by which results are compared.
    ///
    /// # Errors
    /// As [`Contender::run`].
    fn check(&mut self, case: &str) -> Result<Vec<f64>, BoxError>;
    /// Whether its result has to agree with ours; a bound on the time has none.
    fn is_compared(&self) -> bool {
        true
    }
}

impl Contender for Peer {
    fn name(&self) -> &str {
        &self.hello.system
    }
    fn threads(&self) -> usize {
        self.hello.threads
    }
    fn run(&mut self, case: &str, iterations: usize) -> Result<Times, BoxError> {
        Ok(Peer::run(self, case, iterations)?)
    }
    fn check(&mut self, case: &str) -> Result<Vec<f64>, BoxError> {
        Ok(Peer::check(self, case)?)
    }
}

/// Work of ours that can be timed.
pub(crate) trait Job {
    /// One iteration of a case.
    ///
    /// # Errors
    /// Whatever stops it.
    fn iterate(&mut self, case: &str) -> Result<(), BoxError>;
    /// Numbers by which results are compared.
    ///
    /// # Errors
    /// As [`Job::iterate`].
    fn check(&mut self, case: &str) -> Result<Vec<f64>, BoxError>;
    /// As [`Contender::is_compared`].
    fn is_compared(&self) -> bool {
        true
    }
}

/// Ours: a job in this process.
pub(crate) struct Ours<J> {
    /// Name in tables.
    pub(crate) name: &'static str,
    /// Threads of the executor.
    pub(crate) threads: usize,
    /// The work.
    pub(crate) job: J,
}

impl<J: Job> Contender for Ours<J> {
    fn name(&self) -> &str {
        self.name
    }
    fn threads(&self) -> usize {
        self.threads
    }
    fn run(&mut self, case: &str, iterations: usize) -> Result<Times, BoxError> {
        let (wall, cpu) = (std::time::Instant::now(), process_cpu_s());
        for _ in 0..iterations {
            self.job.iterate(case)?;
        }
        let per = |seconds: f64| seconds / iterations as f64;
        Ok(Times { wall_s: per(wall.elapsed().as_secs_f64()), cpu_s: per(process_cpu_s() - cpu) })
    }
    fn check(&mut self, case: &str) -> Result<Vec<f64>, BoxError> {
        self.job.check(case)
    }
    fn is_compared(&self) -> bool {
        self.job.is_compared()
    }
}

/// CPU time of all threads of this process, in seconds.
fn process_cpu_s() -> f64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// What one system did in one case (`rows` of `sapwood.bench/1`).
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    /// What was done.
    pub(crate) case: String,
    /// Size: nodes of the graph.
    pub(crate) n: u64,
    /// Who did it.
    pub(crate) system: String,
    /// On how many threads.
    pub(crate) threads: usize,
    /// Repetitions.
    pub(crate) reps: usize,
    /// Fastest iteration, wall time in seconds (each repetition counts with its mean).
    pub(crate) min_wall_s: f64,
    /// Median over the repetitions.
    pub(crate) median_wall_s: f64,
    /// Least CPU time of the process.
    pub(crate) min_cpu_s: f64,
    /// Distinct results of the same case, before and after the repetitions.
    pub(crate) distinct_results: usize,
    /// Least wall time by the number of pairs of the graph, in nanoseconds, where the work goes through the pairs once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ns_per_pair: Option<f64>,
    /// Median over the rounds of this system's wall time by ours in the same round; above 1: ours is faster.
    pub(crate) ratio_to_sapwood: f64,
    /// The result agrees with ours.
    pub(crate) ok: bool,
}

/// Times all contenders on one case in `reps` rounds. A contender that fails is left out and named in the second part.
pub(crate) fn contest(
    case: &str,
    label: &str,
    n: u64,
    field: &mut [&mut dyn Contender],
    reps: usize,
    agreement: &Agreement,
) -> (Vec<Row>, Vec<String>) {
    let mut lost = Vec::new();
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for contender in field.iter_mut() {
        let name = contender.name().to_owned();
        match Entry::warm(&mut **contender, case) {
            Ok(entry) => entries.push(entry),
            Err(error) => lost.push(format!("{label}: {name}: {error}")),
        }
    }
    for round in 0..reps {
        for turn in 0..entries.len() {
            let at = (round + turn) % entries.len();
            entries[at].repeat(case);
        }
    }
    let mut rows = Vec::new();
    let reference: Option<(Vec<Times>, Vec<f64>)> = entries.first().map(|e| (e.times.clone(), e.first.clone()));
    for entry in entries {
        let name = entry.contender.name().to_owned();
        match entry.row(case, label, n, reference.as_ref(), agreement) {
            Ok(row) => rows.push(row),
            Err(error) => lost.push(format!("{label}: {name}: {error}")),
        }
    }
    (rows, lost)
}

/// A contender in the middle of a contest.
struct Entry<'a> {
    contender: &'a mut dyn Contender,
    iterations: usize,
    first: Vec<f64>,
    times: Vec<Times>,
    failed: Option<BoxError>,
}

impl<'a> Entry<'a> {
    /// Checks once, warms up and finds out how many iterations make a repetition.
    fn warm(contender: &'a mut dyn Contender, case: &str) -> Result<Entry<'a>, BoxError> {
        let first = contender.check(case)?;
        let mut once = contender.run(case, 1)?.wall_s;
        if once < LONG_S {
            once = contender.run(case, 1)?.wall_s;
        }
        let iterations = (REPETITION_S / once.max(1e-9)).clamp(1.0, MOST_ITERATIONS) as usize;
        Ok(Entry { contender, iterations, first, times: Vec::new(), failed: None })
    }

    fn repeat(&mut self, case: &str) {
        if self.failed.is_none() {
            match self.contender.run(case, self.iterations) {
                Ok(times) => self.times.push(times),
                Err(error) => self.failed = Some(error),
            }
        }
    }

    fn row(
        self,
        case: &str,
        label: &str,
        n: u64,
        reference: Option<&(Vec<Times>, Vec<f64>)>,
        agreement: &Agreement,
    ) -> Result<Row, BoxError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let last = self.contender.check(case)?;
        let wall: Vec<f64> = self.times.iter().map(|t| t.wall_s).collect();
        let (ours, ours_values) = reference.ok_or("nothing to compare with")?;
        let ratios: Vec<f64> = wall.iter().zip(ours).map(|(peer, ours)| peer / ours.wall_s).collect();
        Ok(Row {
            case: label.to_owned(),
            n,
            system: self.contender.name().to_owned(),
            threads: self.contender.threads(),
            reps: wall.len(),
            min_wall_s: wall.iter().copied().fold(f64::INFINITY, f64::min),
            median_wall_s: median(&wall).unwrap_or(f64::NAN),
            min_cpu_s: self.times.iter().map(|t| t.cpu_s).fold(f64::INFINITY, f64::min),
            distinct_results: 1 + usize::from(last != self.first),
            ns_per_pair: None,
            ratio_to_sapwood: median(&ratios).unwrap_or(f64::NAN),
            ok: !self.contender.is_compared() || agreement.holds(&self.first, ours_values),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock that always shows the same time per iteration.
    struct Fake {
        name: &'static str,
        wall_s: f64,
        values: Vec<f64>,
        turns: Vec<usize>,
        fails_at: Option<usize>,
    }

    impl Fake {
        fn new(name: &'static str, wall_s: f64, values: &[f64]) -> Fake {
            Fake { name, wall_s, values: values.to_vec(), turns: Vec::new(), fails_at: None }
        }
    }

    impl Contender for Fake {
        fn name(&self) -> &str {
            self.name
        }
        fn threads(&self) -> usize {
            1
        }
        fn run(&mut self, _: &str, iterations: usize) -> Result<Times, BoxError> {
            self.turns.push(iterations);
            if self.fails_at == Some(self.turns.len()) {
                return Err("out of breath".into());
            }
            Ok(Times { wall_s: self.wall_s, cpu_s: self.wall_s / 2.0 })
        }
        fn check(&mut self, _: &str) -> Result<Vec<f64>, BoxError> {
            Ok(self.values.clone())
        }
    }

    #[test]
    fn ratios_are_peer_by_ours_and_agreement_is_relative() {
        let mut ours = Fake::new("sapwood", 0.004, &[1000.0, -2.0]);
        let mut same = Fake::new("same", 0.010, &[1000.09, -2.0]);
        let mut wrong = Fake::new("wrong", 0.002, &[1000.2, -2.0]);
        let (rows, lost) = contest("c", "a case", 7, &mut [&mut ours, &mut same, &mut wrong], 4, &Agreement::F32);
        assert!(lost.is_empty());
        let ratio: Vec<f64> = rows.iter().map(|r| r.ratio_to_sapwood).collect();
        assert_eq!(ratio, [1.0, 2.5, 0.5]);
        assert_eq!(rows.iter().map(|r| r.ok).collect::<Vec<_>>(), [true, true, false]);
        assert_eq!((rows[1].n, rows[1].reps, rows[1].min_cpu_s), (7, 4, 0.005));
        // two warm-ups of one iteration, then repetitions of 20 ms
        assert_eq!(ours.turns, [1, 1, 5, 5, 5, 5]);
        assert_eq!(same.turns, [1, 1, 2, 2, 2, 2]);
    }

    #[test]
    fn a_failing_peer_is_named_and_the_others_go_on() {
        let mut ours = Fake::new("sapwood", 0.1, &[1.0]);
        let mut late = Fake { fails_at: Some(4), ..Fake::new("late", 0.1, &[1.0]) };
        let mut early = Fake { fails_at: Some(1), ..Fake::new("early", 0.1, &[1.0]) };
        let (rows, lost) = contest("c", "a case", 7, &mut [&mut ours, &mut late, &mut early], 3, &Agreement::F32);
        assert_eq!(rows.len(), 1);
        assert_eq!(lost, ["a case: early: out of breath", "a case: late: out of breath"]);
    }

    #[test]
    fn results_with_nan_or_other_length_do_not_agree() {
        let agree = |a: &[f64], b: &[f64]| Agreement::F32.holds(a, b);
        assert!(!agree(&[f64::NAN], &[1.0]));
        assert!(!agree(&[1.0], &[1.0, 2.0]));
        assert!(agree(&[], &[]));
    }

    #[test]
    fn what_is_expected_binds_ours_too() {
        let mut ours = Fake::new("sapwood", 0.1, &[113.0]);
        let mut peer = Fake::new("peer", 0.1, &[88.0]);
        let near = Agreement::Near { expected: vec![100.0], within: 12.0 };
        let (rows, _) = contest("c", "a case", 7, &mut [&mut ours, &mut peer], 1, &near);
        assert_eq!(rows.iter().map(|r| r.ok).collect::<Vec<_>>(), [false, true]);
        assert!(!near.holds(&[f64::NAN], &[]) && !near.holds(&[], &[]));
    }

    #[test]
    fn who_takes_long_warms_up_once() {
        let mut ours = Fake::new("sapwood", 0.9, &[1.0]);
        let mut long = Fake::new("long", 1.1, &[1.0]);
        contest("c", "a case", 7, &mut [&mut ours, &mut long], 2, &Agreement::F32);
        assert_eq!((ours.turns.len(), long.turns.len()), (4, 3));
    }
}
