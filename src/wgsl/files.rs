//! The files of `shaders/`, as the crate holds them.

macro_rules! files {
    ($($path:literal)*) => {
        /// Each file's path below `shaders/`, without its ending, and its text.
        pub(crate) const FILES: &[(&str, &str)] = &[
            $(($path, include_str!(concat!("../../shaders/", $path, ".wgsl"))),)*
        ];
    };
}

files! {
    "common/block"
    "common/divide"
    "common/element"
    "common/fill"
    "common/invocation"
    "common/key"
    "common/memory"
    "common/pack"
    "common/source"
    "common/store"
    "common/unpack"
    "common/vector"
    "common/view"
    "gradient/claim"
    "gradient/elements"
    "gradient/places"
    "gradient/pool"
    "gradient/scatter"
    "gradient/sum"
    "gradient/tile"
    "pool/blocks"
    "pool/box"
    "pool/gather"
    "pool/numbering"
    "pool/tile"
    "pool/tile_search"
    "pool/windows"
    "reduce/columns"
    "reduce/columns_index"
    "reduce/positions"
    "reduce/rows"
    "segment/blocks"
    "segment/check_ids"
    "segment/chunks"
    "segment/elements"
    "segment/expand_offsets"
    "segment/finish"
    "segment/groups"
    "segment/id_words"
    "segment/ids"
    "segment/scatter"
    "segment/tiles"
    "software/column_tiles"
    "software/gradient_rows"
    "software/segment_column_tiles"
    "software/segment_unrolled"
    "software/short_rows"
    "software/sliding_window"
}
