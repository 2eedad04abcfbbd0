//! Dimensions that exporters write as formulas, such as `floor(height/2 - 1/2) + 1`.

use std::collections::BTreeSet;

/// Maximum depth of nested parentheses, calls and signs.
const MAX_DEPTH: usize = 64;
/// Maximum bytes of a formula.
const MAX_LENGTH: usize = 1000;

/// The names in a formula; `None` if the text is not a formula.
pub fn names(text: &str) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let mut note = |name: &str| {
        names.insert(name.to_string());
        1
    };
    let _value = evaluate(text, &mut note)?;
    Some(names)
}

/// The value of a formula as a number of elements; `value` has the values of names. `None` if the
/// text is not a formula.
///
/// # Errors
/// The value, if it is negative or a fraction; or that there is no value, for a division by zero
/// and for numbers of more than 128 bits.
pub fn evaluate(text: &str, value: &mut dyn FnMut(&str) -> usize) -> Option<Result<usize, String>> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    let mut parser = Parser { rest: text.trim(), depth: 0, value };
    let found = parser.sum().filter(|_| parser.rest.is_empty())?;
    let Some(found) = found else { return Some(Err("has no value".to_string())) };
    Some(match (found.over, usize::try_from(found.number)) {
        (1, Ok(number)) => Ok(number),
        (1, Err(_)) => Err(format!("is {}", found.number)),
        (over, _) => Err(format!("is {}/{over}", found.number)),
    })
}

/// A fraction in its lowest terms; its denominator is positive.
#[derive(Clone, Copy)]
struct Fraction {
    number: i128,
    over: i128,
}

impl Fraction {
    fn new(number: i128, over: i128) -> Option<Self> {
        let (mut a, mut b) = (number.checked_abs()?, over.checked_abs()?);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let divisor = if over < 0 { -a } else { a };
        (over != 0).then(|| Self { number: number / divisor, over: over / divisor })
    }

    fn plus(self, other: Self) -> Option<Self> {
        let number = self.number.checked_mul(other.over)?;
        let number = number.checked_add(other.number.checked_mul(self.over)?)?;
        Self::new(number, self.over.checked_mul(other.over)?)
    }

    fn times(self, other: Self) -> Option<Self> {
        Self::new(self.number.checked_mul(other.number)?, self.over.checked_mul(other.over)?)
    }

    fn over(self, other: Self) -> Option<Self> {
        Self::new(self.number.checked_mul(other.over)?, self.over.checked_mul(other.number)?)
    }

    fn negated(self) -> Option<Self> {
        Some(Self { number: self.number.checked_neg()?, over: self.over })
    }

    fn floor(self) -> Self {
        Self { number: self.number.div_euclid(self.over), over: 1 }
    }

    fn ceil(self) -> Option<Self> {
        self.negated()?.floor().negated()
    }

    /// The quotient, rounded down.
    fn quotient(self, other: Self) -> Option<Self> {
        Some(self.over(other)?.floor())
    }

    /// The remainder of [`Fraction::quotient`].
    fn modulo(self, other: Self) -> Option<Self> {
        self.plus(other.times(self.quotient(other)?)?.negated()?)
    }

    fn is_below(self, other: Self) -> Option<bool> {
        Some(self.plus(other.negated()?)?.number < 0)
    }
}

/// The value of a part of a formula, if its numbers have values.
type Value = Option<Fraction>;

/// Evaluates a formula from its beginning. Every function returns `None` if the text is not a
/// formula. Numbers are fractions until the end.
struct Parser<'a> {
    rest: &'a str,
    depth: usize,
    /// The values of names.
    value: &'a mut dyn FnMut(&str) -> usize,
}

