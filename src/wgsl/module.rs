//! A shader file, parsed into its imports and declarations.

use super::condition::Condition;

/// A file, cut into parts.
pub(super) struct Module<'a> {
    /// The comment that the file begins with.
    pub header: &'a str,
    pub imports: Vec<Import<'a>>,
    pub items: Vec<Item<'a>>,
}

/// Names from another file.
pub(super) struct Import<'a> {
    pub condition: Condition<'a>,
    /// The file, as the table of files names it.
    pub path: String,
    pub names: Vec<&'a str>,
}

/// A declaration.
pub(super) struct Item<'a> {
    pub condition: Condition<'a>,
    pub name: &'a str,
    /// Its number in the file.
    pub place: usize,
    /// The comment before it.
    pub comment: &'a str,
    /// The declaration, without its condition.
    pub text: &'a str,
    /// The names in it.
    pub uses: Vec<&'a str>,
}

impl<'a> Module<'a> {
    /// Reads a file.
    ///
    /// # Panics
    /// For text that is not WGSL with imports and conditions. The texts belong to the crate, and
    /// its tests read all of them.
    pub(super) fn parse(text: &'a str) -> Self {
        let mut module = Self { header: header(text), imports: vec![], items: vec![] };
        let mut rest = &text[module.header.len()..];
        // The conditions of a chain so far, which `@else` negates.
        let mut chain: Vec<Condition<'a>> = Vec::new();
        loop {
            rest = rest.trim_start();
            let comment = comments(rest);
            let (mut condition, mut code) = (Condition::Always, &rest[comment..]);
            if code.is_empty() {
                return module;
            }
            let (attribute, after) = attribute(code);
            if let Some((keyword, given)) = attribute {
                let own = given.map_or(Condition::Always, Condition::parse);
                let before = std::mem::take(&mut chain);
                condition = match keyword {
                    "if" => own.clone(),
                    _ => {
                        let not = |c: &Condition<'a>| Condition::Not(Box::new(c.clone()));
                        Condition::All(before.iter().map(not).chain([own.clone()]).collect())
                    }
                };
                if keyword != "if" {
                    chain = before;
                }
                chain.push(own);
                code = after;
            } else {
                chain.clear();
            }
            let end = end(code);
            let (comment, text) = (&rest[..comment], &code[..end]);
            rest = &code[end..];
            match code.strip_prefix("import") {
                Some(import) => module.imports.push(Import::parse(import, condition)),
                None => {
                    let place = module.items.len();
                    let uses = names(text);
                    let name = name(&uses);
                    module.items.push(Item { condition, name, place, comment, text, uses });
                }
            }
        }
    }
}

impl<'a> Import<'a> {
    /// Reads the rest of an `import`.
    fn parse(text: &'a str, condition: Condition<'a>) -> Self {
        let text = text[..text.find(';').unwrap_or(text.len())].trim();
        let (path, names) = text.rsplit_once("::").unwrap_or(("", text));
        let names = names.trim_matches(|c| c == '{' || c == '}').split(',').map(str::trim);
        let path = path.strip_prefix("package::").unwrap_or(path).replace("::", "/");
        Self { condition, path, names: names.filter(|name| !name.is_empty()).collect() }
    }
}

/// The comment before the first empty line, if the text begins with one.
fn header(text: &str) -> &str {
    let end = comments(text);
    let follows = &text[end..];
    if follows.starts_with('\n') || follows.starts_with("import") { &text[..end] } else { "" }
}

/// The length in bytes of the comment lines that a text begins with.
fn comments(text: &str) -> usize {
    text.split_inclusive('\n').take_while(|line| line.starts_with("//")).map(str::len).sum()
}

