//! Kernels, and their shaders.

use std::fmt;
use std::hash::{Hash, Hasher};

use bytemuck::Pod;

use super::placement::{Lines, Placement, Words};
use crate::tensor::ElementType;
use crate::wgsl;

/// A constant of a kernel's text: its name and value.
pub(crate) type Constant = (&'static str, fn(&Shader) -> u64);

/// A kernel: a WGSL file and a function that computes the same on the CPU.
///
/// Given the same parameters and sources, both write the same bytes, scratch included. The CPU's
/// function may compute them in any order.
///
/// Each kernel is defined once, as a `static` beside the function, and listed in the `KERNELS` of
/// its module.
pub struct Kernel {
    pub(crate) name: &'static str,
    /// The file below `shaders/` that has its entry point, without the ending.
    pub(crate) file: &'static str,
    /// Its parameters. The text gets their declaration from here.
    pub(crate) params: &'static wgsl::Structure,
    /// Constants that both the text and the planner use.
    pub(crate) constants: &'static [Constant],
    /// Conditions of the file that a launch may choose: its variants.
    pub(crate) flags: &'static [&'static str],
    /// Which of its variants exist for an element type.
    pub(crate) has: fn(ElementType, Flags) -> bool,
    /// Whether its text depends on the element type.
    pub(crate) typed: bool,
    /// Whether it reads both blocks and words of its source, which is then bound as blocks.
    pub(crate) blocks_and_words: bool,
    /// Whether its source may be a view.
    pub(crate) views: Views,
    /// Whether it reads its results before it writes them, other than by atomics.
    pub(crate) updates: bool,
    /// How parts of its text are written for the attributes of one operator, if any.
    pub(crate) specialization: Option<&'static Specialization>,
    /// The CPU's function.
    #[cfg(feature = "cpu")]
    pub(crate) cpu: fn(&Shader, Call<'_, '_>),
    /// Whether its CPU function reads a view in place, given a launch's parameters.
    #[cfg(feature = "cpu")]
    pub(crate) reads_in_place: fn(&Shader, &[u32], &Placement) -> bool,
}

/// How a kernel accesses views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Views {
    /// Its source may be a view. On the CPU the elements are gathered first, unless its CPU
    /// function reads them in place.
    MayRead,
    /// Its source is a view, which its CPU function reads in place.
    Reads,
    /// Its result is a view, which its CPU function writes in place.
    Writes,
    /// It reads no elements.
    Not,
}

/// Parts of a text that are written for the attributes of one operator.
pub(crate) struct Specialization {
    /// The declarations of the package `generated`.
    pub write: fn(&Shader) -> String,
    /// Samples of attributes, whose texts together have every part of the text.
    pub samples: fn() -> Vec<Attributes>,
}

/// The attributes that a text is written for, as bytes that only its kernel interprets.
pub(crate) type Attributes = [u8; 16];

/// What a launch binds on the CPU.
pub(crate) struct Call<'a, 'b> {
    pub(crate) params: &'a [u32],
    /// The sources' bytes, in the order of the bindings.
    pub sources: &'a [&'a [u8]],
    /// The results' bytes.
    pub results: &'a mut [&'b mut [u8]],
    /// The layout of the elements of the source or the result, if they are not contiguous.
    pub view: Option<&'a Placement>,
}

impl<'a, 'b> Call<'a, 'b> {
    #[cfg(feature = "cpu")]
    pub(crate) fn new(
        params: &'a [u32],
        sources: &'a [&'a [u8]],
        results: &'a mut [&'b mut [u8]],
        view: Option<&'a Placement>,
    ) -> Self {
        Self { params, sources, results, view }
    }

    /// The parameters.
    pub(crate) fn params<P: Pod>(&self) -> &'a P {
        bytemuck::from_bytes(bytemuck::cast_slice(self.params))
    }

    /// The lines of the first source, of `line` elements each, from element `base` on.
    pub(crate) fn lines(&self, base: u32, line: u32) -> Lines<'a> {
        Lines { base: base as usize, line: line as usize, view: self.view }
    }

    /// The only source and the only result of a kernel.
    pub(crate) fn one<T: Pod>(&mut self) -> (&'a [T], &mut [T]) {
        (bytemuck::cast_slice(self.sources[0]), bytemuck::cast_slice_mut(self.results[0]))
    }
}

/// The first parameters of a launch.
pub(crate) fn first_params<P: Pod>(params: &[u32]) -> &P {
    bytemuck::from_bytes(&bytemuck::cast_slice(params)[..size_of::<P>()])
}

