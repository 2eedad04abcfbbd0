//! Small faults in the text of a kernel, of kinds that compilers and people cause.

use std::ops::Range;

/// A fault: a part of a file's declaration that is replaced by another text. The texts of several
/// kernels and types may have the same declaration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mutant {
    /// The file that has the declaration, below the root of the project.
    pub file: String,
    pub declaration: String,
    /// The part of the declaration that is replaced.
    pub at: (usize, usize),
    pub with: String,
    /// The kind of fault.
    pub rule: &'static str,
}

impl Mutant {
    /// The text with the fault, if it has the declaration.
    pub fn apply(&self, text: &str) -> Option<String> {
        let start = text.find(&self.declaration)?;
        let (from, to) = (start + self.at.0, start + self.at.1);
        Some([&text[..from], &self.with, &text[to..]].concat())
    }

    pub fn before(&self) -> &str {
        &self.declaration[self.at.0..self.at.1]
    }

    /// Lines of the declaration before the fault, and characters of its line.
    pub fn place(&self) -> (usize, usize) {
        let before = &self.declaration[..self.at.0];
        (before.matches('\n').count(), before.lines().last().map_or(0, str::len))
    }
}

/// A token, and where it is.
#[derive(Clone, Debug)]
struct Token<'a> {
    text: &'a str,
    at: usize,
}

impl Token<'_> {
    fn end(&self) -> usize {
        self.at + self.text.len()
    }

    fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    }
}

/// Operators of two and three characters.
const LONG: &[&str] = &[
    "<<=", ">>=", "<=", ">=", "==", "!=", "&&", "||", "<<", ">>", "->", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "++", "--",
];

/// Types whose parameters stand in angle brackets.
const GENERIC: &[&str] = &["vec2", "vec3", "vec4", "array", "atomic", "ptr", "bitcast", "var"];

/// Constants that the host uses too.
const HOST: &[&str] = &["WORKGROUP"];

/// The tokens of a text. A generic type is one token with its parameters.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let is_word = |i: usize| bytes.get(i).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let (mut found, mut i) = (Vec::<Token>::new(), 0);
    while i < bytes.len() {
        let start = i;
        if bytes[i].is_ascii_whitespace() {
            i += 1;
            continue;
        }
        if text[i..].starts_with("//") {
            i += text[i..].find('\n').unwrap_or(text.len() - i);
            continue;
        }
        if is_word(i) {
            while is_word(i) {
                i += 1;
            }
            if GENERIC.contains(&&text[start..i]) && bytes.get(i) == Some(&b'<') {
                let mut depth = 0;
                loop {
                    depth += match bytes.get(i) {
                        Some(b'<') => 1,
                        Some(b'>') => -1,
                        Some(_) => 0,
                        None => break,
                    };
                    i += 1;
                    if depth == 0 {
                        break;
                    }
                }
            }
        } else {
            let long = LONG.iter().find(|long| text[i..].starts_with(**long));
            i += long.map_or(1, |long| long.len());
        }
        found.push(Token { text: &text[start..i], at: start });
    }
    found
}

/// The index after the bracket that closes the one at `open`.
fn closed(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    tokens.len()
}

/// The declarations of functions and constants in a kernel's text, each with its file.
fn declarations(text: &str) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    for part in text.split("// ---- ").skip(1) {
        let (file, part) = part.split_once('\n').unwrap_or((part, ""));
        let tokens = tokens(part);
        let mut start = 0;
        while start < tokens.len() {
            let mut i = start;
            while i < tokens.len() && !matches!(tokens[i].text, ";" | "{") {
                i = if matches!(tokens[i].text, "(" | "[") { closed(&tokens, i) } else { i + 1 };
            }
            let end = match tokens.get(i) {
                Some(token) if token.text == "{" => closed(&tokens, i),
                _ => i + 1,
            };
            let last = &tokens[end.min(tokens.len()) - 1];
            let words = tokens[start..i.min(tokens.len())].iter();
            if words.clone().any(|token| matches!(token.text, "fn" | "const")) {
                found.push((file.to_string(), &part[tokens[start].at..last.end()]));
            }
            start = end;
        }
    }
    found
}

