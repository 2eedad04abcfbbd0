//! A module of `src/` uses only modules on earlier lines of the list in `ARCHITECTURE.md`. Within a module no
//! files use each other in a cycle.
//!
//! The test reads the order of the modules from `ARCHITECTURE.md`, so that this document stays correct.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The level of each module; 0 is the lowest. Modules of one level may not use each other.
fn levels() -> HashMap<String, usize> {
    let text = fs::read_to_string(Path::new(ROOT).join("ARCHITECTURE.md")).unwrap();
    let list = text.split("<!-- modules, the lowest first -->").nth(1).unwrap();
    let list = list.split("```").nth(1).unwrap();
    let lines = list.lines().skip(1).filter(|line| !line.trim().is_empty());
    let mut levels = HashMap::new();
    for (level, line) in lines.enumerate() {
        // Two spaces separate the names from the description.
        let names = line.trim().split("  ").next().unwrap();
        for name in names.split('|') {
            assert!(levels.insert(name.trim().to_string(), level).is_none(), "{name} twice");
        }
    }
    levels
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The text without comments.
fn code(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or(""));
    lines.collect::<Vec<_>>().join("\n")
}

/// The names that follow a path such as `crate::`, in a text: one, or those between braces.
fn after<'a>(text: &'a str, path: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices(path) {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let rest = &text[at + path.len()..];
        let list = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap().split(',').collect(),
            None => vec![rest],
        };
        for name in list {
            let name = name.trim_start();
            let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            names.push(&name[..end.unwrap_or(name.len())]);
        }
    }
    names.retain(|name| !name.is_empty() && *name != "super");
    names
}

/// What the crate's root re-exports, and the module that it comes from.
fn exports() -> HashMap<String, String> {
    let text = code(&fs::read_to_string(Path::new(ROOT).join("src/lib.rs")).unwrap());
    let mut exports = HashMap::new();
    for line in text.split("pub use ").skip(1) {
        let Some((path, names)) = line.split(';').next().unwrap().rsplit_once("::") else {
            continue;
        };
        let module = path.split("::").next().unwrap();
        for name in names.trim_matches(['{', '}']).split(',') {
            let name = name.split(" as ").last().unwrap().trim();
            exports.insert(name.to_string(), module.to_string());
        }
    }
    exports
}

/// Each use of one module by another: the file, the user, the used one.
fn uses() -> Vec<(PathBuf, String, String)> {
    let source = Path::new(ROOT).join("src");
    let mut found = Vec::new();
    files(&source, &mut found);
    let exports = exports();
    let mut uses = Vec::new();
    for file in found {
        let path = file.strip_prefix(&source).unwrap().with_extension("");
        let parts: Vec<&str> = path.iter().map(|part| part.to_str().unwrap()).collect();
        // The root, and two files without code of their own.
        if ["lib", "guide", "internals"].contains(&parts[0]) {
            continue;
        }
        let depth = parts.len() - usize::from(parts.last() == Some(&"mod"));
        let text = code(&fs::read_to_string(&file).unwrap());
        // So many `super` lead to the crate.
        let up = "super::".repeat(depth);
        for name in [after(&text, "crate::"), after(&text, &up)].concat() {
            let module = exports.get(name).map_or(name, String::as_str);
            uses.push((file.clone(), parts[0].to_string(), module.to_string()));
        }
    }
    uses
}

#[test]
fn arrows_run_downwards() {
    let levels = levels();
    let level = |module: &str| {
        *levels.get(module).unwrap_or_else(|| panic!("ARCHITECTURE.md does not list {module}"))
    };
    let uses = uses();
    assert!(uses.len() > 200, "{} uses were found", uses.len());
    let mut wrong: Vec<String> = uses
        .iter()
        .filter(|(_, from, to)| from != to && level(from) <= level(to))
        .map(|(file, from, to)| format!("{}: {from} uses {to}", file.display()))
        .collect();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Every listed module exists.
    for module in levels.keys() {
        let folder = Path::new(ROOT).join("src").join(module);
        assert!(folder.is_dir() || folder.with_extension("rs").is_file(), "{module}");
    }
}

