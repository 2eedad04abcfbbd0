//! Conditions of `@if`: names, `!`, `&&`, `||` and parentheses.

/// A condition on the variant that a text is made for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition<'a> {
    Always,
    Name(&'a str),
    Not(Box<Condition<'a>>),
    All(Vec<Condition<'a>>),
    Any(Vec<Condition<'a>>),
}

impl<'a> Condition<'a> {
    /// Reads a condition.
    ///
    /// # Panics
    /// For text that is not a condition. The texts belong to the crate, and its tests read all of
    /// them.
    pub(super) fn parse(text: &'a str) -> Self {
        let mut rest = text;
        let condition = any(&mut rest);
        assert!(rest.trim().is_empty(), "{rest:?} follows a condition in {text:?}");
        condition
    }

    pub(super) fn holds(&self, name: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Self::Always => true,
            Self::Name(text) => name(text),
            Self::Not(condition) => !condition.holds(name),
            Self::All(conditions) => conditions.iter().all(|c| c.holds(name)),
            Self::Any(conditions) => conditions.iter().any(|c| c.holds(name)),
        }
    }
}

fn any<'a>(rest: &mut &'a str) -> Condition<'a> {
    list(rest, "||", all, Condition::Any)
}

fn all<'a>(rest: &mut &'a str) -> Condition<'a> {
    list(rest, "&&", one, Condition::All)
}

/// Conditions with an operator between them.
fn list<'a>(
    rest: &mut &'a str,
    operator: &str,
    next: fn(&mut &'a str) -> Condition<'a>,
    make: fn(Vec<Condition<'a>>) -> Condition<'a>,
) -> Condition<'a> {
    let mut conditions = vec![next(rest)];
    while eat(rest, operator) {
        conditions.push(next(rest));
    }
    if conditions.len() == 1 { conditions.swap_remove(0) } else { make(conditions) }
}

fn one<'a>(rest: &mut &'a str) -> Condition<'a> {
    if eat(rest, "!") {
        return Condition::Not(Box::new(one(rest)));
    }
    if eat(rest, "(") {
        let condition = any(rest);
        assert!(eat(rest, ")"), "a parenthesis is open before {rest:?}");
        return condition;
    }
    let text = rest.trim_start();
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    assert!(end > 0, "a name is missing before {text:?}");
    *rest = &text[end..];
    Condition::Name(&text[..end])
}

fn eat(rest: &mut &str, token: &str) -> bool {
    match rest.trim_start().strip_prefix(token) {
        Some(after) => {
            *rest = after;
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_what_they_say() {
        for (text, expected) in [
            ("a", true),
            ("!a", false),
            ("b || a", true),
            ("a && b", false),
            ("!b && (a || b)", true),
            ("b && a || a", true),
            ("!(a && !b)", false),
        ] {
            assert_eq!(Condition::parse(text).holds(&|name| name == "a"), expected, "{text}");
        }
    }
}
