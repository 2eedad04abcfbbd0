//! Maxima that several launches find word by word.
//!
//! The largest first word of the keys or ranks of a set is that of its maximum. An element *ties* with
//! the maximum in some words if these are equal. Among the elements of a set that tie in all earlier
//! words, the largest next word is again that of the maximum. Among those that tie in all words, the
//! largest number belongs to the one that wins, if the numbers descend in the order in which
//! elements win. So an invocation may take the maximum of what `select` gives for each element: this
//! word, or 0 for one that does not tie. The result is known once all elements of the set took part.

use super::choice::Sets;
use super::shade::{
    ELEMENT, FOUND, Found, KEY, Operand, PLAIN_WORD, RANK, Shade, TIED, Tie, as_word, is_zero,
    word_of,
};

impl Sets {
    /// The only element of a set.
    fn only(&mut self, set: u32) -> Option<u32> {
        match *self.list(set) {
            [element] => Some(element),
            _ => None,
        }
    }

    /// Whether two words are equal, of which one is an element's, and one that of the maximum of a set
    /// that has the element.
    pub fn equal(&mut self, a: Shade, b: Shade) -> Option<Shade> {
        let ((kind, word, a), (of, at, b)) = (as_word(a)?, as_word(b)?);
        if kind != of || word != at || !matches!(kind, KEY | RANK) {
            return None;
        }
        let joined = self.join(a, b);
        let set = [a, b].into_iter().find(|&set| set == joined)?;
        let element = self.only(if set == a { b } else { a })?;
        self.ties.ties.push(Tie { kind, set, element, words: 1 << word });
        Some(word_of(TIED, 0, self.ties.ties.len() as u32 - 1))
    }

    fn tie(&self, shade: Shade) -> Option<Tie> {
        match as_word(shade)? {
            (TIED, _, number) => Some(self.ties.ties[number as usize]),
            _ => None,
        }
    }

    /// Whether an element ties in the words of two comparisons.
    pub fn both_tie(&mut self, a: Shade, b: Shade) -> Option<Shade> {
        let (a, b) = (self.tie(a)?, self.tie(b)?);
        let both = Tie { words: a.words | b.words, ..a };
        (both == Tie { words: both.words, ..b }).then(|| {
            self.ties.ties.push(both);
            word_of(TIED, 0, self.ties.ties.len() as u32 - 1)
        })
    }

    /// A word of an element that ties, or 0.
    pub fn if_tied(&mut self, tie: Shade, word: Operand, other: Operand) -> Option<Shade> {
        let Tie { kind, set, element, words } = self.tie(tie)?;
        let among = self.of(vec![element]);
        let is_low = word.0 == word_of(kind, 0, among);
        if !is_zero(other) || !is_low && word.0 != PLAIN_WORD {
            return None;
        }
        if !is_low && *self.ties.places.entry((set, element)).or_insert(word.1) != word.1 {
            return None;
        }
        self.found(Found { kind, set, words, among, is_low })
    }

    /// What was found, once that is all.
    fn found(&mut self, found: Found) -> Option<Shade> {
        if found.among != found.set {
            let next = self.ties.found.len() as u32;
            let number = *self.ties.numbers.entry(found).or_insert(next);
            if number == next {
                self.ties.found.push(found);
            }
            return Some(word_of(FOUND, 0, number));
        }
        let all = self.found_in_all(found)?;
        if all != PLAIN_WORD {
            self.ties.complete.insert(all, found);
        }
        Some(all)
    }

    fn found_in_all(&mut self, found: Found) -> Option<Shade> {
        let all_words = if self.size == 8 { 0b11 } else { 0b1 };
        if found.is_low {
            return (found.words == all_words & !1).then(|| word_of(found.kind, 0, found.set));
        }
        let list = self.list(found.set);
        let places: Vec<u32> =
            list.iter().map(|element| self.ties.places[&(found.set, *element)]).collect();
        let descends = |pair: &[u32]| (pair[0] > pair[1]) != self.last_wins && pair[0] != pair[1];
        let is_winner = found.kind == RANK && found.words == all_words;
        (is_winner && places.windows(2).all(descends)).then(|| {
            let words = places.into_iter().map(|place| (PLAIN_WORD, place)).collect();
            self.choice(found.set, words)
        })
    }

    /// The maximum of two first words of keys or ranks, or of two words of elements that tie.
    pub fn maximum_of_words(&mut self, a: Shade, b: Shade) -> Option<Shade> {
        // A key may be that of either zero: then its words are of two keys.
        let of_two = |kind| matches!(kind, KEY | ELEMENT) && self.size == 8 && self.finds_positions;
        if a == b && as_word(a).is_some_and(|(kind, ..)| !of_two(kind)) {
            return Some(a);
        }
        // An element that took part already changes nothing.
        if let (Some(&all), Some((FOUND, _, number))) = (self.ties.complete.get(&a), as_word(b)) {
            let Found { set, .. } = all;
            let some = self.ties.found[number as usize];
            return (all == Found { among: set, ..some }).then_some(a);
        }
        let ((kind, word, a), (of, at, b)) = (as_word(a)?, as_word(b)?);
        match kind {
            _ if kind != of || word != at => None,
            KEY | RANK if word == self.size.div_ceil(4) - 1 && (kind == RANK || self.size >= 4) => {
                Some(word_of(kind, word, self.join(a, b)))
            }
            FOUND => {
                let [a, b] = [a, b].map(|number| self.ties.found[number as usize]);
                let found = Found { among: self.join(a.among, b.among), ..a };
                (found == Found { among: found.among, ..b }).then_some(())?;
                self.found(found)
            }
            _ => None,
        }
    }
}
