//! The WGSL of a kernel for an element type, composed from the files in `shaders/`.

use super::shader::item_size;
use super::{Kernel, Shader, Walk};
use crate::tensor::ElementType;

macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../shaders/", $name))
    };
}

impl Shader {
    /// The WGSL text.
    pub fn source(&self) -> String {
        let mut parts = vec![format!("const WORKGROUP: u32 = {}u;", self.workgroup)];
        let mut add = |text: &str| parts.push(text.to_string());
        match self.kernel {
            Kernel::Fill => add(file!("fill.wgsl")),
            Kernel::ReduceRows
            | Kernel::ReduceShort
            | Kernel::ReduceColumns
            | Kernel::ReduceColumnsGeneral => {
                add(match self.kernel {
                    Kernel::ReduceRows => concat!(file!("rows.wgsl"), file!("reduce_rows.wgsl")),
                    Kernel::ReduceShort => concat!(file!("rows.wgsl"), file!("reduce_short.wgsl")),
                    _ => concat!(file!("columns.wgsl"), file!("reduce_columns.wgsl")),
                });
                self.add_source(self.from_scratch, &mut add);
                self.add_store(self.to_scratch, &mut add);
                match self.kernel {
                    Kernel::ReduceColumns => {
                        add("fn load_columns(element: u32) -> Acc { return aligned(element); }");
                    }
                    Kernel::ReduceColumnsGeneral => {
                        add("fn load_columns(element: u32) -> Acc { return general(element); }");
                    }
                    _ => {}
                }
            }
            Kernel::ReduceStrips => {
                add(file!("columns.wgsl"));
                add(file!("reduce_strips.wgsl"));
                self.add_source(false, &mut add);
                add(&store_words(false));
            }
            Kernel::PoolBlocks | Kernel::PoolRuns => {
                add(file!("pool.wgsl"));
                add(file!("divide.wgsl"));
                add(file!("blocks.wgsl"));
                add(match self.kernel {
                    Kernel::PoolRuns => file!("pool_runs.wgsl"),
                    _ => file!("pool_blocks.wgsl"),
                });
                self.add_source(false, &mut add);
                add(&store_words(false));
                add(self.empty_block());
            }
            Kernel::PoolWalk(walk) => {
                self.add_walk(&walk, false, &mut add);
                add(file!("walk/put.wgsl"));
            }
            Kernel::PoolWalkIndex(walk, wide) => {
                self.add_walk(&walk, true, &mut add);
                add(file!("walk/find.wgsl"));
                add(file!("walk/put_found.wgsl"));
                add(self.rank_one());
                add(match wide {
                    true => file!("walk/index_wide.wgsl"),
                    false => file!("walk/index.wgsl"),
                });
            }
            Kernel::PoolRow | Kernel::PoolLanes | Kernel::PoolAcross | Kernel::PoolSparse => {
                add(file!("pool.wgsl"));
                add(file!("pool_gather.wgsl"));
                add(file!("gather/maximum.wgsl"));
                self.add_source(false, &mut add);
                self.add_lanes(&mut add);
                add(match self.kernel {
                    Kernel::PoolRow => {
                        "fn load_tap(element: vec4<u32>) -> vec4<u32> { return load_run(element.x); }"
                    }
                    _ => {
                        "fn load_tap(element: vec4<u32>) -> vec4<u32> { return load_lanes(element); }"
                    }
                });
            }
            Kernel::SegmentExpand => {
                add(file!("segment.wgsl"));
                add(file!("segment_expand.wgsl"));
            }
            Kernel::SegmentCheck => {
                add(file!("segment.wgsl"));
                add(file!("segment_check.wgsl"));
            }
            Kernel::SegmentBlocks
            | Kernel::SegmentStrips
            | Kernel::SegmentElements
            | Kernel::SegmentEights
            | Kernel::SegmentRows
            | Kernel::SegmentScatter
            | Kernel::SegmentScatterRows
            | Kernel::SegmentFinish
            | Kernel::SegmentFinishRows => self.add_segment(&mut add),
            Kernel::PoolIndex | Kernel::PoolIndexAcross | Kernel::PoolIndexSparse => {
                add(file!("pool.wgsl"));
                add(file!("pool_gather.wgsl"));
                self.add_source(false, &mut add);
                self.add_lanes(&mut add);
                add(self.rank());
                add(file!("index/search.wgsl"));
                add(match self.from_scratch {
                    true => file!("index/from_positions.wgsl"),
                    false => file!("index/from_elements.wgsl"),
                });
                add(match self.to_scratch {
                    true => file!("index/to_positions.wgsl"),
                    false => file!("index/to_indices.wgsl"),
                });
            }
        }
        let text = parts.join("\n");
        match self.shared {
            true => text.replace("var<storage, read>", "var<storage, read_write>"),
            false => text,
        }
    }