/// `@if(...)`, `@elif(...)` or `@else` at the beginning of a declaration: the keyword and the
/// condition, and the rest.
fn attribute(code: &str) -> (Option<(&'static str, Option<&str>)>, &str) {
    if let Some(after) = code.strip_prefix("@else") {
        return (Some(("else", None)), after.trim_start());
    }
    for (keyword, begin) in [("if", "@if("), ("elif", "@elif(")] {
        let Some(inside) = code.strip_prefix(begin) else { continue };
        let mut depth = 1;
        let end = inside.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        let end = end.expect("a condition's parenthesis is closed");
        return (Some((keyword, Some(&inside[..end]))), inside[end + 1..].trim_start());
    }
    (None, code)
}

/// The length in bytes of the declaration that a text begins with.
fn end(code: &str) -> usize {
    let (mut depth, mut comment) = (0, false);
    for (at, c) in code.char_indices() {
        match c {
            '\n' => comment = false,
            _ if comment => {}
            '/' if code[at..].starts_with("//") => comment = true,
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 && !code.starts_with("import") {
                    return at + 1;
                }
            }
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// Each name in a declaration once, without members of structures.
fn names(code: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for line in code.lines() {
        let line = line.split("//").next().unwrap_or("");
        let mut begin = None;
        for (at, c) in line.char_indices().chain([(line.len(), ' ')]) {
            match (c.is_alphanumeric() || c == '_', begin) {
                (true, None) => begin = Some(at),
                (false, Some(first)) => {
                    let name = &line[first..at];
                    let member = line[..first].ends_with('.');
                    let word = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
                    if word && !member && !names.contains(&name) {
                        names.push(name);
                    }
                    begin = None;
                }
                _ => {}
            }
        }
    }
    names
}

/// The name that is declared: it follows the keyword, and in angle brackets the address space. So
/// no declaration may have the name of an address space.
fn name<'a>(names: &[&'a str]) -> &'a str {
    let keyword = |name: &&&str| ["fn", "struct", "alias", "const", "var"].contains(*name);
    let space = ["storage", "read", "read_write", "uniform", "workgroup", "private"];
    let mut follow = names.iter().skip_while(|name| !keyword(name)).skip(1);
    follow.find(|name| !space.contains(name)).copied().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// What it is.
// More of it.

import package::a::b::{C, d};
@if(x) import kernel::e;

// A comment.
@group(0) @binding(1) var<storage, read> source: array<u32>;
@if(x) const N: u32 = 1u;
@elif(y) const N: u32 = 2u;
@else const N: u32 = 3u;

// Of f.
fn f(a: C) -> u32 { // }
    return d(a.member, source[N]);
}
";

    #[test]
    fn a_file_is_imports_and_declarations() {
        let module = Module::parse(TEXT);
        assert_eq!(module.header, "// What it is.\n// More of it.\n");
        assert_eq!(module.imports[0].path, "a/b");
        assert_eq!(module.imports[0].names, ["C", "d"]);
        assert_eq!(
            (&*module.imports[1].path, &module.imports[1].names[..]),
            ("kernel", &["e"][..])
        );
        assert_eq!(module.imports[1].condition, Condition::Name("x"));
        let names: Vec<&str> = module.items.iter().map(|item| item.name).collect();
        assert_eq!(names, ["source", "N", "N", "N", "f"]);
        assert_eq!(module.items[0].comment, "// A comment.\n");
        assert!(module.items[0].text.starts_with("@group(0)"));
        assert!(module.items[4].text.ends_with("\n}"));
        assert!(module.items[4].uses.contains(&"N") && !module.items[4].uses.contains(&"member"));
    }

    #[test]
    fn a_chain_of_conditions_chooses_one() {
        let module = Module::parse(TEXT);
        let chosen = |name: &str| -> Vec<&str> {
            let items = module.items.iter().filter(|item| item.name == "N");
            items.filter(|i| i.condition.holds(&|n| n == name)).map(|item| item.text).collect()
        };
        assert_eq!(chosen("x"), ["const N: u32 = 1u;"]);
        assert_eq!(chosen("y"), ["const N: u32 = 2u;"]);
        assert_eq!(chosen("z"), ["const N: u32 = 3u;"]);
    }
}
