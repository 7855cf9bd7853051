//! The worker threads: the one place that starts threads and shares memory between them.
//!
//! A pool of p − 1 threads and the caller run one job at a time; each worker has a slot through which the caller hands it
//! a borrowed closure. A worker spins for about 20 µs for the next job and then parks, so an idle pool costs nothing and
//! a burst of small jobs needs no system call. Nothing here knows of chunks or reductions: see `exec`.
//!
//! A call from inside a job runs on the calling worker alone, so a lock held inside a chunk is never entered again by
//! another chunk on the same thread. A call from a second outside thread, while a job runs, is also run by its caller.

pub(crate) mod arena;
pub(crate) mod parts;

use crate::{Error, Result};
use arena::Arena;
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

/// How long a thread spins before it parks.
const SPIN: Duration = Duration::from_micros(20);

const IDLE: u32 = 0;
const READY: u32 = 1;
const STOP: u32 = 2;

type Job<'a> = dyn Fn(usize) + Sync + 'a;

thread_local! {
    /// Set while this thread runs a job, so that nested calls stay on it.
    static IN_JOB: Cell<bool> = const { Cell::new(false) };
}

/// Threads and arenas of one runtime.
pub(crate) struct Pool {
    slots: Arc<[Slot]>,
    handles: Vec<JoinHandle<()>>,
    shared: Arc<Shared>,
    turn: Mutex<()>,
    arenas: Vec<Mutex<Arena>>,
}

/// What the caller and its workers wait on.
#[derive(Default)]
struct Shared {
    remaining: AtomicUsize,
    caller: Mutex<Option<Thread>>,
}

/// The mailbox of one worker.
struct Slot {
    state: AtomicU32,
    job: UnsafeCell<Option<*const Job<'static>>>,
    thread: OnceLock<Thread>,
}

#[expect(unsafe_code, reason = "a worker's mailbox is shared between two threads")]
// SAFETY: `job` is written by the caller only while `state` is IDLE and read by the worker only after it saw READY
// (release/acquire on `state`), so the two never touch it at the same time. The pointee is Sync.
unsafe impl Sync for Slot {}
#[expect(unsafe_code, reason = "the mailbox is created on one thread and used on others")]
// SAFETY: as above; the raw pointer is only followed while the job it points to is alive.
unsafe impl Send for Slot {}

impl Pool {
    /// Starts `threads` − 1 workers; the caller is worker 0.
    pub(crate) fn start(threads: usize) -> Result<Pool> {
        let slots: Arc<[Slot]> = (1..threads)
            .map(|_| Slot { state: AtomicU32::new(IDLE), job: UnsafeCell::new(None), thread: OnceLock::new() })
            .collect();
        let shared = Arc::new(Shared::default());
        let arenas = (0..threads).map(|_| Mutex::new(Arena::new())).collect();
        let mut pool = Pool { slots, handles: Vec::new(), shared, turn: Mutex::new(()), arenas };
        for i in 0..threads - 1 {
            let (slots, shared) = (Arc::clone(&pool.slots), Arc::clone(&pool.shared));
            let handle = std::thread::Builder::new()
                .name(format!("sapwood-{}", i + 1))
                .spawn(move || serve(&slots[i], i + 1, &shared))
                .map_err(|source| Error::Spawn { index: i + 1, source })?;
            pool.slots[i].thread.get_or_init(|| handle.thread().clone());
            pool.handles.push(handle);
        }
        Ok(pool)
    }

    /// Number of workers, the caller included.
    pub(crate) fn threads(&self) -> usize {
        self.arenas.len()
    }

    /// Bytes held by the arenas that are not in use right now.
    pub(crate) fn arena_bytes(&self) -> usize {
        self.arenas.iter().filter_map(|a| a.try_lock().ok()).map(|a| a.bytes()).sum()
    }

