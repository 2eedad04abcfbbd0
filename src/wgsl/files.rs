//! The files of `shaders/`, which are compiled into the crate.

macro_rules! files {
    ($($folder:literal: $($name:literal)*;)*) => {
        /// Each file's path below `shaders/`, without its ending, and its text.
        pub(crate) const FILES: &[(&str, &str)] = &[$($((
            concat!($folder, "/", $name),
            include_str!(concat!("../../shaders/", $folder, "/", $name, ".wgsl")),
        ),)*)*];
    };
}

files! {
    "common":
        "block" "divide" "element" "fill" "invocation" "join" "key" "memory" "pack" "rank" "source"
        "store" "unpack" "vector" "view";
    "gradient":
        "claim" "elements" "places" "pool" "scatter" "span" "sum" "tile";
    "pool":
        "blocks" "box" "gather" "numbering" "pyramid" "sliding_window" "tile" "tile_search"
        "windows";
    "reduce":
        "columns" "columns_index" "positions" "rows" "short_rows";
    "segment":
        "blocks" "check_ids" "chunks" "elements" "expand_offsets" "finish" "groups"
        "id_words" "ids" "locate" "scatter" "tiles";
    "software":
        "column_tiles" "gradient_rows" "segment_column_tiles" "segment_unrolled";
}