impl<'a> Parser<'a> {
    /// Takes a symbol and the spaces after it, if it comes next.
    fn takes(&mut self, symbol: &str) -> bool {
        match self.rest.strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    /// Takes characters while they satisfy a condition, and the spaces after them.
    fn word(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    fn sum(&mut self) -> Option<Value> {
        let mut found = self.product()?;
        loop {
            let is_sum = self.takes("+");
            if !is_sum && !self.takes("-") {
                return Some(found);
            }
            let term = self.product()?;
            let term = if is_sum { term } else { term.and_then(Fraction::negated) };
            found = both(found, term, Fraction::plus);
        }
    }

    fn product(&mut self) -> Option<Value> {
        let mut found = self.operand()?;
        loop {
            let operator = match () {
                () if self.rest.starts_with("**") => return None,
                () if self.takes("*") => Fraction::times,
                () if self.takes("//") => Fraction::quotient,
                () if self.takes("/") => Fraction::over,
                () if self.takes("%") => Fraction::modulo,
                () => return Some(found),
            };
            found = both(found, self.operand()?, operator);
        }
    }

    fn operand(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let found = self.single();
        self.depth -= 1;
        found
    }

    fn single(&mut self) -> Option<Value> {
        if self.takes("-") {
            return Some(self.operand()?.and_then(Fraction::negated));
        }
        if self.takes("(") {
            return self.sum().filter(|_| self.takes(")"));
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            let number = self.word(|c| c.is_ascii_digit()).parse().ok()?;
            return Some(Some(Fraction { number, over: 1 }));
        }
        let name = self.word(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ':'));
        if name.is_empty() {
            return None;
        }
        if !self.takes("(") {
            let number = (self.value)(name).try_into().ok();
            return Some(number.map(|number| Fraction { number, over: 1 }));
        }
        let mut operands = vec![self.sum()?];
        while self.takes(",") {
            operands.push(self.sum()?);
        }
        if !self.takes(")") {
            return None;
        }
        let all = |operator: Operator| {
            operands.iter().copied().reduce(|a, b| both(a, b, operator)).unwrap_or_default()
        };
        Some(match (name.to_ascii_lowercase().as_str(), operands.as_slice()) {
            ("floor", [a]) => a.map(Fraction::floor),
            ("ceil" | "ceiling", [a]) => a.and_then(Fraction::ceil),
            ("floordiv", [_, _]) => all(Fraction::quotient),
            ("mod", [_, _]) => all(Fraction::modulo),
            ("min", _) => all(|a, b| Some(if b.is_below(a)? { b } else { a })),
            ("max", _) => all(|a, b| Some(if a.is_below(b)? { b } else { a })),
            _ => return None,
        })
    }
}

type Operator = fn(Fraction, Fraction) -> Value;

fn both(a: Value, b: Value, operator: Operator) -> Value {
    operator(a?, b?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<usize, String> {
        let mut value = |name: &str| match name {
            "height" => 321,
            "p2o.Dim.0" => 7,
            _ => panic!("{name}"),
        };
        evaluate(text, &mut value).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn formulas_have_values() {
        for (text, expected) in [
            ("floor(height/2 - 1/2) + 1", 161),
            (" height ", 321),
            ("2*(p2o.Dim.0 + 1) - 3*2", 10),
            ("((height - 1)//2) + 1", 161),
            ("-7//2 + height", 317),
            ("ceiling(height/2)", 161),
            ("height % 10 + Mod(-1, 5)", 5),
            ("Max(1, height - 400, FloorDiv(p2o.Dim.0, 2))", 3),
            ("min(height, p2o.Dim.0)", 7),
            ("8 - 4 - 2", 2),
            ("height/3*3", 321),
            ("--7", 7),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn values_that_are_no_number_of_elements_are_errors() {
        assert_eq!(value("height/2"), Err("is 321/2".to_string()));
        assert_eq!(value("1 - height"), Err("is -320".to_string()));
        assert_eq!(value("1/(height - 321)"), Err("has no value".to_string()));
        assert_eq!(value("height % 0"), Err("has no value".to_string()));
        let huge = format!("{}1", "1000000000000000000*".repeat(4));
        assert_eq!(value(&huge), Err("has no value".to_string()));
    }

    #[test]
    fn other_texts_are_no_formulas() {
        let deep = format!("{}1{}", "(".repeat(400), ")".repeat(400));
        let long = format!("1{}", "+1".repeat(100_000));
        for text in [
            "",
            "a b",
            "a+",
            "(a",
            "a)",
            "f(a)",
            "floor(a, b)",
            "mod(a)",
            "a**2",
            "1.5*a",
            &deep,
            &long,
        ] {
            assert_eq!(names(text), None, "{text:.20}");
        }
    }

    #[test]
    fn names_are_found_once() {
        let found = names("floor(h/2) + w*h").unwrap();
        assert_eq!(found, BTreeSet::from(["h", "w"].map(str::to_string)));
    }
}
