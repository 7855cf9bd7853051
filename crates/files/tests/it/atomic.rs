//! A file is whole or not there.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use sapwood_files::{check_replaceable, write_atomic};

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn only_a_file_of_the_same_kind_may_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.tsv");
    check_replaceable(&path, "node\t").unwrap();
    check_replaceable(folder.path(), "node\t").unwrap();
    for mine in ["", "no", "node\t", "node\tlabel\n"] {
        fs::write(&path, mine).unwrap();
        check_replaceable(&path, "node\t").unwrap();
    }
    for other in ["n ", "node", "0\t1\n"].map(|text| text.replace("node", "nods")) {
        fs::write(&path, &other).unwrap();
        let error = check_replaceable(&path, "node\t").unwrap_err();
        assert!(error.to_string().starts_with("cannot replace ") && error.to_string().ends_with("p.tsv"), "{error}");
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "it holds something else");
    }
}

/// A disk that is full after so many bytes.
struct Full<'a> {
    out: &'a mut dyn Write,
    left: usize,
}

impl Write for Full<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let n = bytes.len().min(self.left);
        self.left -= n;
        self.out.write(&bytes[..n])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[test]
fn writes_and_replaces() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.txt");
    for content in ["first", "second, longer", ""] {
        write_atomic(&path, |out| out.write_all(content.as_bytes())).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
        assert_eq!(names(folder.path()), ["out.txt"]);
    }
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.txt");
    fs::write(&path, "old").unwrap();
    for left in [0, 1, 1 << 17, 300_000] {
        let error = write_atomic(&path, |out| Full { out, left }.write_all(&vec![7; 400_000])).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot write {}", path.display()));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["out.txt"]);
    }
    let fresh = folder.path().join("fresh.txt");
    assert!(write_atomic(&fresh, |out| Full { out, left: 5 }.write_all(b"too much")).is_err());
    assert_eq!(names(folder.path()), ["out.txt"]);
}

#[test]
fn a_panic_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.txt");
    fs::write(&path, "old").unwrap();
    let result = std::panic::catch_unwind(|| {
        write_atomic(&path, |out| {
            out.write_all(b"half")?;
            panic!("in the middle")
        })
    });
    assert!(result.is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(folder.path()), ["out.txt"]);
}

#[test]
fn what_cannot_be_a_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let dash = write_atomic(Path::new("-"), |_| Ok(())).unwrap_err();
    assert!(dash.to_string().contains("cannot write -"));
    assert!(write_atomic(folder.path(), |_| Ok(())).is_err(), "a folder");
    assert!(write_atomic(&folder.path().join("no/such/x"), |_| Ok(())).is_err());
    assert!(names(folder.path()).is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn devices_are_written_and_stay_devices() {
    use std::os::unix::fs::FileTypeExt;
    write_atomic(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    // the real thing: every write to this device says that the disk is full
    assert!(write_atomic(Path::new("/dev/full"), |out| out.write_all(b"x")).is_err());
}

#[cfg(unix)]
#[test]
fn links_and_permissions_survive() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    fs::write(&real, "old").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real", &link).unwrap();
    write_atomic(&link, |out| out.write_all(b"new")).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);

    let (fresh, plain) = (folder.path().join("fresh"), folder.path().join("plain"));
    write_atomic(&fresh, |_| Ok(())).unwrap();
    fs::write(&plain, "").unwrap();
    let mode = |path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&fresh), mode(&plain), "a new file gets the permissions of any new file");
}

#[test]
fn a_long_name_fits() {
    let folder = tempfile::tempdir().unwrap();
    let name = "ä".repeat(120); // 240 bytes; most file systems allow 255
    write_atomic(&folder.path().join(&name), |out| out.write_all(b"x")).unwrap();
    assert_eq!(names(folder.path()), [name]);
}
