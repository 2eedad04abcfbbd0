//! Sets of elements, and their maxima. If a plan also finds positions: what depends on which element of a set *wins*.
//!
//! The element with the highest rank wins; among equal ones the first, or the last. So of two sets the
//! one with the higher winner decides, and if these are equal, their order. A *choice* is a word that
//! depends on the winner of one set alone, as a table. It arises if a comparison of two ranks selects
//! between two values: the machine refuses all other comparisons of ranks. What is computed from a
//! choice is computed for each winner.

use std::collections::HashMap;
use std::rc::Rc;

use wgmax::wgpu::naga::BinaryOperator;

use super::shade::{
    CHOICE, COMPARED, ELEMENT, KEY, MIXED, Operand, PLAIN, PLAIN_WORD, RANK, RAW, Shade, Ties,
    as_word, computed, is_zero, of_set, parts, whole, word_of,
};

/// A word by the winner of a set: one for each element, ascending.
pub struct Choice {
    set: u32,
    words: Vec<Operand>,
}

/// A truth value, which may depend on the order of two winners.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Truth {
    False,
    True,
    /// True if the winner of the first set comes before that of the second, or after it.
    Before,
    After,
}

use Truth::{After, Before, False, True};

/// A truth value by the ranks of the winners of two sets, the first of which has the lower number:
/// what it is if the first winner ranks higher, equal or lower, and if one element wins both.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Compared {
    sets: [u32; 2],
    when: [Truth; 4],
}

impl Compared {
    fn new(sets: [u32; 2], when: [Truth; 4]) -> Self {
        let turned = |truth| match truth {
            Before => After,
            After => Before,
            other => other,
        };
        match sets[0] <= sets[1] {
            true => Self { sets, when },
            false => {
                let when = [when[2], when[1], when[0], when[3]].map(turned);
                Self { sets: [sets[1], sets[0]], when }
            }
        }
    }
}

/// Sets of elements, each known by a number.
#[derive(Default)]
pub struct Sets {
    /// Ranges, ascending, that do not touch.
    all: Vec<Rc<[[u32; 2]]>>,
    numbers: HashMap<Rc<[[u32; 2]]>, u32>,
    joined: HashMap<(u32, u32), u32>,
    /// Whether positions are found, and of equal elements the last one wins: see `choice`.
    pub finds_positions: bool,
    pub last_wins: bool,
    lists: HashMap<u32, Rc<[u32]>>,
    choices: Vec<Rc<Choice>>,
    compared: Vec<Compared>,
    compared_numbers: HashMap<Compared, u32>,
    pub ties: Ties,
    /// The bytes of an element.
    pub size: usize,
    /// The key of the initial value, if there is one. It is the element [`INITIAL`] of sets.
    pub initial: Option<u64>,
}

/// The number of the initial value in sets.
pub const INITIAL: u32 = u32::MAX - 1;

impl Sets {
    fn number(&mut self, ranges: Vec<[u32; 2]>) -> u32 {
        let ranges: Rc<[[u32; 2]]> = ranges.into();
        let next = self.all.len() as u32;
        let number = *self.numbers.entry(Rc::clone(&ranges)).or_insert(next);
        if number == next {
            self.all.push(ranges);
        }
        number
    }

    /// The set of some elements, which may come in any order.
    pub fn of(&mut self, mut elements: Vec<u32>) -> u32 {
        elements.sort_unstable();
        self.number(merged(elements.into_iter().map(|element| [element, element + 1])))
    }

    pub fn join(&mut self, a: u32, b: u32) -> u32 {
        if a == b {
            return a;
        }
        let pair = (a.min(b), a.max(b));
        if let Some(&number) = self.joined.get(&pair) {
            return number;
        }
        let mut both = [&self.all[a as usize][..], &self.all[b as usize]].concat();
        both.sort_unstable();
        let number = self.number(merged(both.into_iter()));
        self.joined.insert(pair, number);
        number
    }

    /// The elements of a set.
    pub fn elements(&self, set: u32) -> impl Iterator<Item = u32> {
        self.all[set as usize].iter().flat_map(|&[begin, end]| begin..end)
    }
}