/// Which of a kernel's flags are set: bit i stands for the i-th of them.
pub(crate) type Flags = u8;

impl Kernel {
    /// A kernel with parameters `P`, for every element type and all combinations of its flags.
    ///
    /// Without the feature `cpu` the CPU function is dropped, so that it is never compiled.
    #[cfg_attr(not(feature = "cpu"), expect(unused_variables, reason = "it is not kept"))]
    pub(crate) const fn new<P: wgsl::Params>(
        name: &'static str,
        file: &'static str,
        cpu: fn(&Shader, Call<'_, '_>),
    ) -> Self {
        const fn any(_: ElementType, _: Flags) -> bool {
            true
        }
        #[cfg(feature = "cpu")]
        fn never(_: &Shader, _: &[u32], _: &Placement) -> bool {
            false
        }
        let (typed, blocks_and_words, views, specialization) = (true, false, Views::MayRead, None);
        Self {
            name,
            file,
            params: P::STRUCTURE,
            constants: &[],
            flags: &[],
            has: any,
            typed,
            blocks_and_words,
            views,
            updates: false,
            specialization,
            #[cfg(feature = "cpu")]
            cpu,
            #[cfg(feature = "cpu")]
            reads_in_place: never,
        }
    }

    /// The same with variants.
    pub(crate) const fn flags(self, flags: &'static [&'static str]) -> Self {
        Self { flags, ..self }
    }

    /// The same with constants that its text gets.
    pub(crate) const fn constants(self, constants: &'static [Constant]) -> Self {
        Self { constants, ..self }
    }

    /// The same, only for some element types and combinations of flags.
    pub(crate) const fn only(self, has: fn(ElementType, Flags) -> bool) -> Self {
        Self { has, ..self }
    }

    /// The same with one text for all element types.
    pub(crate) const fn untyped(self) -> Self {
        Self { typed: false, views: Views::Not, ..self }
    }

    /// The same with another access to views.
    pub(crate) const fn views(self, views: Views) -> Self {
        Self { views, ..self }
    }

    /// The same for a kernel that reads its results before it writes them.
    pub(crate) const fn updates(self) -> Self {
        Self { updates: true, ..self }
    }

    /// The same with a CPU function that reads some views in place: those for which `reads` returns
    /// true.
    #[cfg_attr(not(feature = "cpu"), expect(unused_variables, reason = "it is not kept"))]
    pub(crate) const fn reads_views(self, reads: fn(&Shader, &[u32], &Placement) -> bool) -> Self {
        Self {
            #[cfg(feature = "cpu")]
            reads_in_place: reads,
            ..self
        }
    }

    /// The same for a kernel that reads both blocks and words of its source.
    pub(crate) const fn blocks_and_words(self) -> Self {
        Self { blocks_and_words: true, ..self }
    }

    /// The same with parts of the text that are written for an operator's attributes.
    pub(crate) const fn specialized(self, specialization: &'static Specialization) -> Self {
        Self { specialization: Some(specialization), ..self }
    }

    /// The name, as in labels.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether the text depends on the element type.
    pub fn is_typed(&self) -> bool {
        self.typed
    }

    /// The WGSL file of the entry point, below `shaders/` and without the ending.
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// The flags that choose among the variants of the kernel. Not every combination exists; see
    /// [`Kernel::shaders`].
    pub fn flag_names(&self) -> &'static [&'static str] {
        self.flags
    }

    /// Whether parts of the text are written for the attributes of one operator.
    pub fn is_specialized(&self) -> bool {
        self.specialization.is_some()
    }

    /// Whether its source may be a view.
    const fn pitched(&self) -> &'static [bool] {
        match self.views {
            Views::MayRead => &[false, true],
            Views::Reads => &[true],
            Views::Writes | Views::Not => &[false],
        }
    }

    /// All shaders of the kernel for a workgroup size. A specialized kernel has unboundedly many:
    /// then these are samples.
    pub fn shaders(&'static self, workgroup: u32) -> Vec<Shader> {
        let types = if self.typed { &ElementType::ALL[..] } else { &[ElementType::U32] };
        // A kernel without an element type reads words.
        let words = if self.typed { &[false, true][..] } else { &[false] };
        let samples = self.specialization.map_or_else(|| vec![[0; 16]], |s| (s.samples)());
        let mut all = Vec::new();
        for &element in types {
            let shader = Shader::new(self, element, workgroup);
            for flags in (0..1 << self.flags.len()).filter(|&flags| (self.has)(element, flags)) {
                let all_of =
                    samples.iter().map(|&attributes| Shader { flags, attributes, ..shader });
                let all_of =
                    all_of.flat_map(|s| words.iter().map(move |&words| Shader { words, ..s }));
                let all_of = all_of
                    .flat_map(|s| [false, true].map(|shared_buffer| Shader { shared_buffer, ..s }));
                let pitched = self.pitched();
                all.extend(
                    all_of
                        .flat_map(|s| pitched.iter().map(move |&pitched| Shader { pitched, ..s })),
                );
            }
        }
        all
    }
}