    /// The source and how its items become keys.
    fn add_source(&self, from_scratch: bool, add: &mut impl FnMut(&str)) {
        add(if self.element.size() == 8 { file!("key/pair.wgsl") } else { file!("key/word.wgsl") });
        add(if self.words { file!("view/words.wgsl") } else { file!("view/blocks.wgsl") });
        add(match self.element {
            ElementType::F32 => file!("element/f32.wgsl"),
            ElementType::F64 => file!("element/f64.wgsl"),
            ElementType::F16 => file!("element/f16.wgsl"),
            ElementType::Bf16 => file!("element/bf16.wgsl"),
            ElementType::I8 => file!("element/i8.wgsl"),
            ElementType::I16 => file!("element/i16.wgsl"),
            ElementType::I32 => file!("element/i32.wgsl"),
            ElementType::I64 => file!("element/i64.wgsl"),
            ElementType::Bool => file!("element/bool.wgsl"),
            ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => {
                file!("element/unsigned.wgsl")
            }
        });
        let load_key = if from_scratch { "words" } else { "element_key(words)" };
        add(&format!("fn load_key(words: vec4<u32>) -> vec4<u32> {{ return {load_key}; }}"));
        add(match item_size(self.element, from_scratch) {
            1 => concat!(file!("load/byte.wgsl"), file!("load/packed.wgsl")),
            2 => concat!(file!("load/half.wgsl"), file!("load/packed.wgsl")),
            4 => file!("load/word.wgsl"),
            _ => file!("load/pair.wgsl"),
        });
        add(file!("load/common.wgsl"));
    }

    /// What walks along lines of windows, without what becomes of them.
    fn add_walk(&self, walk: &Walk, finds: bool, add: &mut impl FnMut(&str)) {
        add(file!("pool.wgsl"));
        add(file!("divide.wgsl"));
        self.add_source(false, add);
        add(&store_words(false));
        let (from_blocks, to_blocks) = walk.over.blocks();
        add(match from_blocks {
            true => file!("walk/blocks.wgsl"),
            false => file!("walk/words.wgsl"),
        });
        add(match to_blocks {
            true => file!("walk/to_blocks.wgsl"),
            false => file!("walk/to_words.wgsl"),
        });
        add(file!("pool_walk.wgsl"));
        add(&walk.source(self.element.size(), finds));
    }

