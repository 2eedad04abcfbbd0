//! Files after a signal.

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::folder;

/// The temporary files in a folder.
fn temporary(folder: &tempfile::TempDir) -> usize {
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with(".wgmax-")).count()
}

fn send(signal: &str, to: &Child) {
    let sent = Command::new("kill").args([signal, &to.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// A program with the usual signals: the tests may run where they are ignored, as under nohup.
pub fn default_signals(program: &str) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP,INT,TERM", program]);
    command
}

/// A command that has a temporary file and waits for an input without end.
fn waiting(folder: &tempfile::TempDir, before: &str) -> Child {
    let case = folder.path().join("cases/one");
    super::check::write_case(&case, 2.0, "ok", 0);
    fs::remove_file(case.join("in.npy")).unwrap();
    assert!(Command::new("mkfifo").arg(case.join("in.npy")).status().unwrap().success());
    let mut child = default_signals("sh")
        .args(["-c", &format!("{before} exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_wgmax")])
        .args(["check", "--device", "cpu", "--json"])
        .args([folder.path().join("report"), folder.path().join("cases")])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while temporary(folder) == 0 {
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none(), "the command ended early: {ended:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn signals_leave_no_temporary_file() {
    for (signal, number) in [("-INT", 2), ("-TERM", 15), ("-HUP", 1)] {
        let (folder, at) = folder();
        let mut child = waiting(&folder, "");
        send(signal, &child);
        assert_eq!(child.wait().unwrap().signal(), Some(number), "{signal}");
        assert_eq!(temporary(&folder), 0, "{signal}");
        assert!(fs::metadata(at("report")).is_err(), "{signal}");
    }
}

/// `nohup` and shells have signals ignored.
#[test]
fn ignored_signals_stay_ignored() {
    let (folder, _at) = folder();
    let mut child = waiting(&folder, "trap '' HUP INT;");
    send("-HUP", &child);
    send("-INT", &child);
    send("-TERM", &child);
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    assert_eq!(temporary(&folder), 0);
}

/// The measurement of many items.
fn benchmark(at: &impl Fn(&str) -> String) -> Command {
    let mut command = default_signals(env!("CARGO_BIN_EXE_wgmax"));
    command.args(["bench", "--device", "cpu", "--filter", "R0|P0|S0", "--seconds", "2"]);
    command.args(["--json", &at("b.json")]);
    command
}

/// Measurements of many items, of which at least one is done.
fn measuring(at: &impl Fn(&str) -> String) -> (Child, impl BufRead) {
    let mut child = benchmark(at)
        .args(["--plot", &at("b.svg")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert!(line.starts_with("R00"), "{line}");
    (child, lines)
}

#[test]
fn measurements_survive_a_signal() {
    let (folder, at) = folder();
    let (child, mut lines) = measuring(&at);
    assert_eq!(temporary(&folder), 2);
    send("-INT", &child);
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut lines, &mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?} {rest}");
    assert!(rest.contains("wgmax: stopping"), "{rest}");
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("R00") && shown.contains("cut off by a signal"), "{shown}");
    let report: Value = serde_json::from_slice(&fs::read(at("b.json")).unwrap()).unwrap();
    assert_eq!(report["cut_off"], true);
    let rows = report["rows"].as_array().unwrap();
    assert!((1..20).contains(&rows.len()), "{report}");
    // At most the last one was cut off, and says so in the table as well.
    let cut: Vec<bool> = rows.iter().map(|row| row["cut_off"].as_bool().unwrap()).collect();
    assert!(!cut[..cut.len() - 1].contains(&true), "{report}");
    assert_eq!(shown.contains("┆ cut off "), cut.ends_with(&[true]), "{shown}");
    for row in rows {
        assert!(row["runs"].as_u64().unwrap() > 0 && row["min_s"].as_f64().unwrap() > 0.0, "{row}");
    }
    assert!(fs::read_to_string(at("b.svg")).unwrap().contains("cut off by a signal"));
    assert_eq!(temporary(&folder), 0);
}

#[test]
fn a_second_signal_ends_at_once() {
    let (folder, at) = folder();
    let (mut child, mut lines) = measuring(&at);
    send("-TERM", &child);
    let mut line = String::new();
    while !line.starts_with("wgmax: stopping") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "the command ended");
    }
    send("-INT", &child);
    let status = child.wait().unwrap();
    // Unless the command was so fast that it was done before.
    assert!(status.signal() == Some(2) || status.code() == Some(143), "{status}");
    assert_eq!(temporary(&folder), 0);
}

/// Also where standard error is a full pipe that nobody reads.
#[test]
fn a_second_signal_ends_at_once_though_nothing_can_be_printed() {
    let (folder, at) = folder();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut child =
        benchmark(&at).stdout(Stdio::null()).stderr(writer.try_clone().unwrap()).spawn().unwrap();
    let mut lines = BufReader::new(reader);
    lines.read_line(&mut String::new()).unwrap();
    // The same pipe, opened once more, so that writing to it does not wait.
    const O_NONBLOCK: i32 = 0o4000;
    let mut filling = fs::OpenOptions::new()
        .write(true)
        .custom_flags(O_NONBLOCK)
        .open(format!("/proc/self/fd/{}", writer.as_raw_fd()))
        .unwrap();
    let full = loop {
        if let Err(error) = filling.write(b".") {
            break error;
        }
    };
    assert_eq!(full.kind(), ErrorKind::WouldBlock);
    send("-INT", &child);
    let start = Instant::now();
    let status = loop {
        send("-TERM", &child);
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if start.elapsed() > Duration::from_secs(60) => {
                child.kill().unwrap();
                panic!("the command goes on");
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    assert_eq!(status.signal(), Some(15), "{status}");
    assert_eq!(temporary(&folder), 0);
}
