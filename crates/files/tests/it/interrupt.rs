//! The flag and the second signal, in child processes: the flag of this process stays down.
#![cfg(unix)]

use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use sapwood_files::interrupt;

const ROLE: &str = "SAPWOOD_TEST_INTERRUPT";

/// Not a test by itself: the child's part, asked for by the variable.
#[test]
fn child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    interrupt::install().unwrap();
    interrupt::install().unwrap(); // twice is once
    assert!(!interrupt::requested());
    std::fs::write(&role, "ready").unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    let mut told = false;
    while Instant::now() < end {
        if interrupt::requested() && !told {
            std::fs::write(&role, "requested").unwrap();
            told = true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn start(mark: &std::path::Path) -> Child {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "interrupt::child", "--nocapture"])
        .env(ROLE, mark)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(mark, "ready");
    child
}

fn wait_for(mark: &std::path::Path, word: &str) {
    let end = Instant::now() + Duration::from_secs(15);
    while std::fs::read_to_string(mark).unwrap_or_default() != word {
        assert!(Instant::now() < end, "the child never said {word}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

fn end(mut child: Child) -> ExitStatus {
    child.wait().unwrap()
}

#[test]
fn first_signal_asks_second_ends_with_130() {
    for (first, second) in [("-INT", "-INT"), ("-TERM", "-TERM"), ("-TERM", "-INT")] {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let child = start(&mark);
        signal(&child, first);
        wait_for(&mark, "requested");
        signal(&child, second);
        assert_eq!(end(child).code(), Some(130), "{first} then {second}");
    }
    assert!(!interrupt::requested());
}

#[test]
fn a_hang_up_is_not_caught() {
    use std::os::unix::process::ExitStatusExt;
    let folder = tempfile::tempdir().unwrap();
    let child = start(&folder.path().join("mark"));
    signal(&child, "-HUP");
    assert_eq!(end(child).signal(), Some(1), "the default action of SIGHUP");
}