    /// The block of windows without elements, as packed keys.
    fn empty_block(&self) -> &'static str {
        match self.element.size() {
            1 => {
                "fn empty_block() -> vec4<u32> { return vec4<u32>(params.empty_low * 0x01010101u); }"
            }
            2 => {
                "fn empty_block() -> vec4<u32> { return vec4<u32>(params.empty_low * 0x00010001u); }"
            }
            4 => "fn empty_block() -> vec4<u32> { return vec4<u32>(params.empty_low); }",
            _ => {
                "fn empty_block() -> vec4<u32> { return vec2<u32>(params.empty_low, params.empty_high).xyxy; }"
            }
        }
    }

    /// How keys become items of the result.
    fn add_store(&self, to_scratch: bool, add: &mut impl FnMut(&str)) {
        add(&store_words(to_scratch));
        add(match item_size(self.element, to_scratch) {
            1 => file!("store/byte.wgsl"),
            2 => file!("store/half.wgsl"),
            4 => file!("store/word.wgsl"),
            _ => file!("store/pair.wgsl"),
        });
    }

    /// Results by slots, each lane on its own.
    fn add_lanes(&self, add: &mut impl FnMut(&str)) {
        add(file!("divide.wgsl"));
        add(file!("lanes/slot.wgsl"));
        let sparse = matches!(self.kernel, Kernel::PoolSparse | Kernel::PoolIndexSparse);
        add(match self.kernel {
            Kernel::PoolRow | Kernel::PoolLanes | Kernel::PoolIndex => file!("lanes/whole.wgsl"),
            _ => file!("lanes/across.wgsl"),
        });
        add(match sparse {
            true => file!("lanes/few_taps.wgsl"),
            false => file!("lanes/every_tap.wgsl"),
        });
        self.add_lane_types(add);
    }

    /// What lanes hold, and how they are read and written.
    fn add_lane_types(&self, add: &mut impl FnMut(&str)) {
        add(&store_words(false));
        add(match self.element.size() {
            1 => concat!(file!("lanes/byte.wgsl"), file!("lanes/run.wgsl")),
            2 => concat!(file!("lanes/half.wgsl"), file!("lanes/run.wgsl")),
            4 => file!("lanes/word.wgsl"),
            _ => file!("lanes/pair.wgsl"),
        });
    }

    /// The kernels of SegmentMax.
    fn add_segment(&self, add: &mut impl FnMut(&str)) {
        let size = self.element.size();
        add(file!("segment.wgsl"));
        add(file!("divide.wgsl"));
        self.add_source(self.from_scratch && self.kernel == Kernel::SegmentElements, add);
        match self.kernel {
            Kernel::SegmentFinish | Kernel::SegmentFinishRows => {
                add(file!("segment_finish.wgsl"));
                self.add_lane_types(add);
                add(match (self.kernel, size) {
                    (Kernel::SegmentFinishRows, _) => file!("segment/finish_rows.wgsl"),
                    (_, 8) => file!("segment/finish_pair.wgsl"),
                    _ => file!("segment/finish_word.wgsl"),
                });
                return;
            }
            Kernel::SegmentEights => add(file!("segment/ids_in_blocks.wgsl")),
            _ => add(file!("segment/ids_in_words.wgsl")),
        }
        add(file!("segment/ids.wgsl"));
        add(
            match item_size(
                self.element,
                self.from_scratch && self.kernel == Kernel::SegmentElements,
            ) {
                1 => file!("one/byte.wgsl"),
                2 => file!("one/half.wgsl"),
                4 => file!("one/word.wgsl"),
                _ => file!("one/pair.wgsl"),
            },
        );
        let rank = self.rank_one();
        match self.kernel {
            Kernel::SegmentScatter | Kernel::SegmentScatterRows => {
                add(file!("segment_scatter.wgsl"));
                add(if size == 8 {
                    file!("segment/words_two.wgsl")
                } else {
                    file!("segment/words_one.wgsl")
                });
                let rows = self.kernel == Kernel::SegmentScatterRows;
                add(&format!("const MARKS: bool = {};", !rows));
                add(if rows { rank } else { file!("one/rank_integer.wgsl") });
                add("fn candidate_key(key: Key) -> Key { return rank_one(key); }");
            }
            Kernel::SegmentRows => {
                add(concat!(file!("segment_runs.wgsl"), file!("segment/walk.wgsl")));
                add(file!("segment/rows.wgsl"));
                add(rank);
                add(match self.from_scratch {
                    true => file!("segment/from_carry.wgsl"),
                    false => file!("segment/from_rows.wgsl"),
                });
            }
            Kernel::SegmentBlocks | Kernel::SegmentStrips => {
                add(concat!(file!("segment_runs.wgsl"), file!("segment/walk.wgsl")));
                add(match self.kernel {
                    Kernel::SegmentStrips => file!("segment/strips.wgsl"),
                    _ => file!("segment/blocks.wgsl"),
                });
                add(&store_words(false));
            }
            _ => {
                add(file!("segment_runs.wgsl"));
                add(file!("segment/elements.wgsl"));
                match self.kernel {
                    Kernel::SegmentEights => {
                        add(file!("segment/eights.wgsl"));
                        add(match size {
                            1 => file!("segment/eight_byte.wgsl"),
                            2 => file!("segment/eight_half.wgsl"),
                            4 => file!("segment/eight_word.wgsl"),
                            _ => file!("segment/eight_pair.wgsl"),
                        });
                    }
                    _ => add(file!("segment/walk.wgsl")),
                }
                add(match size {
                    8 => file!("segment/put_pair.wgsl"),
                    4 => file!("segment/put_word.wgsl"),
                    _ => file!("segment/put_packed.wgsl"),
                });
                add(&store_words(self.to_scratch));
            }
        }
    }

    /// How single elements rank where their positions are looked for.
    fn rank_one(&self) -> &'static str {
        match self.element {
            ElementType::F16 | ElementType::Bf16 => file!("one/rank_half.wgsl"),
            ElementType::F32 => file!("one/rank_word.wgsl"),
            ElementType::F64 => file!("one/rank_pair.wgsl"),
            _ => file!("one/rank_integer.wgsl"),
        }
    }

    /// How elements rank where their positions are looked for.
    fn rank(&self) -> &'static str {
        match self.element {
            ElementType::F16 | ElementType::Bf16 => file!("rank/half.wgsl"),
            ElementType::F32 => file!("rank/word.wgsl"),
            ElementType::F64 => file!("rank/pair.wgsl"),
            _ => file!("rank/integer.wgsl"),
        }
    }
}

/// How packed keys become the words of the result.
fn store_words(to_scratch: bool) -> String {
    let words = if to_scratch { "keys" } else { "element_words(keys)" };
    format!("fn store_words(keys: vec4<u32>) -> vec4<u32> {{ return {words}; }}")
}
