// The word of PER_WORD elements that begins at an element, which need not begin
// a word and may even lie a little before the source.
fn run_word(element: u32) -> u32 {
    let last = i32(source_words()) - 1;
    let per_word = i32(PER_WORD);
    // Rounds down for what lies before the source too.
    let word = (i32(element) - ((i32(element) % per_word + per_word) % per_word)) / per_word;
    let shift = (element % PER_WORD) * ELEMENT_BITS;
    let low = source_word(u32(clamp(word, 0, last)));
    if shift == 0u {
        return low;
    }
    return (low >> shift) | (source_word(u32(clamp(word + 1, 0, last))) << (32u - shift));
}
