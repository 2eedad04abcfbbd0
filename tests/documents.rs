//! Files, folders and shader conditions that documents name exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Names with these extensions are files of the project. Others are examples.
const EXTENSIONS: [&str; 9] = ["rs", "wgsl", "md", "toml", "js", "ts", "py", "pyi", "d"];

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The documents for those who read or change the project.
fn documents() -> Vec<String> {
    let guides = fs::read_dir(Path::new(ROOT).join("src/guide")).unwrap();
    let guides = guides.map(|entry| format!("src/guide/{}", entry.unwrap().file_name().display()));
    ["ARCHITECTURE.md", "README.md", "BENCHMARKS.md", "docs/proof.md"]
        .map(String::from)
        .into_iter()
        .chain(guides.filter(|path| path.ends_with(".md")))
        .collect()
}

/// The paths of all files and folders below `folder`, relative to the root. Those of folders end with `/`.
fn paths(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if ["target", "node_modules", ".git"].contains(&&*name) {
            continue;
        }
        let relative = path.strip_prefix(ROOT).unwrap().to_string_lossy().replace('\\', "/");
        if path.is_dir() {
            found.push(format!("/{relative}/"));
            paths(&path, found);
        } else {
            found.push(format!("/{relative}"));
        }
    }
}

/// The texts in backticks outside code blocks.
fn quoted(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    prose.flat_map(|prose| prose.split('`').skip(1).step_by(2)).collect()
}

/// A path of the project: a folder with `/` at the end, or a file with one of the extensions.
fn is_path(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let extension = Path::new(text).extension().and_then(|extension| extension.to_str());
    let is_file = extension.is_some_and(|extension| EXTENSIONS.contains(&extension));
    text.chars().all(plain) && (is_file || (text.ends_with('/') && text.len() > 1))
}

#[test]
fn files_and_folders_exist() {
    let mut all = Vec::new();
    paths(&PathBuf::from(ROOT), &mut all);
    let mut missing = Vec::new();
    let mut count = 0;
    for document in documents() {
        for path in quoted(&read(&document)).into_iter().filter(|text| is_path(text)) {
            count += 1;
            // A section about a module leaves out the folders above.
            let end = format!("/{path}");
            if !all.iter().any(|known| known.ends_with(&end)) {
                missing.push(format!("{document}: {path}"));
            }
        }
    }
    assert!(count > 100, "only {count} paths were found");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// The conditions in the guide to kernels are those that `Shader::holds` knows.
#[test]
fn conditions_are_known() {
    let guide = read("src/guide/adding_a_kernel.md");
    let table = guide.split("| condition |").nth(1).expect("a table of conditions");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    let named: BTreeSet<&str> = cells.flat_map(quoted).collect();
    let code = read("src/plan/kernel.rs");
    let holds = code.split("fn holds(").nth(1).expect("the function of conditions");
    let arms = holds.lines().take_while(|line| !line.contains("flag =>"));
    let known: BTreeSet<&str> = arms
        .filter_map(|line| line.trim().strip_prefix('"')?.split_once("\" =>"))
        .map(|(name, _)| name)
        .collect();
    assert!(known.len() > 10, "{known:?}");
    assert_eq!(named, known);
}