fn merged(ranges: impl Iterator<Item = [u32; 2]>) -> Vec<[u32; 2]> {
    let mut all: Vec<[u32; 2]> = Vec::new();
    for [begin, end] in ranges {
        match all.last_mut() {
            Some(last) if begin <= last[1] => last[1] = last[1].max(end),
            _ => all.push([begin, end]),
        }
    }
    all
}

impl Sets {
    pub fn is_choice(shade: Shade) -> bool {
        shade.iter().any(|&byte| matches!(parts(byte), Some((CHOICE, ..))))
    }

    /// Whether an element comes before another one, so that of equal ones it wins.
    fn comes_before(&self, a: u32, b: u32) -> bool {
        (a < b) != self.last_wins
    }

    /// The elements of a set, ascending.
    pub fn list(&mut self, set: u32) -> Rc<[u32]> {
        if !self.lists.contains_key(&set) {
            let list = self.elements(set).collect();
            self.lists.insert(set, list);
        }
        Rc::clone(&self.lists[&set])
    }

    fn is_within(&mut self, set: u32, other: u32) -> bool {
        self.join(set, other) == other
    }

    /// A word, if an element is the winner of a set.
    pub fn under(&mut self, word: Operand, set: u32, winner: u32) -> Operand {
        let (mut shade, mut bits) = word;
        for (i, shade) in shade.iter_mut().enumerate() {
            while let Some((CHOICE, part, number)) = parts(*shade) {
                let choice = Rc::clone(&self.choices[number as usize]);
                // The winner of a set wins in each part of it that has it.
                if choice.set != set && !self.is_within(choice.set, set) {
                    break;
                }
                let Ok(at) = self.list(choice.set).binary_search(&winner) else { break };
                let (new, word) = choice.words[at];
                *shade = new[part];
                bits = bits & !(0xff << (8 * i)) | (word >> (8 * part) & 0xff) << (8 * i);
            }
        }
        (shade, bits)
    }

    /// The set whose winner decides all of some words.
    pub fn chooser(&mut self, words: impl IntoIterator<Item = Shade>) -> Option<u32> {
        let mut all: Option<u32> = None;
        for byte in words.into_iter().flatten() {
            let Some((CHOICE, _, number)) = parts(byte) else { continue };
            let set = self.choices[number as usize].set;
            all = match all {
                Some(other) if other == set || self.is_within(set, other) => Some(other),
                Some(other) if !self.is_within(other, set) => return None,
                _ => Some(set),
            };
        }
        all
    }

    /// The same, if all words depend on the winner of one set.
    pub fn only_chooser(&mut self, words: &[Shade]) -> Option<u32> {
        let sets = words.as_flattened().iter().filter_map(|&byte| match parts(byte) {
            Some((CHOICE, _, number)) => Some(self.choices[number as usize].set),
            _ => None,
        });
        let sets: Vec<u32> = sets.collect();
        sets.first().copied().filter(|first| sets.iter().all(|set| set == first))
    }

    /// The winners that decide some words, and these words for each of them.
    pub fn cases(&mut self, words: &[Operand]) -> Option<(u32, Vec<Vec<Operand>>)> {
        let set = self.chooser(words.iter().map(|word| word.0))?;
        let list = self.list(set);
        let case = |&winner| words.iter().map(|&word| self.under(word, set, winner)).collect();
        Some((set, list.iter().map(case).collect()))
    }

    /// What a word stands for that is one of `words`, by the winner of a set.
    pub fn choice(&mut self, set: u32, words: Vec<Operand>) -> Shade {
        let byte = |(shade, word): Operand, i: usize| {
            (shade[i], if shade[i] == PLAIN { word >> (8 * i) & 0xff } else { 0 })
        };
        let Some(&first) = words.first() else { return [MIXED; 4] };
        if let Some((RANK, word, _)) = as_word(first.0) {
            // The rank of a part that has the winner is that of the set.
            let winners = self.list(set);
            let all = words.iter().zip(&*winners).all(|(&(shade, _), winner)| {
                matches!(as_word(shade), Some((RANK, at, of)) if at == word
                    && self.is_within(of, set) && self.list(of).binary_search(winner).is_ok())
            });
            if all {
                return word_of(RANK, word, set);
            }
        }
        let number = self.choices.len() as u32;
        let shade = std::array::from_fn(|i| {
            let same = words.iter().all(|&word| byte(word, i) == byte(first, i));
            if same { first.0[i] } else { of_set(CHOICE, i, number) }
        });
        if Self::is_choice(shade) {
            self.choices.push(Rc::new(Choice { set, words }));
        }
        shade
    }

