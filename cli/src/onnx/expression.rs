//! Dimensions that exporters write as formulas, such as `floor(height/2 - 1/2) + 1`.

use std::collections::BTreeSet;

/// A formula over the names of dimensions. Its numbers are fractions until its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    Number(i128),
    Name(String),
    Of(Function, Vec<Expression>),
}

/// What a formula may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Function {
    Add,
    Subtract,
    Multiply,
    Divide,
    /// The quotient, rounded down.
    FloorDivide,
    /// What [`Function::FloorDivide`] leaves.
    Modulo,
    Negate,
    Floor,
    Ceil,
    Min,
    Max,
}

/// Parentheses, calls and signs within one another, at most.
const MAX_DEPTH: usize = 64;
/// Bytes of a formula, at most: each term nests what is before it.
const MAX_LENGTH: usize = 1000;

impl Expression {
    /// The formula of a text; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        let mut parser = Parser { rest: text.trim(), depth: 0 };
        parser.sum().filter(|_| parser.rest.is_empty())
    }

    /// The names in it.
    pub fn names(&self) -> BTreeSet<&str> {
        match self {
            Self::Number(_) => BTreeSet::new(),
            Self::Name(name) => BTreeSet::from([name.as_str()]),
            Self::Of(_, operands) => operands.iter().flat_map(Self::names).collect(),
        }
    }

    /// Its value as a number of elements; `value` has the values of names.
    ///
    /// # Errors
    /// The value, if it is negative or a fraction; that there is none, for a division by zero and
    /// for numbers of more than 128 bits.
    pub fn evaluate(&self, value: &impl Fn(&str) -> usize) -> Result<usize, String> {
        let found = self.fraction(value).ok_or("has no value")?;
        match (found.over, usize::try_from(found.number)) {
            (1, Ok(number)) => Ok(number),
            (1, Err(_)) => Err(format!("is {}", found.number)),
            (over, _) => Err(format!("is {}/{over}", found.number)),
        }
    }

    fn fraction(&self, value: &impl Fn(&str) -> usize) -> Option<Fraction> {
        let (function, operands) = match self {
            Self::Number(number) => return Some(Fraction { number: *number, over: 1 }),
            Self::Name(name) => {
                return Some(Fraction { number: value(name).try_into().ok()?, over: 1 });
            }
            Self::Of(function, operands) => (function, operands),
        };
        let operands: Vec<Fraction> =
            operands.iter().map(|operand| operand.fraction(value)).collect::<Option<_>>()?;
        match (function, operands.as_slice()) {
            (Function::Add, [a, b]) => a.plus(*b),
            (Function::Subtract, [a, b]) => a.plus(b.negated()?),
            (Function::Multiply, [a, b]) => a.times(*b),
            (Function::Divide, [a, b]) => a.over(*b),
            (Function::FloorDivide, [a, b]) => Some(a.over(*b)?.floor()),
            (Function::Modulo, [a, b]) => a.plus(b.times(a.over(*b)?.floor())?.negated()?),
            (Function::Negate, [a]) => a.negated(),
            (Function::Floor, [a]) => Some(a.floor()),
            (Function::Ceil, [a]) => a.negated()?.floor().negated(),
            (Function::Min, [first, rest @ ..]) => {
                rest.iter().try_fold(*first, |min, a| Some(if a.is_below(min)? { *a } else { min }))
            }
            (Function::Max, [first, rest @ ..]) => {
                rest.iter().try_fold(*first, |max, &a| Some(if max.is_below(a)? { a } else { max }))
            }
            _ => None,
        }
    }
}

/// A fraction in its lowest terms; what it is over is positive.
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

    fn is_below(self, other: Self) -> Option<bool> {
        Some(self.plus(other.negated()?)?.number < 0)
    }
}

/// Reads a formula from its beginning; every function is `None` if there is none.
struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// Takes a symbol and the spaces behind it, if it comes next.
    fn takes(&mut self, symbol: &str) -> bool {
        match self.rest.strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    /// Takes characters for as long as they belong, and the spaces behind them.
    fn word(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    fn sum(&mut self) -> Option<Expression> {
        let mut found = self.product()?;
        loop {
            let function = match () {
                () if self.takes("+") => Function::Add,
                () if self.takes("-") => Function::Subtract,
                () => return Some(found),
            };
            found = Expression::Of(function, vec![found, self.product()?]);
        }
    }

    fn product(&mut self) -> Option<Expression> {
        let mut found = self.operand()?;
        loop {
            let function = match () {
                () if self.rest.starts_with("**") => return None,
                () if self.takes("*") => Function::Multiply,
                () if self.takes("//") => Function::FloorDivide,
                () if self.takes("/") => Function::Divide,
                () if self.takes("%") => Function::Modulo,
                () => return Some(found),
            };
            found = Expression::Of(function, vec![found, self.operand()?]);
        }
    }

    fn operand(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let found = self.single();
        self.depth -= 1;
        found
    }

    fn single(&mut self) -> Option<Expression> {
        if self.takes("-") {
            return Some(Expression::Of(Function::Negate, vec![self.operand()?]));
        }
        if self.takes("(") {
            return self.sum().filter(|_| self.takes(")"));
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return self.word(|c| c.is_ascii_digit()).parse().ok().map(Expression::Number);
        }
        let name = self.word(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ':'));
        if name.is_empty() {
            return None;
        }
        if !self.takes("(") {
            return Some(Expression::Name(name.to_string()));
        }
        let (function, operands) = match name.to_ascii_lowercase().as_str() {
            "floor" => (Function::Floor, 1..=1),
            "ceil" | "ceiling" => (Function::Ceil, 1..=1),
            "floordiv" => (Function::FloorDivide, 2..=2),
            "mod" => (Function::Modulo, 2..=2),
            "min" => (Function::Min, 1..=usize::MAX),
            "max" => (Function::Max, 1..=usize::MAX),
            _ => return None,
        };
        let mut found = vec![self.sum()?];
        while self.takes(",") {
            found.push(self.sum()?);
        }
        (self.takes(")") && operands.contains(&found.len()))
            .then_some(Expression::Of(function, found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<usize, String> {
        let value = |name: &str| match name {
            "height" => 321,
            "p2o.Dim.0" => 7,
            _ => panic!("{name}"),
        };
        Expression::parse(text).unwrap_or_else(|| panic!("{text}")).evaluate(&value)
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
            assert_eq!(Expression::parse(text), None, "{text:.20}");
        }
    }

    #[test]
    fn names_are_found_once() {
        let parsed = Expression::parse("floor(h/2) + w*h").unwrap();
        assert_eq!(parsed.names(), BTreeSet::from(["h", "w"]));
    }
}