impl PartialEq for Kernel {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Kernel {}

impl Hash for Kernel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Identifies a pipeline: everything that its text depends on. Shapes are not part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shader {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// The element type.
    pub element: ElementType,
    /// The variant of the kernel.
    pub(crate) flags: Flags,
    /// The attributes that the text is written for, if the kernel has a specialization.
    pub(crate) attributes: Attributes,
    /// Whether the source is bound as words, because its length is no multiple of 16 bytes.
    pub words: bool,
    /// Whether sources and results may be ranges of one buffer: then all are bound as writable,
    /// because a dispatch may not bind one buffer in two ways.
    pub shared_buffer: bool,
    /// Whether the source is a view with gaps.
    pub pitched: bool,
    /// Invocations of a workgroup.
    pub workgroup: u32,
}

impl Shader {
    /// The shader of a kernel without flags.
    pub(crate) const fn new(kernel: &'static Kernel, element: ElementType, workgroup: u32) -> Self {
        let (flags, attributes) = (0, [0; 16]);
        let pitched = matches!(kernel.views, Views::Reads);
        let (words, shared_buffer) = (false, false);
        Self { kernel, element, flags, attributes, words, shared_buffer, pitched, workgroup }
    }

    /// The same with one of the kernel's flags set or not.
    pub(crate) fn with(self, flag: &str, set: bool) -> Self {
        let bit = self.kernel.flags.iter().position(|&known| known == flag);
        debug_assert!(bit.is_some(), "{} has no flag {flag}", self.kernel.name);
        let bit = bit.map_or(0, |bit| 1 << bit);
        Self { flags: if set { self.flags | bit } else { self.flags & !bit }, ..self }
    }

    /// Whether one of the kernel's flags is set.
    pub fn is(&self, flag: &str) -> bool {
        self.flag_names().any(|name| name == flag)
    }

    /// The flags that are set.
    fn flag_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        let flags = self.flags;
        let names = self.kernel.flags.iter().enumerate();
        names.filter(move |(bit, _)| flags & (1 << bit) > 0).map(|(_, &name)| name)
    }

    /// A label for debuggers and profilers.
    pub fn label(&self) -> String {
        let mut label = format!("wgmax {} {}", self.kernel.name, self.element);
        for flag in self.flag_names() {
            label.push(' ');
            label.push_str(flag);
        }
        if self.pitched {
            label.push_str(" pitched");
        }
        label
    }

    /// The WGSL text.
    pub fn source(&self) -> String {
        let mut generated = format!("const WORKGROUP: u32 = {}u;\n", self.workgroup);
        generated += &wgsl::uniform("params", 0, "Params", self.kernel.params);
        generated += &wgsl::uniform("view", 15, "View", <Words as wgsl::Params>::STRUCTURE);
        for (name, value) in self.kernel.constants {
            generated += &format!("const {name}: u32 = {}u;\n", value(self));
        }
        if let Some(specialization) = self.kernel.specialization {
            generated.push_str(&(specialization.write)(self));
        }
        let text = wgsl::resolve(self.kernel.file, &|condition| self.holds(condition), &generated);
        if self.shared_buffer {
            text.replace("<storage, read>", "<storage, read_write>")
        } else {
            text
        }
    }

    /// Whether a condition of an `@if` holds.
    fn holds(&self, condition: &str) -> bool {
        let (t, bits) = (self.element, 8 * self.element.size());
        match condition {
            "bits8" => bits == 8,
            "bits16" => bits == 16,
            "bits32" => bits == 32,
            "bits64" => bits == 64,
            "float16" => t == ElementType::F16,
            "bfloat16" => t == ElementType::Bf16,
            "float32" => t == ElementType::F32,
            "float64" => t == ElementType::F64,
            "boolean" => t == ElementType::Bool,
            "signed" => t.is_signed_integer(),
            "unsigned" => t.is_integer() && !t.is_signed_integer(),
            "words" => self.words,
            "pitched" => self.pitched,
            // A view is read in blocks, and as words at gaps.
            "blocks_and_words" => self.kernel.blocks_and_words || self.pitched,
            flag => self.is(flag),
        }
    }
}