    /// The set whose largest key some bytes are. If positions are found, this is any key of the highest
    /// rank, such as the winner's.
    pub fn key_set(&mut self, bytes: &[u32]) -> Option<u32> {
        if let Some((KEY, set)) = whole(bytes) {
            return Some(set);
        }
        if !self.finds_positions {
            return None;
        }
        let mut words = [PLAIN_WORD; 2];
        words.as_flattened_mut()[..bytes.len()].copy_from_slice(bytes);
        let (set, cases) = self.cases(&words.map(|shade| (shade, 0)))?;
        let winners = self.list(set);
        let all = cases.iter().zip(&*winners).all(|(words, winner)| {
            let shades = [words[0].0, words[1].0];
            let bytes = &shades.as_flattened()[..bytes.len()];
            whole(bytes).is_some_and(|(kind, of)| kind == KEY && *self.list(of) == [*winner])
        });
        all.then_some(set)
    }

    /// What a word of a rank is: of the key whose bytes some words hold from `first` on.
    pub fn rank(&mut self, words: &[Operand], first: usize, size: usize, part: usize) -> Shade {
        let shades: Vec<u32> = words.iter().flat_map(|word| word.0).collect();
        let bytes = &shades[first..first + size];
        if bytes.iter().all(|&byte| byte == PLAIN) {
            return PLAIN_WORD;
        }
        let is_clean = shades[first + size..].iter().all(|&byte| byte == PLAIN)
            && words[0].1.checked_shr(8 * (first + size) as u32).unwrap_or(0) == 0;
        if !is_clean {
            return [computed(shades); 4];
        }
        if let Some(set) = self.key_set(bytes) {
            return word_of(RANK, part, set);
        }
        let Some((set, cases)) = self.cases(words) else { return [computed(shades); 4] };
        let ranks = cases.iter().map(|words| (self.rank(words, first, size, part), 0)).collect();
        self.choice(set, ranks)
    }

    /// The set of the rank that words hold; of zeros the empty one.
    fn rank_set(&mut self, words: &[Operand]) -> Option<u32> {
        if words.iter().all(|&(shade, word)| shade == PLAIN_WORD && word == 0) {
            return Some(self.of(Vec::new()));
        }
        let (RANK, 0, set) = as_word(words.first()?.0)? else { return None };
        let in_order = |(i, word): (usize, &Operand)| word.0 == word_of(RANK, i, set);
        words.iter().enumerate().all(in_order).then_some(set)
    }

