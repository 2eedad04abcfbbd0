// The memory that a launch reads: bound as words for kernels that read words, or if the binding's
// length is no multiple of 16 bytes (`words`), otherwise as blocks of 16 bytes. If a kernel reads
// both (`blocks_and_words`), words are taken out of blocks.
@group(0) @binding(1) var<storage, read> source_blocks: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> source: array<u32>;

@if(!words)
fn memory_block(block: u32) -> vec4<u32> {
    return source_blocks[block];
}

// Words past the end repeat the last one.
@if(words)
fn memory_block(block: u32) -> vec4<u32> {
    let last = arrayLength(&source) - 1u;
    let word = block * 4u;
    return vec4<u32>(
        source[word],
        source[min(word + 1u, last)],
        source[min(word + 2u, last)],
        source[min(word + 3u, last)],
    );
}

// The number of blocks; the last one may not be full.
@if(!words)
fn memory_blocks() -> u32 {
    return arrayLength(&source_blocks);
}

@if(words)
fn memory_blocks() -> u32 {
    return (arrayLength(&source) + 3u) / 4u;
}

@if(!blocks_and_words || words)
fn memory_word(word: u32) -> u32 {
    return source[word];
}

@if(blocks_and_words && !words)
fn memory_word(word: u32) -> u32 {
    return source_blocks[word / 4u][word % 4u];
}

@if(!blocks_and_words || words)
fn memory_words() -> u32 {
    return arrayLength(&source);
}

@if(blocks_and_words && !words)
fn memory_words() -> u32 {
    return arrayLength(&source_blocks) * 4u;
}
