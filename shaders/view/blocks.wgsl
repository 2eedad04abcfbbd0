// The source bound as blocks of four words.
@group(0) @binding(1) var<storage, read> source: array<vec4<u32>>;

fn source_block(block: u32) -> vec4<u32> {
    return source[block];
}

fn source_word(word: u32) -> u32 {
    return source[word / 4u][word % 4u];
}

fn source_words() -> u32 {
    return arrayLength(&source) * 4u;
}
