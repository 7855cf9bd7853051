//! Whether a launcher (`mpirun`, `srun`) started this process as one of several ranks.

use crate::{Error, Result};

/// Variables in which launchers give the number of ranks. `SLURM_NTASKS` alone also exists in a batch script and does not count.
const VARIABLES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// This build has no MPI: started as one of several ranks it would do the same work several times, so it refuses.
///
/// # Errors
/// [`Error::LaunchedWithoutMpi`] with the variable that told.
pub fn refuse_ranks() -> Result<()> {
    refuse(|name| std::env::var(name).ok())
}

fn refuse(variable: impl Fn(&str) -> Option<String>) -> Result<()> {
    for name in VARIABLES {
        if let Some(ranks) = variable(name).and_then(|v| v.trim().parse::<usize>().ok()).filter(|&n| n > 1) {
            return Err(Error::LaunchedWithoutMpi { variable: name, ranks });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_ranks_are_refused_and_one_is_not() {
        let with = |key: &'static str, value: &'static str| refuse(move |n| (n == key).then(|| value.to_owned()));
        assert!(with("PATH", "2").is_ok() && with("PMI_SIZE", "1").is_ok() && with("PMI_SIZE", "x").is_ok());
        assert!(with("SLURM_NTASKS", "8").is_ok());
        let error = with("OMPI_COMM_WORLD_SIZE", "4").unwrap_err();
        assert!(matches!(error, Error::LaunchedWithoutMpi { variable: "OMPI_COMM_WORLD_SIZE", ranks: 4 }));
    }
}