    /// What a comparison of two ranks is, of one or two words each: whether the first is above the
    /// second, or equal. `winner` is that of a set, if it is known.
    pub fn compare(
        &mut self,
        is_above: bool,
        a: &[Operand],
        b: &[Operand],
        winner: Option<(u32, u32)>,
    ) -> Operand {
        let all = [a, b].concat();
        let mixed = ([computed(all.iter().flat_map(|word| word.0)); 4], 0);
        if mixed.0 == PLAIN_WORD {
            let wide =
                |words: &[Operand]| words.iter().rev().map(|word| word.1).collect::<Vec<_>>();
            let (a, b) = (wide(a), wide(b));
            return (PLAIN_WORD, u32::from(if is_above { a > b } else { a == b }));
        }
        let none = self.of(Vec::new());
        let sets = self.rank_set(a).zip(self.rank_set(b));
        let chooser = self.chooser(all.iter().map(|word| word.0));
        if let (Some(set), None) = (chooser, winner) {
            let winners = self.list(set);
            let cases = winners.iter().map(|&winner| {
                let mut under = |words: &[Operand]| -> Vec<Operand> {
                    words.iter().map(|&word| self.under(word, set, winner)).collect()
                };
                let (a, b) = (under(a), under(b));
                self.compare(is_above, &a, &b, Some((set, winner)))
            });
            let cases = cases.collect();
            return (self.choice(set, cases), 0);
        }
        let Some((a, b)) = sets else { return mixed };
        let mut may = [true; 3];
        (may[0], may[2]) = (a != none, b != none);
        if a == b {
            may = [false, true, false];
        }
        if let Some((set, winner)) = winner {
            for (one, other, never) in [(a, b, 2), (b, a, 0)] {
                if one == set && self.is_within(other, set) {
                    may[never] = false;
                    let others = self.list(other);
                    if others.contains(&winner) {
                        may = [false, true, false];
                    } else if other != none && others.iter().all(|&e| self.comes_before(e, winner))
                    {
                        may[1] = false;
                    }
                }
            }
        }
        let is =
            |i: usize| if (i == 0 && is_above) || (i == 1 && !is_above) { True } else { False };
        let mut possible = (0..3).filter(|&i| may[i]).map(is);
        let first = possible.next();
        match first {
            Some(first) if possible.all(|other| other == first) => {
                (PLAIN_WORD, u32::from(first == True))
            }
            _ if winner.is_some() => ([MIXED; 4], 0),
            _ => (self.compared(Compared::new([a, b], [is(0), is(1), is(2), is(1)])), 0),
        }
    }

    fn compared(&mut self, compared: Compared) -> Shade {
        let next = self.compared.len() as u32;
        let number = *self.compared_numbers.entry(compared).or_insert(next);
        if number == next {
            self.compared.push(compared);
        }
        word_of(COMPARED, 0, number)
    }

    /// What depends on the winner of one of two sets alone, as a comparison of both: if all elements
    /// of the other set come before the winner, or after it.
    fn of_both(&mut self, shade: Shade, sets: [u32; 2]) -> Option<Compared> {
        let set = self.chooser([shade])?;
        let other = *sets.iter().find(|&&other| other != set && sets.contains(&set))?;
        let (winners, others) = (self.list(set), self.list(other));
        let (mut truth, mut same) = (None, None);
        for &winner in &*winners {
            let (shade, bits) = self.under((shade, 0), set, winner);
            if others.binary_search(&winner).is_ok() {
                let next = if bits == 1 { True } else { False };
                if same.is_some_and(|same| same != next) {
                    return None;
                }
                same = Some(next);
            }
            for &element in others.iter().filter(|&&element| element != winner) {
                let is_before = (bits == 1) == self.comes_before(element, winner);
                let next = if is_before { Before } else { After };
                if shade != PLAIN_WORD || truth.is_some_and(|truth| truth != next) {
                    return None;
                }
                truth = Some(next);
            }
        }
        let (truth, same) = (truth?, same.unwrap_or(False));
        Some(Compared::new([other, set], [truth, truth, truth, same]))
    }

    /// A comparison of a set with a part of it, as what the winner of the set decides.
    pub fn by_larger_set(&mut self, shade: Shade) -> Option<Shade> {
        let Compared { sets, when } = self.as_compared(shade)?;
        let inner = (0..2).find(|&i| self.is_within(sets[i], sets[1 - i]))?;
        let (part, set) = (self.list(sets[inner]), sets[1 - inner]);
        // If the part has another winner, that is below the winner of the set, or equal and after it.
        let below = when[if inner == 0 { 2 } else { 0 }];
        let behind = match when[1] {
            Before => [False, True][inner],
            After => [True, False][inner],
            other => other,
        };
        let word = |truth: Truth| match truth {
            False => (PLAIN_WORD, 0),
            True => (PLAIN_WORD, 1),
            Before | After => ([MIXED; 4], 0),
        };
        let winners = self.list(set);
        let words = winners.iter().map(|&winner| {
            if part.binary_search(&winner).is_ok() {
                word(when[3])
            } else if below == behind
                || !part.is_empty() && part.iter().all(|&e| self.comes_before(e, winner))
            {
                word(below)
            } else {
                ([MIXED; 4], 0)
            }
        });
        let words = words.collect();
        Some(self.choice(set, words))
    }

    fn as_compared(&self, shade: Shade) -> Option<Compared> {
        let (COMPARED, _, number) = as_word(shade)? else { return None };
        Some(self.compared[number as usize])
    }

