use std::borrow::Cow;

use crate::base::element_type::ElementType;

/// Defines `Error` and `ErrorKind`. The kind of a variant is the name of its group.
macro_rules! errors {
    ($($(#[$about:meta])* $kind:ident {
        $($(#[$meta:meta])* $variant:ident $({ $($fields:tt)* })?,)*
    })*) => {
        /// The errors of this crate: one variant per cause, with the offending values.
        #[derive(Debug, thiserror::Error)]
        #[non_exhaustive]
        pub enum Error { $($($(#[$meta])* $variant $({ $($fields)* })?,)*)* }

        /// What an [`Error`] is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind { $($(#[$about])* $kind,)* }

        impl Error {
            /// What the error is about.
            pub fn kind(&self) -> ErrorKind {
                match self { $($(Self::$variant { .. } => ErrorKind::$kind,)*)* }
            }
        }
    };
}

errors! {
/// Tensors, and views of them.
Tensor {
    /// A tensor has more axes than are supported.
    #[error("a tensor has {rank} axes; at most {max} are supported")]
    TooManyAxes {
        /// The number of axes.
        rank: usize,
        /// The maximum, [`TensorDesc::MAX_RANK`](crate::TensorDesc::MAX_RANK).
        max: usize,
    },
    /// The size of a tensor in bytes does not fit the address space.
    #[error("shape {shape:?} of {element_type} is too large to address")]
    ShapeOverflow {
        /// The element type.
        element_type: ElementType,
        /// The shape.
        shape: Vec<usize>,
    },
    /// The length of a tensor's data does not match its shape.
    #[error("shape {shape:?} of {element_type} needs {expected} bytes, but {actual} were given")]
    WrongByteLength {
        /// The element type.
        element_type: ElementType,
        /// The shape.
        shape: Vec<usize>,
        /// Bytes that the shape needs.
        expected: usize,
        /// Bytes given.
        actual: usize,
    },
    /// A view is out of range, or its layout is not supported.
    #[error(
        "view of the shape {shape:?}, from element {offset} on, with the pitches {pitches:?}: {reason}"
    )]
    BadView {
        /// The shape.
        shape: Vec<usize>,
        /// The offset, in elements.
        offset: usize,
        /// The pitch of each axis, in elements; empty if there are none yet.
        pitches: Vec<isize>,
        /// What is wrong, as a sentence.
        reason: &'static str,
    },
    /// A `bool` tensor holds a byte that is neither 0 nor 1.
    #[error("bool element {index} holds the byte {byte}; only 0 and 1 are bools")]
    InvalidBool {
        /// Flat index of the element.
        index: usize,
        /// The byte found there.
        byte: u8,
    },
    /// A tensor has another element type than required.
    #[error("{what} is {actual}, not {expected}")]
    WrongElementType {
        /// What has the wrong type: "the tensor", "axes", ...
        what: &'static str,
        /// The required type, or a list of them.
        expected: String,
        /// The type found.
        actual: ElementType,
    },
    /// A name does not denote an element type.
    #[error("{name:?} is not an element type")]
    UnknownElementType {
        /// The name as given.
        name: String,
    },
    /// Two tensors to be compared have different shapes or element types.
    #[error("cannot compare {a_type}{a_shape:?} with {b_type}{b_shape:?}")]
    NotComparable {
        /// Element type of the first.
        a_type: ElementType,
        /// Shape of the first.
        a_shape: Vec<usize>,
        /// Element type of the second.
        b_type: ElementType,
        /// Shape of the second.
        b_shape: Vec<usize>,
    },
}
/// Operators, as a specification defines them.
Dialect {
    /// Axes must be given either as an attribute or as an input, and not as both.
    #[error(
        "{dialect} {operator} takes axes as an attribute or as an input, exactly one of them; \
         {given}"
    )]
    AxesSource {
        /// The dialect.
        dialect: &'static str,
        /// The operator.
        operator: &'static str,
        /// "both were given" or "neither was given".
        given: &'static str,
    },
    /// The operator of a dialect does not take data of this shape.
    #[error("{dialect} {} takes {expected}; given: {shape:?}", versioned(.operator, .version))]
    ShapeNotInDialect {
        /// The dialect.
        dialect: &'static str,
        /// The operator.
        operator: &'static str,
        /// The version; empty if the dialect has none.
        version: String,
        /// What it takes, such as "data of rank 3, 4 or 5".
        expected: &'static str,
        /// The shape given.
        shape: Vec<usize>,
    },
    /// A version of a dialect's operator does not take an element type.
    #[error("{dialect} {} does not take {element_type}", versioned(.operator, .version))]
    TypeNotInDialect {
        /// The dialect.
        dialect: &'static str,
        /// The operator.
        operator: &'static str,
        /// The version; empty if the dialect has none.
        version: String,
        /// The type given.
        element_type: ElementType,
    },
    /// A name does not denote a dialect.
    #[error("{name:?} is not a dialect; there are onnx, onednn, openvino, webnn and neutral")]
    UnknownDialect {
        /// The name as given.
        name: String,
    },
    /// The dialect has no operator of this name, or this crate does not implement it.
    #[error("{dialect} {operator:?} is not implemented")]
    UnknownOperator {
        /// The dialect.
        dialect: &'static str,
        /// The operator.
        operator: String,
    },
    /// The dialect has versions of an operator, and none was given.
    #[error("{dialect} {operator} needs a version")]
    MissingVersion {
        /// The dialect.
        dialect: &'static str,
        /// The operator.
        operator: &'static str,
    },
    /// The dialect does not have this version of an operator.
    #[error("{dialect} has no {}", versioned(.operator, .version))]
    UnknownVersion {
        /// The dialect.
        dialect: &'static str,
        /// The operator.
        operator: &'static str,
        /// The version; empty if the dialect has none.
        version: String,
    },
    /// A model's opset is newer than every opset that is known here.
    #[error("ONNX opset {opset} is not known here; the newest known opset is {newest}")]
    UnknownOpset {
        /// The opset of the model.
        opset: u32,
        /// The newest known opset.
        newest: u32,
    },
    /// This version of the operator does not have the attribute.
    #[error("{dialect} {} has no attribute {attribute:?}", versioned(.operator, .version))]
    UnknownAttribute {
        /// The dialect.
        dialect: &'static str,
        /// The operator.
        operator: &'static str,
        /// The version; empty if the dialect has none.
        version: String,
        /// The attribute.
        attribute: String,
    },
    /// A required attribute was not given.
    #[error("{dialect} {} needs the attribute {attribute:?}", versioned(.operator, .version))]
    MissingAttribute {
        /// The dialect.
        dialect: &'static str,
        /// The operator.
        operator: &'static str,
        /// The version; empty if the dialect has none.
        version: String,
        /// The attribute.
        attribute: &'static str,
    },
    /// The operator depends on the elements of an input, but only its type and shape are known.
    #[error("the elements of {name} are needed; only its type and shape are known")]
    UnknownElements {
        /// The input's name in the specification.
        name: &'static str,
    },
}
/// The attributes and the inputs of an operator.
Operator {
    /// An axis is outside `-rank..rank`.
    #[error("axis {axis} is out of range for rank {rank}{}", range_hint(*.rank))]
    AxisOutOfRange {
        /// The axis as given.
        axis: i64,
        /// The rank of the tensor.
        rank: usize,
    },
    /// An axis in a `u64` tensor does not fit an `i64`.
    #[error("axis {axis} is out of range for every rank")]
    AxisTooLarge {
        /// The axis as given.
        axis: u64,
    },
    /// An axis is given twice, which this operator forbids.
    #[error("axis {axis} is given twice (rank {rank})")]
    DuplicateAxis {
        /// The axis as it is given the second time.
        axis: i64,
        /// The rank of the tensor.
        rank: usize,
    },
    /// The rank of an axes tensor is not allowed.
    #[error("axes must be {expected}, but has rank {rank}")]
    AxesRank {
        /// The rank found.
        rank: usize,
        /// What is allowed.
        expected: &'static str,
    },
    /// The value of an attribute is not allowed.
    #[error("attribute {attribute} must be {expected}, but is {value}")]
    BadAttribute {
        /// The attribute.
        attribute: &'static str,
        /// What is allowed.
        expected: &'static str,
        /// The value found.
        value: String,
    },
    /// An initial value is not an element of the input's type: it is out of range, a finite number that a
    /// float type rounds to infinity, or a fraction as an integer.
    #[error("the initial value {value} is not a value of {element_type}, the input's type")]
    InitialOutOfRange {
        /// The initial value.
        value: String,
        /// The element type of the input.
        element_type: ElementType,
    },
    /// Positions of maxima are requested together with an initial value, which has none.
    #[error("the initial value {value} cannot be used with indices: it has no position")]
    InitialWithIndices {
        /// The initial value.
        value: String,
    },
    /// An operator cannot be prepared for several numbers of rows.
    #[error("{operator} cannot be prepared for several sizes: {reason}")]
    NoSizes {
        /// The operator.
        operator: &'static str,
        /// Why, and what to do instead.
        reason: &'static str,
    },
    /// The length of a list attribute does not match the spatial axes of the input.
    #[error(
        "attribute {attribute} needs {expected} number{} for this input's spatial axes, but has \
         {actual}", plural(*.expected)
    )]
    AttributeLength {
        /// The attribute.
        attribute: &'static str,
        /// The length needed: one number per spatial axis, or two for begins and ends.
        expected: usize,
        /// The length found.
        actual: usize,
    },
    /// The input of a pooling has no spatial axis.
    #[error(
        "pooling needs batch, channels and at least one spatial axis, but the input has rank {rank}"
    )]
    PoolRank {
        /// The rank of the input.
        rank: usize,
    },
    /// Windows cannot split an axis without elements.
    #[error("spatial axis {axis} has no elements that windows could split")]
    NothingToShareOut {
        /// The spatial axis, from 0.
        axis: usize,
    },
    /// No window fits the padded input, so the output would be empty.
    #[error(
        "the window covers {extent} positions along spatial axis {axis}, but the padded input has \
         {padded}{}", end_padding_hint(*.only_end_padding)
    )]
    WindowTooLarge {
        /// The spatial axis, from 0.
        axis: usize,
        /// Positions that the window covers: (kernel - 1) * dilation + 1.
        extent: u128,
        /// The size of the input with its padding.
        padded: u128,
        /// Whether the window fits the padded input but, with this rounding, would begin in the
        /// padding at the end.
        only_end_padding: bool,
    },
    /// The data of SegmentMax is a scalar, which has no rows.
    #[error("the data needs at least one axis, but is a scalar")]
    SegmentDataRank,
    /// Segment ids or offsets are not 1-D.
    #[error("{what} must be 1-D, but has rank {rank}")]
    SegmentIdsRank {
        /// "segment_ids" or "offsets".
        what: &'static str,
        /// The rank found.
        rank: usize,
    },
    /// There is not one segment id for each row, or there are no offsets.
    #[error("{what} has a length of {length}, but needs {rows}")]
    SegmentIdsLength {
        /// "segment_ids" or "offsets".
        what: &'static str,
        /// The number found.
        length: usize,
        /// The number needed: one id per row of the data, or at least 1 offset.
        rows: usize,
    },
    /// The number of segments is not given, and the ids are not on the host to derive it from.
    #[error("num_segments is needed if the ids are on the device")]
    SegmentCountUnknown,
    /// A segment id or an offset is smaller than the previous one.
    #[error("{what} must ascend, but position {position} has {value} after {previous}")]
    UnsortedSegments {
        /// "segment_ids" or "offsets".
        what: &'static str,
        /// The position, from 0.
        position: usize,
        /// The id or offset.
        value: i128,
        /// The previous id or offset.
        previous: i128,
    },
    /// A segment id or an offset is negative.
    #[error("{what} must not be negative, but position {position} has {value}")]
    NegativeSegment {
        /// "segment_ids" or "offsets".
        what: &'static str,
        /// The position, from 0.
        position: usize,
        /// The id or offset.
        value: i128,
    },
    /// A segment id is so large that the output would be too large to address.
    #[error(
        "{what} at position {position} is {value}, which means too many segments; give num_segments"
    )]
    SegmentTooLarge {
        /// "segment_ids".
        what: &'static str,
        /// The position, from 0.
        position: usize,
        /// The id.
        value: i128,
    },
    /// A segment id is not below the number of segments.
    #[error("{what} at position {position} is {value}, but there are {segments} segments")]
    SegmentOutOfRange {
        /// "segment_ids".
        what: &'static str,
        /// The position, from 0.
        position: usize,
        /// The id.
        value: i128,
        /// The number of segments.
        segments: usize,
    },
    /// The shape of a ScatterMax's indices does not belong to that of its data.
    #[error("indices of the shape {shape:?} do not fit data of the shape {data:?}: {reason}")]
    ScatterIndicesShape {
        /// The shape of the indices.
        shape: Vec<usize>,
        /// The shape of the data.
        data: Vec<usize>,
        /// What is needed, as a sentence.
        reason: &'static str,
    },
    /// An index names no element.
    #[error("index {value} at position {position} is out of range: there are {elements} elements")]
    IndexOutOfRange {
        /// The position among the indices, in row-major order.
        position: usize,
        /// The index.
        value: i128,
        /// How many elements there are.
        elements: usize,
    },
    /// An offset is larger than the number of rows.
    #[error("offset {value} at position {position} is larger than the number of rows, {rows}")]
    OffsetTooLarge {
        /// The position, from 0.
        position: usize,
        /// The offset.
        value: i128,
        /// The number of rows.
        rows: usize,
    },
    /// Positions of maxima are requested, but sets have no elements.
    #[error("an empty set has no position: the input has the shape {shape:?}")]
    EmptySet {
        /// The shape of the input.
        shape: Vec<usize>,
    },
    /// There are too many elements for `i32` indices.
    #[error("i32 indices cannot number {elements} elements; use i64")]
    IndexTooLarge {
        /// The number of elements.
        elements: u64,
    },
    /// The caller's function for progress has cancelled a run.
    #[error("the run was cancelled when {done} of {total} bytes were done")]
    Cancelled {
        /// Bytes of the inputs that were done.
        done: u64,
        /// Bytes of all inputs.
        total: u64,
    },
    /// The number of inputs is wrong.
    #[error("{operator} takes {expected}; given: {actual}")]
    InputCount {
        /// The operator.
        operator: String,
        /// How many it takes, with the noun: "1 input", "2 or 3 inputs".
        expected: Cow<'static, str>,
        /// How many were given.
        actual: usize,
    },
    /// An operator does not return a result that the caller requests.
    #[error("the operator gives no {name}; it gives {results} result{}", plural(*.results))]
    NoSuchResult {
        /// The result: "values", "indices" or "status".
        name: &'static str,
        /// How many there are.
        results: usize,
    },
    /// The number of results is not the expected one.
    #[error("the operator gives {actual} result{}; expected: {expected}", plural(*.actual))]
    ResultCount {
        /// How many were expected.
        expected: usize,
        /// How many there are.
        actual: usize,
    },
    /// More outputs are requested than the operator has.
    #[error("{operator} gives {expected}; requested: {actual}")]
    OutputCount {
        /// The operator.
        operator: String,
        /// How many it returns, with the noun: "1 output", "1 or 2 outputs".
        expected: &'static str,
        /// How many are requested.
        actual: usize,
    },
}
/// Limits, and the tensors that a plan was made for.
Plan {
    /// Something exceeds a limit of the device.
    #[error("{what} needs {needed}; the limit ({limit}) is {allowed}")]
    OverLimit {
        /// What is too large.
        what: &'static str,
        /// What it needs, in the limit's unit.
        needed: u64,
        /// The limit's name, as wgpu spells it.
        limit: &'static str,
        /// The limit's value.
        allowed: u64,
    },
    /// A limit has a value with which no plan is possible.
    #[error("the limit {limit} must be {expected}, but is {value}")]
    BadLimit {
        /// The field of [`Limits`](crate::plan::Limits).
        limit: &'static str,
        /// What it must be.
        expected: &'static str,
        /// The value.
        value: u64,
    },
    /// The limits are those of a device without compute shaders: WebGL 2, or limits of wgpu that
    /// allow no workgroups.
    #[error("the device has no compute shaders: its limits allow no workgroup")]
    NoComputeShaders,
    /// An input does not have the type and shape that an operator takes, or that a plan was made
    /// for.
    #[error(
        "input {position} of {of} is {expected_type}{expected_shape:?}; given: \
         {actual_type}{actual_shape:?}"
    )]
    WrongInput {
        /// The operator, or "the plan".
        of: &'static str,
        /// The number of the input, from 0.
        position: usize,
        /// The element type that is needed.
        expected_type: ElementType,
        /// The shape that is needed.
        expected_shape: Vec<usize>,
        /// The element type given.
        actual_type: ElementType,
        /// The shape given.
        actual_shape: Vec<usize>,
    },
    /// A view of a result does not have the type and shape of the result.
    #[error(
        "result {position} is {expected_type}{expected_shape:?}; the view given: \
         {actual_type}{actual_shape:?}"
    )]
    WrongResult {
        /// The number of the result, from 0.
        position: usize,
        /// The element type of the result.
        expected_type: ElementType,
        /// The shape of the result.
        expected_shape: Vec<usize>,
        /// The element type of the view.
        actual_type: ElementType,
        /// The shape of the view.
        actual_shape: Vec<usize>,
    },
    /// An input is another view than the one that a plan was made for.
    #[error(
        "input {position} of the plan has the offset {expected_offset} and the pitches \
         {expected_pitches:?}; given: {actual_offset} and {actual_pitches:?}"
    )]
    WrongView {
        /// The number of the input, from 0.
        position: usize,
        /// The offset that the plan was made for, in elements.
        expected_offset: usize,
        /// The pitches that the plan was made for, in elements.
        expected_pitches: Vec<isize>,
        /// The offset given.
        actual_offset: usize,
        /// The pitches given.
        actual_pitches: Vec<isize>,
    },
}
/// Devices, and their memory.
Device {
    /// No adapter has the given name or index, or there is no adapter.
    #[error("no GPU adapter {wanted}; found: {found}")]
    NoAdapter {
        /// What was searched for, as the end of a sentence.
        wanted: String,
        /// The index, backend and name of each adapter, and `cpu` if it is a possible name; or
        /// "none".
        found: String,
    },
    /// The CPU backend was left out of this build: the feature `cpu` is off.
    #[error(
        "the CPU backend is not in this build of wgmax: its feature `cpu` is off{}",
        adapter.as_ref().map_or(String::new(), |error| format!(", and on a GPU: {error}"))
    )]
    NoCpu {
        /// Why there is no GPU either, if one was looked for.
        adapter: Option<Box<Error>>,
    },
    /// A device could not be opened on an adapter.
    #[error("adapter {adapter} refused to open a device: {reason}")]
    AdapterRefused {
        /// The adapter's name.
        adapter: String,
        /// wgpu's reason.
        reason: String,
    },
    /// The device, or the CPU, ran out of memory.
    #[error("{device} ran out of memory at {what}")]
    OutOfMemory {
        /// The device.
        device: String,
        /// What failed, such as "an upload".
        what: String,
    },
    /// The device was lost or destroyed.
    #[error("{device} was lost: {reason}")]
    DeviceLost {
        /// The device.
        device: String,
        /// The reason that the driver reports.
        reason: String,
    },
    /// The device or its driver reported an error that the caller did not cause.
    #[error("{device} failed at {what}: {reason}")]
    Gpu {
        /// The device.
        device: String,
        /// What failed, such as "an upload".
        what: String,
        /// The message.
        reason: String,
    },
    /// A device tensor is not on the device that should use it. GPUs are numbered in the order in
    /// which this process opened or wrapped them; `Debug` shows a device's number, too.
    #[error("the tensor is on {actual}, not on {expected}")]
    WrongDevice {
        /// The device that should use it, with its number.
        expected: String,
        /// The device that holds the tensor, with its number.
        actual: String,
    },
    /// The queue that was given with a device belongs to another device.
    #[error("the queue that was given with {device} belongs to another device")]
    WrongQueue {
        /// The device.
        device: String,
    },
    /// A browser does not allow waiting for a GPU.
    #[error("a browser does not wait for its GPU; use the async form")]
    WouldBlock,
    /// A tensor is the result of a chain that has not been submitted.
    #[error("the tensor has no values yet: its chain of operators has not been submitted")]
    NotSubmitted,
}
/// Recording into a caller's encoder, with a caller's buffers and textures.
Recording {
    /// An operator was prepared for the CPU, which has no command encoders.
    #[error("the CPU has no commands to record; run the operator on it instead")]
    CannotRecord,
    /// A tensor of a prepared chain cannot be used in this way.
    #[error("the tensor of the chain cannot be used: {reason}")]
    WrongSlot {
        /// Why.
        reason: &'static str,
    },
    /// The number of result buffers is wrong.
    #[error("{operator} has {expected} result{}; buffers given: {actual}", plural(*.expected))]
    OutputBuffers {
        /// The operator.
        operator: String,
        /// How many results it has.
        expected: usize,
        /// How many buffers were given.
        actual: usize,
    },
    /// A caller's buffer cannot be bound as storage.
    #[error("{operator}, {tensor}: the buffer needs the usage STORAGE, but has {usage}")]
    BufferUsage {
        /// The operator.
        operator: String,
        /// The tensor that the buffer is for: "input 0", "result 1".
        tensor: String,
        /// The buffer's usage.
        usage: String,
    },
    /// The offset of a range in a caller's buffer is not aligned.
    #[error(
        "{operator}, {tensor}: the range begins at byte {offset}, which is not a multiple of \
         {alignment}"
    )]
    BufferAlignment {
        /// The operator.
        operator: String,
        /// The tensor that the range is for: "input 0", "result 1".
        tensor: String,
        /// The offset in bytes.
        offset: u64,
        /// The alignment in bytes.
        alignment: u64,
    },
    /// A range ends after the end of a caller's buffer.
    #[error(
        "{operator}, {tensor}: the range ends at byte {needed}, but the buffer has {size} bytes"
    )]
    BufferTooSmall {
        /// The operator.
        operator: String,
        /// The tensor that the range is for: "input 0", "result 1".
        tensor: String,
        /// The end of the range, in bytes.
        needed: u64,
        /// The size of the buffer, in bytes.
        size: u64,
    },
    /// A caller's buffer belongs to another device.
    #[error("{operator}, {tensor}: the buffer belongs to another device, not to {device}")]
    BufferDevice {
        /// The operator.
        operator: String,
        /// The tensor that the buffer is for: "input 0", "result 1".
        tensor: String,
        /// The device that should use it.
        device: String,
    },
    /// A buffer was destroyed.
    #[error("{operator}, {tensor}: the buffer was destroyed")]
    BufferDestroyed {
        /// The operator, or what else needs the buffer: "a plan", "a download".
        operator: String,
        /// The tensor that the buffer is for: "input 0", "result 1".
        tensor: String,
    },
    /// A result shares bytes of a caller's buffer with an input or another result; in a browser also
    /// bindings that overlap, of any two tensors of a launch whose result is in the same buffer.
    #[error(
        "{operator}: {result} at bytes {bytes:?} overlaps {other} at bytes {other_bytes:?} of the \
         same buffer; {}", overlap_hint(.other, .result)
    )]
    BufferOverlap {
        /// The operator.
        operator: String,
        /// The result: "result 0"; in a browser also an input.
        result: String,
        /// Its bytes in the buffer.
        bytes: std::ops::Range<u64>,
        /// The other tensor: "input 0", "result 0".
        other: String,
        /// Its bytes in the buffer.
        other_bytes: std::ops::Range<u64>,
    },
    /// A texture cannot be an input or a result.
    #[error("{operator}, {tensor}: {reason}")]
    BadTexture {
        /// The operator.
        operator: String,
        /// The tensor that the texture is for: "input 0", "result 1".
        tensor: String,
        /// What is wrong, as a sentence.
        reason: String,
    },
    /// The texels of a format cannot be the elements of a tensor.
    #[error("texels of {format} are not channels of one element type")]
    TextureFormat {
        /// The format.
        format: String,
    },
}
/// Files.
File {
    /// A file could not be opened, read or written.
    #[error("{}: {source}", named(.path))]
    Io {
        /// The file.
        path: String,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The content of a file does not follow its format.
    #[error("{}: not a valid {format} file: {reason}", named(.path))]
    BadFile {
        /// The file.
        path: String,
        /// The format's name.
        format: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A file or a request is valid, but this crate does not support it.
    #[error("{}: {reason}", named(.path))]
    Unsupported {
        /// The file.
        path: String,
        /// What is not supported.
        reason: String,
    },
}
}

impl Error {
    /// An [`Error::OutOfMemory`] of the host.
    pub(crate) fn host_memory(what: impl std::fmt::Display) -> Self {
        Self::OutOfMemory { device: "the CPU".to_string(), what: what.to_string() }
    }

    /// Checks that `needed` is at most `allowed`, the value of the limit named `limit`.
    ///
    /// # Errors
    /// [`Error::OverLimit`].
    pub(crate) fn check_limit(
        what: &'static str,
        needed: u64,
        (limit, allowed): (&'static str, u64),
    ) -> Result<()> {
        match needed > allowed {
            true => Err(Self::OverLimit { what, needed, limit, allowed }),
            false => Ok(()),
        }
    }

    /// An [`Error::InputCount`] of an operator that takes `expected` inputs.
    pub(crate) fn input_count(operator: &str, expected: usize, actual: usize) -> Self {
        let expected = format!("{expected} input{}", plural(expected)).into();
        Self::InputCount { operator: operator.to_string(), expected, actual }
    }
}

/// The ending of a noun after a number.
fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn range_hint(rank: usize) -> String {
    match rank {
        0 => " (a scalar has no axes)".to_string(),
        _ => format!(" (allowed: {} to {})", -(rank as i64), rank as i64 - 1),
    }
}

/// How to avoid a result that overlaps another tensor.
fn overlap_hint(other: &str, result: &str) -> String {
    match other.starts_with("input") && !result.starts_with("input") {
        true => format!(
            "record {result} into another buffer and, to replace {other} with it, copy it back \
             afterwards (copy_buffer_to_buffer)"
        ),
        false => format!("give {result} bytes of its own"),
    }
}

fn end_padding_hint(only_end_padding: bool) -> &'static str {
    match only_end_padding {
        true => ", all of it padding at the end, where no window may begin",
        false => "",
    }
}

/// The name of a file, which may be empty.
fn named(path: &str) -> &str {
    if path.is_empty() { "\"\"" } else { path }
}

fn versioned(operator: &str, version: &str) -> String {
    match version {
        "" => operator.to_string(),
        _ => format!("{operator}-{version}"),
    }
}

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
