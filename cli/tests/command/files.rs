//! Targets of outputs: devices, pipes, links, archives, and files that are not writable.

use std::fs;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::process::{Command, Output, Stdio};

use wgmax::Tensor;

#[cfg(target_os = "linux")]
use super::{command, stderr, stdout};
use super::{folder, refused, streams::fed, succeeds};

/// The arguments of a command that writes a report soon: two cases on the CPU.
#[cfg(target_os = "linux")]
const VERIFY: [&str; 7] = ["verify", "--device", "cpu", "--seed", "1", "--cases", "2"];

#[cfg(target_os = "linux")]
fn report(to: &str) -> Output {
    command(&[&VERIFY[..], &["--json", to]].concat()).output().unwrap()
}

/// Runs a command of the system.
#[cfg(target_os = "linux")]
#[track_caller]
fn run(arguments: &[&str]) -> bool {
    Command::new(arguments[0])
        .args(&arguments[1..])
        .stderr(Stdio::null())
        .status()
        .unwrap()
        .success()
}

/// As [`run`]; if it is not permitted, prints that a part of the test is left out.
#[cfg(target_os = "linux")]
fn made(arguments: &[&str]) -> bool {
    let made = run(arguments);
    if !made {
        eprintln!("left out, because {arguments:?} is not permitted");
    }
    made
}

#[cfg(target_os = "linux")]
#[test]
fn devices_and_pipes_stay_what_they_are() {
    use std::os::unix::fs::FileTypeExt;
    let (_folder, at) = folder();
    // The device of /dev/null; only the superuser may make one.
    if made(&["mknod", &at("null"), "c", "1", "3"]) {
        assert!(report(&at("null")).status.success());
        assert!(fs::metadata(at("null")).unwrap().file_type().is_char_device());
    }
    if made(&["mknod", &at("full"), "c", "1", "7"]) {
        let output = report(&at("full"));
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(stderr(&output).contains("full: No space left"), "{output:?}");
    }
    assert!(run(&["mkfifo", &at("pipe")]));
    let reader = Command::new("cat").arg(at("pipe")).stdout(Stdio::piped()).spawn().unwrap();
    assert!(report(&at("pipe")).status.success());
    let read = reader.wait_with_output().unwrap().stdout;
    assert!(String::from_utf8(read).unwrap().contains("\"seed\""));
    assert!(fs::metadata(at("pipe")).unwrap().file_type().is_fifo());

    // Standard output, as a pipe and as a file, whose other content stays.
    assert!(stdout(&report("/dev/stdout")).contains("\"seed\""));
    let file = fs::File::create(at("all")).unwrap();
    let output =
        command(&[&VERIFY[..], &["--json", "/dev/stdout"]].concat()).stdout(file).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let all = fs::read_to_string(at("all")).unwrap();
    assert!(all.contains("\"seed\"") && all.contains("bit for bit"), "{all}");
}

#[cfg(target_os = "linux")]
#[test]
fn links_are_followed_and_modes_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (_folder, at) = folder();
    fs::write(at("old.json"), "old").unwrap();
    fs::set_permissions(at("old.json"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink(at("old.json"), at("link")).unwrap();
    symlink("new.json", at("dangling")).unwrap();
    for (link, file) in [("link", "old.json"), ("dangling", "new.json")] {
        let output = report(&at(link));
        assert!(output.status.success(), "{output:?}");
        assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink(), "{link}");
        assert!(fs::read_to_string(at(file)).unwrap().contains("\"seed\""), "{file}");
    }
    assert_eq!(fs::metadata(at("old.json")).unwrap().permissions().mode() & 0o777, 0o600);

    fs::set_permissions(at("old.json"), fs::Permissions::from_mode(0o444)).unwrap();
    let before = fs::read(at("old.json")).unwrap();
    for path in ["link", "old.json", "missing/x.json", "."] {
        let output = report(&at(path));
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{path}: {output:?}");
        assert!(error.contains(path) && error.lines().count() == 1, "{error}");
        assert!(!error.contains(".wgmax"), "{error}");
        // No case has run.
        assert!(output.stdout.is_empty(), "{output:?}");
    }
    assert_eq!(fs::read(at("old.json")).unwrap(), before);
}

/// As a user: a folder without permission to write, with a file that has it; and a file of another
/// user and of a group that the user is in.
#[cfg(target_os = "linux")]
#[test]
fn a_file_in_a_folder_that_takes_no_files_is_overwritten() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let (folder, at) = folder();
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let superuser = fs::metadata("/proc/self").unwrap().uid() == 0;
    if superuser && !run(&["setpriv", "--version"]) {
        eprintln!("left out: the superuser needs setpriv to act as another user");
        return;
    }
    fs::create_dir(at("locked")).unwrap();
    fs::write(at("locked/report"), "a longer text\n".repeat(10_000)).unwrap();
    mode(Path::new(&at("locked/report")), 0o666);
    mode(Path::new(&at("locked")), 0o555);
    mode(folder.path(), 0o755);
    let number = || fs::metadata(at("locked/report")).unwrap().ino();
    let before = number();
    let program = env!("CARGO_BIN_EXE_wgmax");
    // Users other than the superuser are bound by permissions.
    let user = |to: &str| {
        let json = ["--json", to];
        let arguments = [&[program], &VERIFY[..], &json].concat();
        match superuser {
            true => Command::new("setpriv")
                .args(["--reuid=65534", "--regid=65534", "--groups=4711"])
                .args(arguments)
                .output()
                .unwrap(),
            false => report(to),
        }
    };
    let output = user(&at("locked/report"));
    if stderr(&output).contains("failed to execute") {
        eprintln!("left out: only the owner of the program's folder may read it");
        return;
    }
    assert!(output.status.success(), "{output:?}");
    let text = fs::read_to_string(at("locked/report")).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
    assert_eq!(number(), before);
    assert!(user("/dev/null").status.success());
    let output = user(&at("locked/new"));
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(error.contains("locked/new: ") && !error.contains(".wgmax"), "{error}");
    mode(Path::new(&at("locked")), 0o755);

    if superuser {
        fs::create_dir(at("shared")).unwrap();
        mode(Path::new(&at("shared")), 0o777);
        fs::write(at("shared/report"), "").unwrap();
        std::os::unix::fs::chown(at("shared/report"), Some(1), Some(4711)).unwrap();
        mode(Path::new(&at("shared/report")), 0o660);
        assert!(user(&at("shared/report")).status.success());
        let report = fs::metadata(at("shared/report")).unwrap();
        assert_eq!((report.uid(), report.gid()), (65534, 4711));
        assert_eq!(report.mode() & 0o777, 0o660);
    }
}

