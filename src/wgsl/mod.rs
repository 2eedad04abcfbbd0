//! The text of a kernel: a file of `shaders/`, with its imports.
//!
//! Files are written in a part of WESL, the WGSL extension of <https://wesl-lang.dev>:
//!
//! - `import package::common::key::{Key, key_max};` takes declarations of another file. Only what
//!   is used, directly or not, becomes part of the text.
//! - `@if(bits8 || bits16)`, `@elif(...)` and `@else` before a declaration or an import keep it if
//!   the condition holds.
//!
//! Two packages are not files. `kernel` is the file of the entry point: shared code imports from it
//! what the kernel provides. `generated` is written for one text: the parameters, which are
//! declared in Rust ([`params!`]), and more.

mod condition;
mod files;
mod module;
mod structure;

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

pub(crate) use files::FILES;
use module::{Item, Module};
#[cfg(test)]
pub(crate) use structure::Type;
pub(crate) use structure::{Member, Params, Structure, Uniform, params, uniform};

/// The text of the entry point `main` in a file such as `reduce/rows`. `holds` says whether a
/// condition's name holds. `generated` has the declarations that only this text gets.
pub(crate) fn resolve(root: &str, holds: &dyn Fn(&str) -> bool, generated: &str) -> String {
    static MODULES: OnceLock<HashMap<&str, Module<'static>>> = OnceLock::new();
    let modules = MODULES
        .get_or_init(|| FILES.iter().map(|&(path, text)| (path, Module::parse(text))).collect());
    let generated = Module::parse(generated);
    let resolver = Resolver { modules, generated: &generated, root, holds };
    let mut text = Text { resolver: &resolver, seen: HashSet::new(), order: Vec::new() };
    text.take(root, "main");
    text.write()
}

/// Finds the declarations that names stand for.
struct Resolver<'a> {
    modules: &'a HashMap<&'static str, Module<'static>>,
    generated: &'a Module<'a>,
    root: &'a str,
    holds: &'a dyn Fn(&str) -> bool,
}

impl<'a> Resolver<'a> {
    fn module(&self, path: &str) -> Option<&'a Module<'a>> {
        if path == GENERATED { Some(self.generated) } else { self.modules.get(path) }
    }

    /// The declaration that a name stands for in a file, and the file that declares it.
    fn find(&self, path: &'a str, name: &str) -> Option<(&'a str, &'a Item<'a>)> {
        let module = self.module(path)?;
        let items = module.items.iter();
        if let Some(item) = items.clone().find(|i| i.name == name && i.condition.holds(self.holds))
        {
            return Some((path, item));
        }
        let import = module
            .imports
            .iter()
            .find(|i| i.names.contains(&name) && i.condition.holds(self.holds))?;
        let from = if import.path == KERNEL { self.root } else { &*import.path };
        if from == path { None } else { self.find(from, name) }
    }
}

const KERNEL: &str = "kernel";
const GENERATED: &str = "generated";