    pub fn not(&mut self, shade: Shade) -> Option<Shade> {
        let Compared { sets, when } = self.as_compared(shade)?;
        let not = |truth| match truth {
            False => True,
            True => False,
            Before => After,
            After => Before,
        };
        Some(self.compared(Compared { sets, when: when.map(not) }))
    }

    /// Both of two comparisons, or either.
    pub fn both(&mut self, is_or: bool, a: Shade, b: Shade) -> Option<Shade> {
        let (a, b) = match (self.as_compared(a), self.as_compared(b)) {
            (Some(a), Some(b)) => (a, b),
            (Some(a), None) => (a, self.of_both(b, a.sets)?),
            (None, Some(b)) => (self.of_both(a, b.sets)?, b),
            (None, None) => return None,
        };
        let (decided, neutral) = if is_or { (True, False) } else { (False, True) };
        let one = |(a, b): (Truth, Truth)| match (a, b) {
            (a, b) if a == decided || b == decided => decided,
            (a, b) if a == neutral || a == b => b,
            (a, b) if b == neutral => a,
            // One of the two says that an element comes before another, the other that it comes after.
            _ => decided,
        };
        let when = std::array::from_fn(|i| one((a.when[i], b.when[i])));
        (a.sets == b.sets).then(|| self.compared(Compared { sets: a.sets, when }))
    }

    /// Whether one place is below another, for the winners of two sets: if places are in the order of the
    /// elements, this is whether one winner comes before the other.
    pub fn compare_places(&mut self, op: BinaryOperator, a: Operand, b: Operand) -> Option<Shade> {
        let truth = match op {
            BinaryOperator::Less => Before,
            BinaryOperator::Greater => After,
            _ => return None,
        };
        let sets = [self.chooser([a.0])?, self.chooser([b.0])?];
        let mut all: Vec<u32> = sets.iter().flat_map(|&set| self.list(set).to_vec()).collect();
        all.sort_unstable();
        all.dedup();
        if self.last_wins {
            all.reverse();
        }
        if sets[0] == sets[1] {
            return None;
        }
        let lists = sets.map(|set| self.list(set));
        // The highest places so far, and those of elements that the other set has not. Two elements
        // that both sets have do not win one each.
        let (mut highest, mut highest_alone) = ([None; 2], [None; 2]);
        for element in all {
            let mut places = [None; 2];
            for (i, word) in [a, b].into_iter().enumerate() {
                if lists[i].binary_search(&element).is_ok() {
                    let (shade, place) = self.under(word, sets[i], element);
                    places[i] = Some((shade == PLAIN_WORD).then_some(place)?);
                }
            }
            let is_shared = places[0].is_some() && places[1].is_some();
            let before = if is_shared { highest_alone } else { highest };
            let is_below = |i: usize| places[i].is_some() && before[1 - i] >= places[i];
            if is_shared && places[0] != places[1] || is_below(0) || is_below(1) {
                return None;
            }
            highest = [0, 1].map(|i| highest[i].max(places[i]));
            if !is_shared {
                highest_alone = [0, 1].map(|i| highest_alone[i].max(places[i]));
            }
        }
        Some(self.compared(Compared::new(sets, [truth, truth, truth, False])))
    }

