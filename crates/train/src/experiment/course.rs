//! One run, from its start or its checkpoint to its end.
//!
//! What an epoch leaves behind goes into the history, then to the observer, then into a checkpoint if one is due: a kill
//! between any two of these loses no epoch that a checkpoint holds. An interrupt ends the run after its epoch. The extra
//! evaluation that it then gets for the table is no part of the checkpoint, so that the run, resumed, is the unbroken one.

use super::{EpochRecord, Observer, RunRecord};
use crate::Result;
use crate::checkpoint::{Best, Saving, State};
use crate::evaluate::Evaluation;
use crate::number::Number;
use crate::select::Candidate;
use crate::settings::Settings;
use crate::trainer::{NonFinite, Run, Trained};
use sapwood_files::interrupt;
use std::time::Instant;

/// Trains `run` to its end; also whether an interrupt ended it or came in its last epoch.
pub(super) fn run<T: Number>(
    mut run: Run<'_, '_, T>,
    settings: &Settings,
    saving: Option<&Saving>,
    observer: &mut dyn Observer,
) -> Result<(RunRecord, bool)> {
    let start = Instant::now();
    let mut state = run.resume(saving)?;
    let resumed = state.epoch;
    if resumed > 0 {
        observer.resumed(run.method(), run.seed(), resumed);
    }
    let (mut broken, mut stopped, mut unsaved) = (None, false, None);
    // A run out of patience stays so; one that ended because its epochs did goes on if there are more now.
    let mut ended = state.finished && (state.epoch >= settings.epochs || out_of_patience(settings, &state));
    while !ended && broken.is_none() && !stopped {
        broken = epoch(&mut run, settings, &mut state, observer)?;
        stopped = interrupt::requested();
        ended = state.epoch >= settings.epochs || out_of_patience(settings, &state);
        state.finished = ended;
        if broken.is_none() {
            save(&mut run, &state, saving, (ended || stopped, &mut unsaved), observer);
        }
    }
    if stopped && !ended && broken.is_none() {
        last_look(&mut run, settings, &mut state)?;
    }
    Ok((record(run, state, (broken, ended, unsaved), (start, resumed))?, stopped))
}

/// One epoch and what is due after it; where the run broke, if it did.
fn epoch<T: Number>(
    run: &mut Run<'_, '_, T>,
    settings: &Settings,
    state: &mut State,
    observer: &mut dyn Observer,
) -> Result<Option<NonFinite>> {
    let clock = Instant::now();
    let trained = run.train_epoch()?;
    let (epoch, train_s) = (run.epoch(), clock.elapsed().as_secs_f64());
    state.epoch = epoch;
    let due = epoch == settings.epochs || epoch.is_multiple_of(settings.eval_every);
    let clock = Instant::now();
    let evaluation = if due && trained.broken.is_none() { Some(run.evaluate()?) } else { None };
    let evaluate_s = clock.elapsed().as_secs_f64();
    let mut broken = trained.broken.clone();
    match evaluation {
        Some(found) if found.finite => choose(run, settings, state, (&trained, found))?,
        Some(_) => broken = Some(run.broken_in_evaluation()?),
        None => {}
    }
    state.history.push(trained.loss, trained.lr, trained.isolated, evaluation.as_ref().filter(|found| found.finite));
    observer.epoch(&EpochRecord {
        method: run.method(),
        seed: run.seed(),
        epoch,
        train_loss: trained.loss,
        lr: trained.lr,
        isolated: trained.isolated,
        evaluation,
        train_s,
        evaluate_s,
    })?;
    Ok(broken)
}

/// Keeps the weights if the selection rule prefers them.
fn choose<T: Number>(
    run: &mut Run<'_, '_, T>,
    settings: &Settings,
    state: &mut State,
    (trained, evaluation): (&Trained, Evaluation),
) -> Result<()> {
    let candidate = |epoch, train_mode_val_loss, found: &Evaluation| Candidate {
        epoch,
        val_loss: found.val_loss,
        val_acc: found.val_acc,
        train_mode_val_loss,
    };
    let new = candidate(run.epoch(), trained.val_loss, &evaluation);
    let old = state.best.as_ref().map(|best| candidate(best.epoch, best.train_mode_val_loss, &best.evaluation));
    if old.is_none_or(|old| (settings.select.replaces)(&new, &old)) {
        run.keep()?;
        state.best = Some(Best { epoch: new.epoch, train_mode_val_loss: trained.val_loss, evaluation });
    }
    Ok(())
}

/// Whether the last `--patience` epochs brought nothing better; asked after evaluations, so that the last epoch has one.
fn out_of_patience(settings: &Settings, state: &State) -> bool {
    let evaluated = state.history.evaluated.last() == Some(&state.epoch);
    let best = state.best.as_ref().map_or(0, |best| best.epoch);
    settings.patience > 0 && evaluated && state.epoch - best >= settings.patience
}

/// Writes a checkpoint if one is due.
fn save<T: Number>(
    run: &mut Run<'_, '_, T>,
    state: &State,
    saving: Option<&Saving>,
    (last, unsaved): (bool, &mut Option<String>),
    observer: &mut dyn Observer,
) {
    let Some(saving) = saving.filter(|saving| last || state.epoch.is_multiple_of(saving.every)) else { return };
    *unsaved = None;
    if let Err(failure) = saving.save(state.clone(), &run.parts()) {
        observer.unsaved(&failure);
        *unsaved = Some(failure.to_string());
    }
}

/// The evaluation of a run that an interrupt cut short.
fn last_look<T: Number>(run: &mut Run<'_, '_, T>, settings: &Settings, state: &mut State) -> Result<()> {
    if state.history.evaluated.last() == Some(&state.epoch) {
        return Ok(());
    }
    let found = run.evaluate()?;
    if found.finite && !settings.select.train_mode {
        let nothing = Trained { loss: f64::NAN, lr: f64::NAN, val_loss: f64::NAN, isolated: 0, broken: None };
        choose(run, settings, state, (&nothing, found))?;
    }
    Ok(())
}

fn record<T: Number>(
    mut run: Run<'_, '_, T>,
    state: State,
    (broken, ended, unsaved): (Option<NonFinite>, bool, Option<String>),
    (start, resumed): (Instant, u32),
) -> Result<RunRecord> {
    let inspection = if state.best.is_some() { Some(run.inspect()?) } else { None };
    let run_s = start.elapsed().as_secs_f64();
    Ok(RunRecord {
        method: run.method().to_owned(),
        seed: run.seed(),
        epochs: run.epoch(),
        resumed,
        best_epoch: state.best.as_ref().map(|best| best.epoch),
        train_loss: state.history.train_loss.last().copied().unwrap_or(f64::NAN),
        best: state.best.as_ref().map(|best| best.evaluation),
        history: state.history,
        inspection,
        fingerprint: run.fingerprint(),
        cut_short: !ended && broken.is_none(),
        broken,
        unsaved,
        run_s,
        epoch_s: run_s / f64::from((run.epoch() - resumed).max(1)),
    })
}
