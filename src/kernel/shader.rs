//! The WGSL of a kernel for an element type, composed from the files in `shaders/`.

use crate::tensor::ElementType;

/// The kernels by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// `fill.wgsl`: one value everywhere.
    Fill,
    /// `reduce_rows.wgsl`: the maximum of contiguous rows.
    ReduceRows,
    /// `reduce_columns.wgsl`: the maximum down columns, every access a whole aligned block.
    ReduceColumns,
    /// `reduce_columns.wgsl` with any alignment.
    ReduceColumnsGeneral,
}

impl Kernel {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Fill, Self::ReduceRows, Self::ReduceColumns, Self::ReduceColumnsGeneral];

    /// The name, as in labels.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fill => "fill",
            Self::ReduceRows => "reduce_rows",
            Self::ReduceColumns => "reduce_columns",
            Self::ReduceColumnsGeneral => "reduce_columns_general",
        }
    }
}

/// What a pipeline is made for: all that its text depends on. Shapes are not part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shader {
    /// The kernel.
    pub kernel: Kernel,
    /// The element type.
    pub element: ElementType,
    /// Whether the source is scratch that holds keys instead of elements.
    pub from_keys: bool,
    /// Whether the result is scratch that holds keys instead of elements.
    pub to_keys: bool,
    /// Whether the source is bound as words, its length being no multiple of 16 bytes.
    pub words: bool,
    /// Invocations of a workgroup.
    pub workgroup: u32,
}

macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../shaders/", $name))
    };
}

impl Shader {
    /// Every shader that there is for a workgroup size.
    pub fn all(workgroup: u32) -> Vec<Self> {
        let mut all = Vec::new();
        for kernel in Kernel::ALL {
            if kernel == Kernel::Fill {
                all.push(Self::fill(workgroup));
                continue;
            }
            for element in ElementType::ALL {
                for bits in 0..8 {
                    let (from_keys, to_keys, words) = (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0);
                    all.push(Self { kernel, element, from_keys, to_keys, words, workgroup });
                }
            }
        }
        all
    }

    /// The fill kernel, which is the same for every type.
    pub(crate) fn fill(workgroup: u32) -> Self {
        Self {
            kernel: Kernel::Fill,
            element: ElementType::U32,
            from_keys: false,
            to_keys: false,
            words: false,
            workgroup,
        }
    }

    /// A label for debuggers and profilers.
    pub fn label(&self) -> String {
        let ends = match (self.from_keys, self.to_keys) {
            (false, false) => "",
            (false, true) => " to keys",
            (true, false) => " from keys",
            (true, true) => " keys to keys",
        };
        format!("wgmax {} {}{ends}", self.kernel.name(), self.element)
    }

    /// Elements of a cell of the result: those of a word, or 1 if an element has more than a word.
    pub(crate) fn per_cell(&self) -> usize {
        (4 / item_size(self.element, self.to_keys)).max(1)
    }

    /// The WGSL text.
    pub fn source(&self) -> String {
        let workgroup = format!("const WORKGROUP: u32 = {}u;\n", self.workgroup);
        let body = match self.kernel {
            Kernel::Fill => return workgroup + file!("fill.wgsl"),
            Kernel::ReduceRows => file!("reduce_rows.wgsl"),
            Kernel::ReduceColumns | Kernel::ReduceColumnsGeneral => file!("reduce_columns.wgsl"),
        };
        let element = match self.element {
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
        };
        let load_key = if self.from_keys { "words" } else { "element_key(words)" };
        let load = match item_size(self.element, self.from_keys) {
            1 => concat!(file!("load/byte.wgsl"), file!("load/packed.wgsl")),
            2 => concat!(file!("load/half.wgsl"), file!("load/packed.wgsl")),
            4 => file!("load/word.wgsl"),
            _ => file!("load/pair.wgsl"),
        };
        let store_bits = if self.to_keys { "key" } else { "element_bits(key)" };
        let store = match item_size(self.element, self.to_keys) {
            1 => file!("store/byte.wgsl"),
            2 => file!("store/half.wgsl"),
            4 => file!("store/word.wgsl"),
            _ => file!("store/pair.wgsl"),
        };
        let key =
            if self.element.size() == 8 { file!("key/pair.wgsl") } else { file!("key/word.wgsl") };
        let view = if self.words { file!("view/words.wgsl") } else { file!("view/blocks.wgsl") };
        let addressing = match self.kernel {
            Kernel::ReduceColumns => {
                "fn load_columns(element: u32) -> Acc { return aligned(element); }\n"
            }
            Kernel::ReduceColumnsGeneral => {
                "fn load_columns(element: u32) -> Acc { return general(element); }\n"
            }
            _ => "",
        };
        [
            &workgroup,
            body,
            key,
            view,
            element,
            &format!("fn load_key(words: vec4<u32>) -> vec4<u32> {{ return {load_key}; }}\n"),
            load,
            file!("load/common.wgsl"),
            &format!("fn store_bits(key: Key) -> Key {{ return {store_bits}; }}\n"),
            store,
            addressing,
        ]
        .join("\n")
    }
}

/// Bytes of an item in memory: of an element, or of a key in scratch.
pub(crate) fn item_size(element: ElementType, keys: bool) -> usize {
    if keys { element.size().max(4) } else { element.size() }
}