    /// What `select` by a comparison gives.
    pub fn choose(&mut self, condition: Shade, accept: Operand, reject: Operand) -> Option<Shade> {
        let Compared { sets, when } = self.as_compared(condition)?;
        if accept == reject && accept.0 == PLAIN_WORD {
            return Some(PLAIN_WORD);
        }
        let none = self.of(Vec::new());
        let is_none = sets.map(|set| set == none);
        // The set with the higher winner has the result; if winners are equal, `tie` decides.
        let first_if = match (when[0], when[2], is_none) {
            (True, False, _) | (True, _, [_, true]) | (_, False, [true, _]) => true,
            (False, True, _) | (False, _, [_, true]) | (_, True, [true, _]) => false,
            _ => return None,
        };
        let (words, tie) = match (first_if, when[1]) {
            (true, tie) => ([accept, reject], tie),
            (false, False) => ([reject, accept], True),
            (false, True) => ([reject, accept], False),
            (false, Before) => ([reject, accept], After),
            (false, After) => ([reject, accept], Before),
        };
        let joined = self.join(sets[0], sets[1]);
        // Equal winners have equal ranks.
        let rank = |part: usize, i: usize, (shade, word): Operand| {
            shade == word_of(RANK, part, sets[i]) || is_none[i] && shade == PLAIN_WORD && word == 0
        };
        if let Some(part) = (0..2).find(|&part| (0..2).all(|i| rank(part, i, words[i]))) {
            return Some(word_of(RANK, part, joined));
        }
        let lists = sets.map(|set| self.list(set));
        let ends = |i: usize| Some((*lists[i].first()?, *lists[i].last()?));
        let (first, second) = if self.last_wins { (1, 0) } else { (0, 1) };
        let in_order = |a: usize, b: usize| {
            let (Some((_, end)), Some((begin, _))) = (ends(a), ends(b)) else { return true };
            end <= begin
        };
        let is_right = match tie {
            True if is_none[0] => false,
            False if is_none[1] => false,
            True => in_order(first, second),
            False => in_order(second, first),
            Before => true,
            After => false,
        };
        if !is_right {
            return None;
        }
        let winners = self.list(joined);
        let all = winners.iter().map(|&winner| {
            let mut found = (0..2).filter(|&i| lists[i].binary_search(&winner).is_ok());
            let mut word = |i: usize| self.under(words[i], sets[i], winner);
            let one = word(found.next()?);
            found.next().is_none_or(|other| word(other) == one).then_some(one)
        });
        let all = all.collect::<Option<Vec<_>>>()?;
        Some(self.choice(joined, all))
    }

    /// Bytes of elements that become keys, or keys that become elements, element by element.
    pub fn converted(
        &mut self,
        bytes: &[u32; 16],
        size: usize,
        from: &[u32],
        to: u32,
    ) -> [u32; 16] {
        let mut all = [PLAIN; 16];
        for (number, new) in all.chunks_mut(size).enumerate() {
            let begin = number * size;
            let old = &bytes[begin..begin + size];
            match whole(old) {
                _ if old.iter().all(|&byte| byte == PLAIN) => {}
                Some((kind, set)) if from.contains(&kind) => {
                    new.iter_mut().enumerate().for_each(|(i, byte)| *byte = of_set(to, i, set));
                }
                _ => new.copy_from_slice(&self.converted_cases(old, from, to)),
            }
        }
        all
    }

    /// The same of one element that depends on a winner.
    fn converted_cases(&mut self, old: &[u32], from: &[u32], to: u32) -> Vec<u32> {
        let mut words = [PLAIN_WORD; 2];
        words.as_flattened_mut()[..old.len()].copy_from_slice(old);
        let Some((set, cases)) = self.cases(&words.map(|shade| (shade, 0))) else {
            return vec![computed(old.iter().copied()); old.len()];
        };
        let mut new = [Vec::new(), Vec::new()];
        for case in cases {
            let mut bytes = [PLAIN; 16];
            bytes[..8].copy_from_slice([case[0].0, case[1].0].as_flattened());
            let is_one = whole(&bytes[..old.len()]).is_some_and(|(kind, _)| from.contains(&kind));
            let bytes = match is_one {
                true => self.converted(&bytes, old.len(), from, to),
                false => [MIXED; 16],
            };
            for (new, bytes) in new.iter_mut().zip(bytes.chunks(4)) {
                new.push((std::array::from_fn(|i| bytes[i]), 0));
            }
        }
        let shades = new.map(|words| self.choice(set, words));
        shades.as_flattened()[..old.len()].to_vec()
    }

    /// Whether some bytes are the element that wins in a set, as an element of an input or a result.
    pub fn is_winner(&mut self, bytes: &[u32], set: u32) -> bool {
        let mut words = [PLAIN_WORD; 2];
        words.as_flattened_mut()[..bytes.len()].copy_from_slice(bytes);
        self.list(set).iter().all(|&winner| {
            let words = words.map(|shade| self.under((shade, 0), set, winner).0);
            let found = whole(&words.as_flattened()[..bytes.len()]);
            found.is_some_and(|(kind, of)| {
                matches!(kind, RAW | ELEMENT) && *self.list(of) == [winner]
            })
        })
    }
}

