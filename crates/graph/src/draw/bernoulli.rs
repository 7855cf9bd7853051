//! The Bernoulli draw: each unit goes on its own, with exactly its probability; how many go is random.
//!
//! Unit e goes if and only if word 0 of the stream of purpose `Draw` at (epoch, layer and micro-batch, e) is below Q_e.

use super::quotas::Quota;
use super::{Entry, Job, Scratch};
use crate::{BitMask, Result};
use sapwood_skeleton::random::{Purpose, Stream};
use sapwood_skeleton::{ChunkPlan, rows};

pub(super) const ENTRY: Entry = Entry {
    name: "bernoulli",
    summary: "each unit on its own with exactly its probability; the count is random",
    exact: false,
    draw,
};

/// Words of the mask filled at once: a chunk that is worth handing out.
const WORDS: usize = 128;

fn draw(job: &Job<'_>, _: &mut Scratch, mask: &mut BitMask) -> Result<()> {
    job.start(mask)?;
    if job.quotas.is_zero() {
        return Ok(());
    }
    match job.quotas.form() {
        Ok(uniform) => words(job, uniform, mask),
        Err(each) => words(job, each, mask),
    }
}

fn words(job: &Job<'_>, quotas: impl Quota, mask: &mut BitMask) -> Result<()> {
    let (stream, a, b) = (Stream::new(job.key.seed, Purpose::Draw), job.key.epoch, job.key.b()?);
    let units = job.quotas.units();
    let words = mask.words_mut();
    let plan = ChunkPlan::of(words.len(), WORDS);
    job.exec.for_chunks_mut(&plan, rows(words, 1), |_, range, words| {
        let mut random = [[0u32; 4]; 64];
        for (word, at) in words.iter_mut().zip(range) {
            let first = 64 * at as u64;
            let random = &mut random[..(units - first).min(64) as usize];
            stream.fill(a, b, first, random)?;
            for (bit, r) in random.iter().enumerate() {
                let goes = u64::from(r[0]) < quotas.of(first as u32 + bit as u32);
                *word &= !(u64::from(goes) << bit);
            }
        }
        Ok(())
    })?;
    Ok(())
}