#[test]
fn an_arrow_upwards_would_be_noticed() {
    assert_eq!(after("use crate::device::Device;", "crate::"), ["device"]);
    assert_eq!(after("use crate::{plan, tensor::Nan};", "crate::"), ["plan", "tensor"]);
    assert_eq!(after("fn f(x: &$crate::plan::Plan)", "crate::"), ["plan"]);
    assert_eq!(after("use super::super::gpu::Gpu;", "super::super::"), ["gpu"]);
    assert!(levels()["device"] > levels()["plan"]);
}

/// The text of each file below a folder of sources, without comments and unit tests, by its module path.
fn modules(source: &Path) -> BTreeMap<Vec<String>, String> {
    let mut found = Vec::new();
    files(source, &mut found);
    let module = |file: &PathBuf| {
        let path = file.strip_prefix(source).unwrap().with_extension("");
        let mut path: Vec<String> = path.iter().map(|p| p.to_str().unwrap().to_string()).collect();
        path.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
        let text = code(&fs::read_to_string(file).unwrap());
        (path, text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_string())
    };
    found.iter().map(module).filter(|(path, _)| path.last().is_none_or(|p| p != "tests")).collect()
}

/// Each use of a file or folder by another beside it: the folder, the user, the used one. A use
/// of a re-exported item counts as a use of the file that defines it.
fn side_by_side(modules: &BTreeMap<Vec<String>, String>) -> BTreeSet<[String; 3]> {
    let origin = |folder: &[String], name: &str| {
        let is_there = |child: &str| {
            modules
                .keys()
                .any(|m| m.starts_with(folder) && m.get(folder.len()).is_some_and(|m| m == child))
        };
        let exports = modules.get(folder).map_or("", String::as_str).split("use ").skip(1);
        let mut exports = exports.filter_map(|line| line.split(';').next()?.split_once("::"));
        let exported = exports.find(|(child, names)| {
            let mut names = names.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            is_there(child) && names.any(|known| known == name)
        });
        exported.map(|(child, _)| child.to_string()).or(is_there(name).then(|| name.to_string()))
    };
    let mut uses = BTreeSet::new();
    for (path, text) in modules {
        for (depth, user) in path.iter().enumerate() {
            let folder = &path[..depth];
            let down: String = folder.iter().map(|part| format!("{part}::")).collect();
            let up = "super::".repeat(path.len() - depth);
            let names = [after(text, &format!("crate::{down}")), after(text, &up)].concat();
            let used = names.iter().filter_map(|name| origin(folder, name));
            let used = used.filter(|used| used != user);
            uses.extend(used.map(|used| [folder.join("/"), user.clone(), used]));
        }
    }
    uses
}

/// The uses that are part of a cycle, or lead from one cycle to another.
fn cycles(mut uses: BTreeSet<[String; 3]>) -> Vec<String> {
    loop {
        let all = uses.clone();
        uses.retain(|[folder, user, used]| {
            all.iter().any(|[f, a, _]| f == folder && a == used)
                && all.iter().any(|[f, _, b]| f == folder && b == user)
        });
        if uses == all {
            return all
                .iter()
                .map(|[folder, user, used]| format!("{folder}: {user} uses {used}"))
                .collect();
        }
    }
}

#[test]
fn no_cycles_within_modules() {
    for source in ["src", "verify/src", "cli/src", "lab/src", "web/src", "python/src"] {
        let uses = side_by_side(&modules(&Path::new(ROOT).join(source)));
        assert!(uses.len() > 10, "{source}: {} uses were found", uses.len());
        let cycles = cycles(uses);
        assert!(cycles.is_empty(), "{source}:\n{}", cycles.join("\n"));
    }
}

#[test]
fn a_cycle_would_be_noticed() {
    let file = |path: &[&str], text: &str| {
        (path.iter().map(ToString::to_string).collect::<Vec<_>>(), text.to_string())
    };
    let modules = BTreeMap::from([
        file(&["module"], "mod a; mod b; pub use b::{B, C};"),
        file(&["module", "a"], "use super::{C, other};"),
        file(&["module", "b", "inner"], "use crate::module::a::A;"),
        file(&["module", "c"], "use super::a;"),
    ]);
    assert_eq!(cycles(side_by_side(&modules)), ["module: a uses b", "module: b uses a"]);
}