enum Field {
    Key(u32),
    Zero,
    Other,
}

impl Sets {
    /// The maximum of two words. The highest bytes in which they may differ are a key in both, or
    /// nothing in one: then the maximum has the larger key there, and below it either word's bytes.
    pub fn maximum(&mut self, a: Operand, b: Operand) -> Shade {
        if is_zero(b) {
            return a.0;
        }
        if is_zero(a) {
            return b.0;
        }
        if a.0 == PLAIN_WORD && b.0 == PLAIN_WORD {
            return PLAIN_WORD;
        }
        if let Some(found) = self.maximum_of_words(a.0, b.0) {
            return found;
        }
        let mut all = [computed(a.0.into_iter().chain(b.0)); 4];
        let mut top = 4;
        let same =
            |i: usize| a.0[i] == PLAIN && b.0[i] == PLAIN && (a.1 ^ b.1) >> (8 * i) & 0xff == 0;
        while top > 0 && same(top - 1) {
            top -= 1;
            all[top] = PLAIN;
        }
        let Some(first) = top.checked_sub(self.size) else { return all };
        let mut field =
            |(shade, word): Operand| self.field(&shade[first..top], word >> (8 * first));
        let joined = match (field(a), field(b)) {
            (Field::Key(a), Field::Key(b)) => self.join(a, b),
            (Field::Key(set), Field::Zero) | (Field::Zero, Field::Key(set)) => set,
            _ => return all,
        };
        for part in 0..self.size {
            all[first + part] = of_set(KEY, part, joined);
        }
        let below = |(shade, word): Operand| {
            shade[..first].iter().all(|&byte| byte == PLAIN)
                && word & ((1u64 << (8 * first)) - 1) as u32 == 0
        };
        if below(a) && below(b) {
            all[..first].fill(PLAIN);
        }
        all
    }

    /// What some bytes, as many as an element has, stand for. `bits` begin with those of these bytes.
    fn field(&mut self, bytes: &[u32], bits: u32) -> Field {
        if bytes.iter().all(|&byte| byte == PLAIN) {
            let mask = (1u64 << (8 * bytes.len())) - 1;
            return match u64::from(bits) & mask {
                0 => Field::Zero,
                key => self.initial_set(key).map_or(Field::Other, Field::Key),
            };
        }
        self.key_set(bytes).map_or(Field::Other, Field::Key)
    }

    /// The set of the initial value alone, if this is its key.
    fn initial_set(&mut self, key: u64) -> Option<u32> {
        (self.initial == Some(key)).then(|| self.of(vec![INITIAL]))
    }

    /// The maximum of two keys of 64 bits, each with its low word first.
    pub fn maximum_of_pairs(&mut self, a: [Operand; 2], b: [Operand; 2]) -> [Shade; 2] {
        let bytes = |pair: [Operand; 2]| [pair[0].0, pair[1].0].concat();
        let (all_a, all_b) = (bytes(a), bytes(b));
        let zero = |pair: [Operand; 2]| pair.iter().all(|&word| is_zero(word));
        let is_plain = |bytes: &[u32]| bytes.iter().all(|&byte| byte == PLAIN);
        if is_plain(&all_a) && is_plain(&all_b) {
            return [PLAIN_WORD; 2];
        }
        let mut set_of = |pair: [Operand; 2], bytes: &[u32]| match is_plain(bytes) {
            true => self.initial_set(u64::from(pair[1].1) << 32 | u64::from(pair[0].1)),
            false => self.key_set(bytes),
        };
        let set = match (set_of(a, &all_a), set_of(b, &all_b)) {
            (Some(a), Some(b)) => self.join(a, b),
            (Some(set), _) if zero(b) => set,
            (_, Some(set)) if zero(a) => set,
            _ => return [[computed(all_a.into_iter().chain(all_b)); 4]; 2],
        };
        [0, 4].map(|first| std::array::from_fn(|i| of_set(KEY, first + i, set)))
    }
}