/// All faults of a kernel's text, in its order.
pub fn mutants(text: &str) -> Vec<Mutant> {
    let mut all = Vec::new();
    for (file, declaration) in declarations(text) {
        let tokens = tokens(declaration);
        // A function's body, or the value of a constant.
        let first = tokens.iter().position(|token| matches!(token.text, "{" | "="));
        let mut body = Body { file, declaration, tokens, found: Vec::new() };
        for i in first.map_or(0, |first| first + 1)..body.tokens.len() {
            body.token(i);
        }
        all.append(&mut body.found);
    }
    all
}

struct Body<'a> {
    file: String,
    declaration: &'a str,
    tokens: Vec<Token<'a>>,
    found: Vec<Mutant>,
}

impl<'a> Body<'a> {
    fn add(&mut self, rule: &'static str, at: Range<usize>, with: impl Into<String>) {
        self.found.push(Mutant {
            file: self.file.clone(),
            declaration: self.declaration.to_string(),
            at: (at.start, at.end),
            with: with.into(),
            rule,
        });
    }

    /// The text from a token to before another one.
    fn range(&self, tokens: Range<usize>) -> Range<usize> {
        self.tokens[tokens.start].at..self.tokens[tokens.end - 1].end()
    }

    fn text(&self, tokens: Range<usize>) -> &'a str {
        &self.declaration[self.range(tokens)]
    }

    /// The faults at a token.
    fn token(&mut self, i: usize) {
        let token = self.tokens[i].clone();
        let (text, at) = (token.text, token.at..token.end());
        let next = self.tokens.get(i + 1).map_or("", |token| token.text);
        let other = match text {
            "<" => "<=",
            "<=" => "<",
            ">" => ">=",
            ">=" => ">",
            "==" => "!=",
            "!=" => "==",
            "min" if next == "(" => "max",
            "max" if next == "(" => "min",
            "&=" => "|=",
            "|=" => "&=",
            "+=" => "-=",
            "-=" => "+=",
            _ => "",
        };
        if !other.is_empty() {
            self.add("another comparison or operation", at.clone(), other);
        }
        let is_comparison = level(text).is_some_and(|level| level == 6 || level == 7);
        if level(text).is_some() && !is_comparison && i > 0 && is_value_end(&self.tokens[i - 1]) {
            let (left, right) = (self.left(i), self.right(i));
            let whole = self.range(left..right);
            self.add("only the left operand", whole.clone(), self.text(left..i));
            self.add("only the right operand", whole, self.text(i + 1..right));
        }
        if text == "select" && next == "(" {
            self.select(i + 1);
        }
        let is_member = i > 0 && self.tokens[i - 1].text == ".";
        let is_constant = text.len() > 1
            && token.is_word()
            && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
            && !text.starts_with(|c: char| c.is_ascii_digit());
        if let Some(number) = integer(text).filter(|_| !is_member) {
            self.add("another constant", at.clone(), number);
        } else if is_constant && !HOST.contains(&text) {
            self.add("another constant", at, format!("({text} + 1u)"));
        }
        if i > 0 && matches!(self.tokens[i - 1].text, ";" | "{" | "}") {
            self.statement(i);
        }
    }

    /// The operands of an operator, as far as its precedence extends.
    fn left(&self, operator: usize) -> usize {
        let (mut i, own) = (operator, level(self.tokens[operator].text));
        while i > 0 {
            let token = &self.tokens[i - 1];
            match token.text {
                ")" | "]" => {
                    let mut depth = 0;
                    while i > 0 {
                        i -= 1;
                        match self.tokens[i].text {
                            ")" | "]" => depth += 1,
                            "(" | "[" => depth -= 1,
                            _ => {}
                        }
                        if depth == 0 {
                            break;
                        }
                    }
                    continue;
                }
                text if is_end(text) || level(text).is_some_and(|level| Some(level) < own) => break,
                _ => i -= 1,
            }
        }
        i
    }

    fn right(&self, operator: usize) -> usize {
        let (mut i, own) = (operator + 1, level(self.tokens[operator].text));
        while i < self.tokens.len() {
            let token = &self.tokens[i];
            let is_binary = i > operator + 1 && is_value_end(&self.tokens[i - 1]);
            match token.text {
                "(" | "[" => i = closed(&self.tokens, i),
                text if is_end(text) => break,
                text if is_binary && level(text).is_some_and(|level| Some(level) <= own) => break,
                _ => i += 1,
            }
        }
        i
    }

    /// Swaps the sides of a `select`.
    fn select(&mut self, open: usize) {
        let end = closed(&self.tokens, open) - 1;
        let (mut i, mut starts) = (open + 1, vec![open + 1]);
        while i < end {
            match self.tokens[i].text {
                "(" | "[" => i = closed(&self.tokens, i),
                "," => {
                    i += 1;
                    starts.push(i);
                }
                _ => i += 1,
            }
        }
        if let [first, second, third, ..] = starts[..] {
            let sides = (self.text(first..second - 1), self.text(second..third - 1));
            let at = self.range(first..third - 1);
            self.add("the sides of a select", at, format!("{}, {}", sides.1, sides.0));
        }
    }

    /// Omits a statement that neither declares a name nor returns a value, or makes a branch always
    /// taken.
    fn statement(&mut self, first: usize) {
        let mut end = first;
        while end < self.tokens.len() && !matches!(self.tokens[end].text, ";" | "{" | "}") {
            let is_open = matches!(self.tokens[end].text, "(" | "[");
            end = if is_open { closed(&self.tokens, end) } else { end + 1 };
        }
        let Some(behind) = self.tokens.get(end) else { return };
        match (self.tokens[first].text, behind.text) {
            ("let" | "var" | "const" | "return", _) => {}
            ("if", "{") => {
                let condition = self.range(first + 1..end);
                self.add("a branch that is always taken", condition, "true");
            }
            (_, ";") if end > first => {
                let rule = match self.tokens[first].text {
                    barrier if barrier.ends_with("Barrier") => "no barrier",
                    _ => "no statement",
                };
                self.add(rule, self.range(first..end), "");
            }
            _ => {}
        }
    }
}