/// An archive on a full disk is an error of one line, without messages of the library that writes archives.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_line() {
    let (_folder, at) = folder();
    for extension in ["npy", "npz", "safetensors", "pb"] {
        let link = at(&format!("full.{extension}"));
        std::os::unix::fs::symlink("/dev/full", &link).unwrap();
        let fixed = ["reduce-max", &at("x.npy"), "--device", "cpu", "-o"];
        refused(&[&fixed[..], &[&link]].concat(), "No space left on device");
    }
    // The same for a file that is replaced. The shell limits the size of files.
    let large = Tensor::from_slice([1 << 16], &vec![1f32; 1 << 16]).unwrap();
    wgmax::io::write(&at("large.npy"), &large).unwrap();
    for extension in ["npy", "npz", "safetensors", "pb"] {
        let out = at(&format!("z.{extension}"));
        fs::write(&out, "").unwrap();
        let output = Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""])
            .arg(env!("CARGO_BIN_EXE_wgmax"))
            .args(["reduce-max", &at("large.npy"), "--axes", "", "--device", "cpu", "-o", &out])
            .output()
            .unwrap();
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(error.contains(&format!("z.{extension}: File too large")), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert_eq!(fs::metadata(out).unwrap().len(), 0);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_printed_is_an_error() {
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["reduce-max", "-h"],
        &[],
        &["completions", "bash"],
        &["completions", "zsh"],
        &["man"],
        &["shader"],
        &["bench", "--list"],
    ] {
        let output = command(arguments).stdout(full()).output().unwrap();
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(error.starts_with("wgmax: standard output: No space left"), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        // A closed pipe is no error.
        let mut child =
            command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && stderr(&output).is_empty(), "{output:?}");
    }
}

#[test]
fn standard_input_is_called_what_it_is() {
    let (_folder, at) = folder();
    let x = wgmax::io::read(&at("x.npy")).unwrap();
    let file = |name: &str| {
        wgmax::io::write(&at(name), &x).unwrap();
        fs::read(at(name)).unwrap()
    };
    for (arguments, bytes, expected) in [
        (&["reduce-max", "-", "--device", "cpu"][..], Vec::new(), "it is empty"),
        (&["reduce-max", "pb:-", "--device", "cpu"], Vec::new(), "it is empty"),
        (&["onnx", "-", "--list"], Vec::new(), "it is empty"),
        (&["onnx", "-", "--list"], file("y.npz"), "it is an npz archive; only a model in one file"),
        (&["reduce-max", "-", "--device", "cpu"], file("x.npz"), "it is an npz archive"),
        (
            &["reduce-max", "-", "--device", "cpu"],
            file("x.safetensors"),
            "it is a safetensors file",
        ),
    ] {
        let output = fed(arguments, &bytes);
        let error = super::stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(error.starts_with(&format!("wgmax: standard input: {expected}")), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn archives_keep_their_other_arrays() {
    let (_folder, at) = folder();
    let image = Tensor::from_slice([1, 1, 2, 2], &[1f32, 5.0, 3.0, 2.0]).unwrap();
    for extension in ["npz", "safetensors"] {
        let spec = |name: &str| at(&format!("a.{extension}:{name}"));
        wgmax::io::write(&spec("image"), &image).unwrap();
        wgmax::io::write(&spec("other"), &image).unwrap();
        // Two results, and both go to the archive of the input.
        let pool = ["max-pool", &spec("image"), "--kernel", "2,2", "--device", "cpu"];
        succeeds(&[&pool[..], &["-o", &spec("max"), "--indices", &spec("where")]].concat());
        let read = |name: &str| wgmax::io::read(&spec(name)).unwrap();
        assert_eq!(read("max").to_vec::<f32>().unwrap(), [5.0]);
        assert_eq!(read("where").to_vec::<i64>().unwrap(), [1]);
        assert_eq!(read("image").bytes(), image.bytes());
        assert_eq!(read("other").bytes(), image.bytes());

        let whole = at(&format!("a.{extension}"));
        let reduce = ["reduce-max", &spec("image"), "--device", "cpu", "-o", &whole];
        refused(&reduce, "a file that is read");
        let others = ["reduce-max", &at("x.npy"), "--device", "cpu", "-o", &whole];
        refused(&others, "holds 4 ");
        assert_eq!(read("max").to_vec::<f32>().unwrap(), [5.0]);
        succeeds(&[&reduce[..], &["--force"]].concat());
        let only = wgmax::io::read(&whole).unwrap();
        assert_eq!(only.to_vec::<f32>().unwrap(), [5.0]);
    }
    assert!(!Path::new(&at("a.npy")).exists());
}
