//! Work as it is counted: a list of steps, each one pass of the executor over some operands.

/// Rows that are read at places that no prefetcher foresees.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gathered {
    /// Rows read.
    pub rows: f64,
    /// Bytes of a row.
    pub row_bytes: f64,
    /// Bytes of what they are gathered from; decides whether it comes from the cache.
    pub operand_bytes: f64,
}

/// One pass of the executor, or a plain loop of the thread that calls it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Step {
    /// Chunks that workers share; 0 is a plain loop that is never handed out.
    pub chunks: usize,
    /// FLOP of dense products, two a multiply-add.
    pub flops: f64,
    /// Other operations on numbers in registers.
    pub operations: f64,
    /// Bytes read and written in order.
    pub streamed: f64,
    /// What is read at random places.
    pub gathered: Gathered,
}

impl Step {
    /// The same with `operations` more.
    #[must_use]
    pub fn with_operations(self, operations: f64) -> Step {
        Step { operations: self.operations + operations, ..self }
    }

    /// The same with `bytes` more read or written in order.
    #[must_use]
    pub fn with_streamed(self, bytes: f64) -> Step {
        Step { streamed: self.streamed + bytes, ..self }
    }
}

/// Steps one after the other. Work is added by putting steps behind each other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Work {
    steps: Vec<Step>,
}

impl Work {
    /// The steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Appends a step.
    pub fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Appends the steps of `other`.
    pub fn add(&mut self, other: &Work) {
        self.steps.extend_from_slice(&other.steps);
    }

    /// FLOP of dense products.
    pub fn flops(&self) -> f64 {
        self.sum(|step| step.flops)
    }

    /// Other operations.
    pub fn operations(&self) -> f64 {
        self.sum(|step| step.operations)
    }

    /// Bytes read and written in order.
    pub fn streamed(&self) -> f64 {
        self.sum(|step| step.streamed)
    }

    /// Bytes gathered.
    pub fn gathered(&self) -> f64 {
        self.sum(|step| step.gathered.rows * step.gathered.row_bytes)
    }

    /// Steps that more than one worker can have a part in.
    pub fn dispatches(&self) -> usize {
        self.steps.iter().filter(|step| step.chunks > 1).count()
    }

    fn sum(&self, of: impl Fn(&Step) -> f64) -> f64 {
        self.steps.iter().map(of).sum()
    }
}

impl FromIterator<Step> for Work {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Work {
        Work { steps: steps.into_iter().collect() }
    }
}
