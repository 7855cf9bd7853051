//! The interrupt flag: long work asks [`requested`] at its borders, keeps what it has, and ends.
//!
//! The first SIGINT or SIGTERM raises the flag, a second one ends the process at once with code
//! 130. SIGHUP is left alone, so that `nohup` works.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::{Error, Result};

static FLAG: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static INSTALLED: Mutex<bool> = Mutex::new(false);

/// Starts to catch SIGINT and SIGTERM. Calling it again does nothing.
///
/// # Errors
/// When the system refuses the handlers.
pub fn install() -> Result<()> {
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if !*installed {
        catch(SIGINT).and_then(|()| catch(SIGTERM)).map_err(Error::Signals)?;
        *installed = true;
    }
    Ok(())
}

/// Whether an interrupt has arrived since [`install`].
pub fn requested() -> bool {
    FLAG.load(Ordering::Relaxed)
}

fn catch(signal: i32) -> io::Result<()> {
    // handlers run in this order: the first signal finds the flag down and raises it
    flag::register_conditional_shutdown(signal, 130, Arc::clone(&FLAG))?;
    flag::register(signal, Arc::clone(&FLAG))?;
    Ok(())
}
