// The word of PER_WORD elements that begins at an element, which need not begin a word of memory.
// Elements past the end of the source come out as anything.
fn packed_word(element: u32) -> u32 {
    let i = element / PER_WORD;
    let shift = (element % PER_WORD) * ELEMENT_BITS;
    let low = source_word(i);
    if shift == 0u {
        return low;
    }
    return (low >> shift) | (source_word(min(i + 1u, source_words() - 1u)) << (32u - shift));
}