    /// The arena of worker `index`, or a fresh one where the worker already uses its own (a nested call).
    pub(crate) fn with_arena<R>(&self, index: usize, f: impl FnOnce(&mut Arena) -> R) -> R {
        match self.arenas[index].try_lock() {
            Ok(mut arena) => f(&mut arena),
            Err(std::sync::TryLockError::Poisoned(p)) => f(&mut p.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => f(&mut Arena::new()),
        }
    }

    /// Runs `job(worker)` once for each worker 0..k, k ≤ `workers`; returns when all are done. k = 1 where the call is
    /// nested in a job or another thread has the workers. `job` must not panic.
    pub(crate) fn run(&self, workers: usize, job: &Job<'_>) {
        let workers = workers.min(self.threads());
        if workers <= 1 || IN_JOB.get() {
            return as_job(|| job(0));
        }
        let Ok(_turn) = self.turn.try_lock().or_else(|e| match e {
            std::sync::TryLockError::Poisoned(p) => Ok(p.into_inner()),
            std::sync::TryLockError::WouldBlock => Err(()),
        }) else {
            return as_job(|| job(0));
        };
        self.shared.remaining.store(workers - 1, Ordering::Relaxed);
        *self.shared.caller.lock().unwrap_or_else(PoisonError::into_inner) = Some(std::thread::current());
        let waiting = WaitForWorkers(&self.shared);
        for slot in &self.slots[..workers - 1] {
            slot.post(job);
        }
        as_job(|| job(0));
        drop(waiting);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for slot in self.slots.iter() {
            slot.state.store(STOP, Ordering::Release);
            slot.wake();
        }
        for handle in self.handles.drain(..) {
            // A worker never panics: its jobs are caught by `exec`. Nothing is lost if it did.
            let _ = handle.join();
        }
    }
}

impl Slot {
    #[expect(unsafe_code, reason = "lends the caller's closure to the worker")]
    fn post(&self, job: &Job<'_>) {
        let job: *const Job<'_> = job;
        // SAFETY: only the lifetime changes. The caller waits (`WaitForWorkers`, even when it unwinds) until the worker is
        // done, so the closure outlives its use. The state is IDLE here: the previous job's wait saw this worker finish.
        unsafe {
            *self.job.get() = Some(std::mem::transmute::<*const Job<'_>, *const Job<'static>>(job));
        }
        self.state.store(READY, Ordering::Release);
        self.wake();
    }

    fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

/// Blocks in `drop` until every worker of the job is done.
struct WaitForWorkers<'a>(&'a Shared);

impl Drop for WaitForWorkers<'_> {
    fn drop(&mut self) {
        wait_until(|| self.0.remaining.load(Ordering::Acquire) == 0);
    }
}

/// Spins, then parks, until `done`; whoever makes it true unparks this thread.
fn wait_until(done: impl Fn() -> bool) {
    let mut start = None;
    loop {
        for _ in 0..64 {
            if done() {
                return;
            }
            std::hint::spin_loop();
        }
        if start.get_or_insert_with(Instant::now).elapsed() > SPIN {
            std::thread::park();
        }
    }
}

/// Marks this thread as being inside a job while `f` runs.
fn as_job(f: impl FnOnce()) {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            IN_JOB.set(self.0);
        }
    }
    let _restore = Restore(IN_JOB.replace(true));
    f();
}

/// The life of a worker: wait, run, report, until told to stop.
fn serve(slot: &Slot, index: usize, shared: &Shared) {
    loop {
        wait_until(|| slot.state.load(Ordering::Acquire) != IDLE);
        if slot.state.load(Ordering::Acquire) == STOP {
            return;
        }
        run_posted(slot, index);
        // Taken before the count falls: after that the caller may go on to its next job.
        let caller = shared.caller.lock().unwrap_or_else(PoisonError::into_inner).clone();
        slot.state.store(IDLE, Ordering::Release);
        if shared.remaining.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(caller) = caller
        {
            caller.unpark();
        }
    }
}

#[expect(unsafe_code, reason = "runs the closure that the caller lent")]
fn run_posted(slot: &Slot, index: usize) {
    // SAFETY: the state is READY, so the caller has written the job and does not touch it; it keeps the closure alive
    // until `remaining` falls, which happens after this function.
    let job = unsafe { (*slot.job.get()).take().map(|job| &*job) };
    if let Some(job) = job {
        as_job(|| job(index));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_worker_runs_once_per_job() {
        for threads in [1, 2, 3, 5] {
            let pool = Pool::start(threads).unwrap();
            for _ in 0..2000 {
                let counts: Vec<AtomicUsize> = (0..threads).map(|_| AtomicUsize::new(0)).collect();
                pool.run(threads, &|w| {
                    counts[w].fetch_add(1, Ordering::Relaxed);
                });
                assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
            }
        }
    }

    #[test]
    fn a_nested_call_runs_on_its_caller() {
        let pool = Pool::start(3).unwrap();
        let inner = AtomicUsize::new(0);
        pool.run(3, &|_| {
            pool.run(3, &|w| {
                assert_eq!(w, 0);
                inner.fetch_add(1, Ordering::Relaxed);
            });
        });
        assert_eq!(inner.into_inner(), 3);
    }

    #[test]
    fn parked_workers_wake_and_two_callers_do_not_block() {
        let pool = Pool::start(2).unwrap();
        let count = AtomicUsize::new(0);
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(1));
            pool.run(2, &|_| {
                count.fetch_add(1, Ordering::Relaxed);
            });
        }
        assert_eq!(count.into_inner(), 40);
        let ran = AtomicUsize::new(0);
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    for _ in 0..500 {
                        let seen = AtomicUsize::new(0);
                        pool.run(2, &|_| {
                            seen.fetch_add(1, Ordering::Relaxed);
                        });
                        assert!((1..=2).contains(&seen.into_inner()));
                        ran.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(ran.into_inner(), 2000);
    }
}
