use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::{Content, Place, WholeFile};
use crate::base::error::Result;

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = WholeFile::create(path)?;
    file.write_all(bytes).unwrap();
    file.finish()
}

/// A full disk, in place of the temporary file.
#[cfg(target_os = "linux")]
fn full(path: &Path) -> WholeFile {
    let mut file = WholeFile::create(path).unwrap();
    let device = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    file.place = Place::Open(device);
    file
}

#[test]
fn a_file_that_is_not_finished_leaves_the_old_one_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    fs::write(&path, "old").unwrap();
    let mut file = WholeFile::create(&path).unwrap();
    file.write_all(&[7; 100_000]).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    drop(file);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    write(&path, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn content_may_be_written_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let mut memory = WholeFile::create(&path).unwrap();
    memory.content = std::io::BufWriter::new(Content::Memory { bytes: Vec::new(), at: 0 });
    memory.place = Place::Over(path.clone());
    fs::write(&path, "a longer text, which is cut").unwrap();
    for mut file in [memory, WholeFile::create(&path).unwrap()] {
        file.write_all(b"0123456789").unwrap();
        file.seek(SeekFrom::Start(2)).unwrap();
        file.write_all(b"ab").unwrap();
        assert_eq!(file.stream_position().unwrap(), 4);
        assert_eq!(file.seek(SeekFrom::End(-1)).unwrap(), 9);
        file.write_all(b"xy").unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"01ab45678xy");
        fs::write(&path, "").unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_first_error_is_kept_and_the_file_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    fs::write(&path, "old").unwrap();
    let mut file = full(&path);
    file.failed = Some(std::io::ErrorKind::StorageFull.into());
    file.write_all(&[7; 100_000]).unwrap();
    assert_eq!(file.seek(SeekFrom::Current(5)).unwrap(), 100_005);
    let error = file.finish().unwrap_err().to_string();
    assert!(error.contains("x.npy: no storage space"), "{error}");
    assert!(!error.contains(".wgmax"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let error = write(Path::new("/dev/full"), b"x").unwrap_err().to_string();
    assert!(error.starts_with("/dev/full: No space left"), "{error}");
}

#[cfg(unix)]
#[test]
fn permissions_and_links_are_those_of_a_plain_write() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode();

    fs::write(at("plain"), "").unwrap();
    write(&at("ours"), b"").unwrap();
    assert_eq!(mode("ours"), mode("plain"));

    fs::set_permissions(at("ours"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink(at("ours"), at("link")).unwrap();
    write(&at("link"), b"through").unwrap();
    assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
    assert_eq!(fs::read(at("ours")).unwrap(), b"through");
    assert_eq!(mode("ours") & 0o777, 0o640);

    fs::set_permissions(at("ours"), fs::Permissions::from_mode(0o440)).unwrap();
    write(&at("ours"), b"no").unwrap_err();
    assert_eq!(fs::read(at("ours")).unwrap(), b"through");

    // A link to a link to a file that does not exist.
    fs::create_dir(at("folder")).unwrap();
    symlink("folder/second", at("first")).unwrap();
    symlink("third", at("folder/second")).unwrap();
    write(&at("first"), b"made").unwrap();
    assert!(fs::symlink_metadata(at("first")).unwrap().is_symlink());
    assert!(fs::symlink_metadata(at("folder/second")).unwrap().is_symlink());
    assert_eq!(fs::read(at("folder/third")).unwrap(), b"made");
    symlink("loop", at("loop")).unwrap();
    write(&at("loop"), b"no").unwrap_err();
}

/// A file in a folder that permits no new files. The superuser may write everywhere, so the test
/// sets the place itself.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_replaced_is_overwritten_unless_it_is_mapped() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    fs::write(&path, "a longer text").unwrap();
    let number = fs::metadata(&path).unwrap().ino();
    let over = || {
        let memory = Content::Memory { bytes: Vec::new(), at: 0 };
        let mut file = WholeFile::new(&path, Place::Over(path.clone()), None);
        file.content = std::io::BufWriter::new(memory);
        file.write_all(b"short").unwrap();
        file.finish()
    };
    let mapped = super::Mapped::new(&fs::metadata(&path).unwrap());
    let error = over().unwrap_err().to_string();
    assert!(error.contains("x: it is being read"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"a longer text");
    drop(mapped);
    over().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"short");
    assert_eq!(fs::metadata(&path).unwrap().ino(), number);
}

/// A signal's handler waits until a file is completely overwritten.
#[test]
fn signals_wait_until_a_file_is_overwritten() {
    struct Watched(usize);
    impl Read for Watched {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            // Other tests may hold the lock for a moment.
            let free = (0..1000).find(|_| {
                std::thread::yield_now();
                !super::temporary::is_locked()
            });
            assert_eq!(free, None);
            self.0 = self.0.saturating_sub(1);
            to[..self.0].fill(b'x');
            Ok(self.0)
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    fs::write(&path, "a longer text").unwrap();
    super::overwrite(&path, &mut Watched(4), &|_| Ok(())).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"xxxxxx");
}

/// A file is refused if another process has written to it since it was read, so that nothing is
/// lost.
#[test]
fn a_file_that_another_has_written_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let over = || {
        let mut file = WholeFile::new(&path, Place::Over(path.clone()), None);
        file.write_all(b"mine").unwrap();
        file
    };
    for old in [None, Some(""), Some("text")] {
        for make in [&over as &dyn Fn() -> WholeFile, &|| WholeFile::create(&path).unwrap()] {
            let _ = fs::remove_file(&path);
            old.iter().for_each(|old| fs::write(&path, old).unwrap());
            let mut file = make();
            assert_eq!(file.extended().is_some(), old == Some("text"));
            write(&path, b"of another").unwrap();
            let error = file.finish().unwrap_err().to_string();
            assert!(error.contains("x: it was written by another"), "{error}");
            assert_eq!(fs::read(&path).unwrap(), b"of another");
            // It is written if the file has not changed, or if none of its content is kept.
            let mut file = make();
            file.extended();
            if old.is_none() {
                file.basis = None;
                write(&path, b"of another").unwrap();
            }
            file.finish().unwrap();
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn pipes_and_devices_are_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let reader = std::thread::spawn({
        let path = path.clone();
        move || {
            let mut text = String::new();
            fs::File::open(path).unwrap().read_to_string(&mut text).unwrap();
            text
        }
    });
    write(&path, b"through").unwrap();
    assert_eq!(reader.join().unwrap(), "through");
    use std::os::unix::fs::FileTypeExt;
    assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