/// A text under construction. Declarations come after those that they use.
struct Text<'a> {
    resolver: &'a Resolver<'a>,
    seen: HashSet<(&'a str, usize)>,
    order: Vec<(&'a str, &'a Item<'a>)>,
}

impl<'a> Text<'a> {
    /// Adds a declaration and all that it uses, once.
    fn take(&mut self, path: &'a str, name: &str) {
        let Some((path, item)) = self.resolver.find(path, name) else { return };
        if self.seen.insert((path, item.place)) {
            item.uses.iter().for_each(|name| self.take(path, name));
            self.order.push((path, item));
        }
    }

    /// Writes file by file, the entry point's last; a file's declarations keep their order.
    fn write(mut self) -> String {
        let mut files = Vec::new();
        self.visit(self.resolver.root, &mut HashSet::from([GENERATED, KERNEL]), &mut files);
        self.order.sort_by_key(|&(_, item)| item.place);
        let mut text = String::new();
        for file in [GENERATED].into_iter().chain(files) {
            let items = self.order.iter().filter(|(path, _)| *path == file);
            if file != GENERATED && items.clone().next().is_some() {
                text.push_str(&format!("// ---- shaders/{file}.wgsl\n"));
                text.push_str(self.resolver.module(file).map_or("", |module| module.header));
            }
            for (_, item) in items.clone() {
                text.push_str(&format!("\n{}{}\n", item.comment, item.text));
            }
            if items.clone().next().is_some() {
                text.push('\n');
            }
        }
        text
    }

    /// Adds a file after those that it imports.
    fn visit(&self, path: &'a str, seen: &mut HashSet<&'a str>, files: &mut Vec<&'a str>) {
        let Some(module) = self.resolver.module(path).filter(|_| seen.insert(path)) else { return };
        module.imports.iter().for_each(|import| self.visit(&import.path, seen, files));
        files.push(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(root: &str, conditions: &[&str]) -> String {
        resolve(root, &|name| conditions.contains(&name), "const WORKGROUP: u32 = 64u;")
    }

    #[test]
    fn a_text_holds_what_its_kernel_uses_and_no_more() {
        let text = text("reduce/rows", &["bits8", "unsigned"]);
        assert!(
            text.contains("fn main(") && text.contains("const BLOCK: u32 = 128u / ELEMENT_BITS;"),
            "{text}"
        );
        assert!(!text.contains("import") && !text.contains("@if"), "{text}");
        assert!(!text.contains("acc_pack") && !text.contains("NO_PLACE"), "{text}");
        assert_eq!(text.matches("fn key_max(").count(), 1, "{text}");
        // Shared code comes before the kernel, and constants come first.
        assert!(text.starts_with("\nconst WORKGROUP"), "{text}");
        assert!(text.find("common/key") < text.find("reduce/rows"), "{text}");
    }

    #[test]
    fn conditions_choose_declarations() {
        let wide = text("reduce/rows", &["bits64", "signed"]);
        assert!(wide.contains("alias Key = vec2<u32>;") && wide.contains("SIGN_BITS"), "{wide}");
        assert!(!wide.contains("alias Key = u32;"), "{wide}");
    }

    #[test]
    fn every_file_is_in_the_table() {
        fn walk(folder: &std::path::Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, found);
                } else {
                    found.push(path.with_extension("").to_str().unwrap().to_string());
                }
            }
        }
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/");
        let mut found = Vec::new();
        walk(root.as_ref(), &mut found);
        let mut found: Vec<&str> = found.iter().filter_map(|f| f.strip_prefix(root)).collect();
        let mut listed: Vec<&str> = FILES.iter().map(|(path, _)| *path).collect();
        found.sort_unstable();
        listed.sort_unstable();
        assert_eq!(found, listed);
    }

    /// An import that does not exist would leave a name undefined.
    #[test]
    fn every_import_names_a_declaration() {
        for (path, text) in FILES {
            for import in Module::parse(text).imports {
                if [KERNEL, GENERATED].contains(&&*import.path) {
                    continue;
                }
                let (_, from) = FILES.iter().find(|(file, _)| *file == import.path).unwrap();
                let from = Module::parse(from);
                for name in import.names {
                    let found = from.items.iter().any(|item| item.name == name);
                    assert!(found, "{path} imports {name} of {}", import.path);
                }
            }
        }
    }

    /// The file itself uses it, or shared code that imports it from `kernel`.
    #[test]
    fn every_import_is_used() {
        let all: Vec<Module> = FILES.iter().map(|(_, text)| Module::parse(text)).collect();
        let imports = all.iter().flat_map(|module| &module.imports);
        let hooks: Vec<&str> =
            imports.filter(|i| i.path == KERNEL).flat_map(|i| i.names.clone()).collect();
        for ((path, _), module) in FILES.iter().zip(&all) {
            for name in module.imports.iter().flat_map(|import| &import.names) {
                let used = module.items.iter().any(|item| item.uses.contains(name))
                    || hooks.contains(name);
                assert!(used, "{path} imports {name} for nothing");
            }
        }
    }
}
