// The source bound as words: for ranges whose length is no multiple of 16 bytes.
@group(0) @binding(1) var<storage, read> source: array<u32>;

fn source_block(block: u32) -> vec4<u32> {
    let last = arrayLength(&source) - 1u;
    let word = block * 4u;
    return vec4<u32>(
        source[word],
        source[min(word + 1u, last)],
        source[min(word + 2u, last)],
        source[min(word + 3u, last)],
    );
}

fn source_word(word: u32) -> u32 {
    return source[word];
}

fn source_words() -> u32 {
    return arrayLength(&source);
}