/// A token that ends an expression.
fn is_end(text: &str) -> bool {
    let is_assignment = text.ends_with('=') && !matches!(text, "==" | "!=" | "<=" | ">=");
    is_assignment
        || matches!(text, "(" | ")" | "[" | "]" | "{" | "}" | "," | ";" | ":" | "?")
        || matches!(text, "return" | "if" | "while" | "switch" | "case" | "break")
}

/// Whether a value may end with a token, so that an operator after it has two operands.
fn is_value_end(token: &Token) -> bool {
    matches!(token.text, ")" | "]")
        || (token.is_word() && !is_end(token.text) && token.text != "let")
}

/// The precedence of an operator with two operands.
fn level(operator: &str) -> Option<u32> {
    Some(match operator {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

/// The next integer, if a token is one.
fn integer(text: &str) -> Option<String> {
    let (digits, suffix) = match text.strip_suffix(['u', 'i']) {
        Some(digits) => (digits, &text[digits.len()..]),
        None => (text, ""),
    };
    let number = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(format!("{}{suffix}", if number == 0xffff_ffff { number - 1 } else { number + 1 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_found() {
        let text = "// ---- shaders/a.wgsl\nfn f(a: u32) -> u32 {\n    let b = vec4<u32>(a + 1u * \
                    g(a, 2u) << 3u, 0u);\n    return select(a, b - -c, a < b && c);\n}\n";
        let found: Vec<String> = mutants(text)
            .iter()
            .map(|mutant| format!("{} -> {}", mutant.before(), mutant.with))
            .collect();
        for expected in [
            "a + 1u * g(a, 2u) << 3u -> a + 1u * g(a, 2u)",
            "a + 1u * g(a, 2u) -> a",
            "1u * g(a, 2u) -> g(a, 2u)",
            "b - -c -> -c",
            "a < b && c -> a < b",
            "< -> <=",
            "a, b - -c -> b - -c, a",
            "3u -> 4u",
        ] {
            assert!(found.iter().any(|found| found == expected), "{expected}: {found:#?}");
        }
        let changed = mutants(text)[0].apply(text).unwrap();
        assert!(changed != text && changed.starts_with("// ---- shaders/a.wgsl\nfn f("));
    }
}
