use crate::tensor::ElementType;

/// Everything that can go wrong, one variant a cause, each with the offending values.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // ---- tensors -----------------------------------------------------------
    /// The product of a shape's dimensions, in bytes, does not fit the address space.
    #[error("shape {shape:?} of {element_type} is too large to address")]
    ShapeOverflow {
        /// The element type.
        element_type: ElementType,
        /// The shape.
        shape: Vec<usize>,
    },
    /// A tensor's data has another length than its shape needs.
    #[error("shape {shape:?} of {element_type} needs {expected} bytes, but {actual} were given")]
    WrongByteLength {
        /// The element type.
        element_type: ElementType,
        /// The shape.
        shape: Vec<usize>,
        /// Bytes that the shape needs.
        expected: usize,
        /// Bytes that were given.
        actual: usize,
    },
    /// A `bool` tensor holds a byte that is neither 0 nor 1.
    #[error("bool element {index} holds the byte {byte}; only 0 and 1 are bools")]
    InvalidBool {
        /// Flat index of the element.
        index: usize,
        /// The byte found there.
        byte: u8,
    },
    /// An element type was asked of a tensor that has another.
    #[error("{what} is {actual}, not {expected}")]
    WrongElementType {
        /// What has the wrong type ("the tensor", "axes", ...).
        what: &'static str,
        /// The type that is needed, or a list of them.
        expected: String,
        /// The type found.
        actual: ElementType,
    },
    /// A name is no element type.
    #[error("{name:?} is not an element type")]
    UnknownElementType {
        /// The name.
        name: String,
    },
    /// Two tensors that must have one shape and type do not.
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

    // ---- operators and dialects -------------------------------------------
    /// An axis lies outside the range that the rank allows.
    #[error("axis {axis} is out of range for rank {rank}{}", range_hint(*.rank))]
    AxisOutOfRange {
        /// The axis as given.
        axis: i64,
        /// The rank of the tensor.
        rank: usize,
    },
    /// An axis is larger than any tensor's rank, and than an `i64`.
    #[error("axis {axis} is out of range for every rank")]
    AxisTooLarge {
        /// The axis as given.
        axis: u64,
    },
    /// An axis is named twice where that is forbidden.
    #[error("axis {axis} is given twice (rank {rank})")]
    DuplicateAxis {
        /// The axis as given the second time.
        axis: i64,
        /// The rank of the tensor.
        rank: usize,
    },
    /// The axes tensor has a rank that is not allowed.
    #[error("axes must be {expected}, but has rank {rank}")]
    AxesRank {
        /// The rank found.
        rank: usize,
        /// What is allowed.
        expected: &'static str,
    },
    /// Exactly one source of axes was required.
    #[error(
        "{dialect} {operator} takes axes as an attribute or as an input, exactly one of them; {given}"
    )]
    AxesSource {
        /// The dialect.
        dialect: &'static str,
        /// The operator.
        operator: &'static str,
        /// "both were given" or "neither was given".
        given: &'static str,
    },
    /// A dialect does not take data of a shape.
    #[error("{dialect} {} takes {expected}; given: {shape:?}", versioned(.operator, .version))]
    ShapeNotInDialect {
        /// The dialect.
        dialect: &'static str,
        /// The operator.
        operator: &'static str,
        /// The version; empty where the dialect has none.
        version: String,
        /// What it takes: "data of rank 3, 4 or 5".
        expected: &'static str,
        /// The shape given.
        shape: Vec<usize>,
    },
    /// A dialect or a version of it does not have an element type.
    #[error("{dialect} {} does not take {element_type}", versioned(.operator, .version))]
    TypeNotInDialect {
        /// The dialect.
        dialect: &'static str,
        /// The operator.
        operator: &'static str,
        /// The version; empty where the dialect has none.
        version: String,
        /// The type given.
        element_type: ElementType,
    },
    /// A name is no dialect.
    #[error("{name:?} is not a dialect; there are onnx, onednn and openvino")]
    UnknownDialect {
        /// The name.
        name: String,
    },
    /// A dialect has no such operator, or it is not one of those implemented here.
    #[error("{dialect} {operator:?} is not implemented")]
    UnknownOperator {
        /// The dialect.
        dialect: &'static str,
        /// The operator.
        operator: String,
    },
    /// A dialect tells versions of an operator apart, and none was given.
    #[error("{dialect} {operator} needs a version")]
    MissingVersion {
        /// The dialect.
        dialect: &'static str,
        /// The operator.
        operator: &'static str,
    },
    /// A dialect has no such version of an operator.
    #[error("{dialect} has no {}", versioned(.operator, .version))]
    UnknownVersion {
        /// The dialect.
        dialect: &'static str,
        /// The operator.
        operator: &'static str,
        /// The version; empty where the dialect has none.
        version: String,
    },
    /// An attribute that this version of the operator does not have.
    #[error("{dialect} {} has no attribute {attribute:?}", versioned(.operator, .version))]
    UnknownAttribute {
        /// The dialect.
        dialect: &'static str,
        /// The operator.
        operator: &'static str,
        /// The version; empty where the dialect has none.
        version: String,
        /// The attribute.
        attribute: String,
    },
    /// An attribute that has no default was not given.
    #[error("{dialect} {} needs the attribute {attribute:?}", versioned(.operator, .version))]
    MissingAttribute {
        /// The dialect.
        dialect: &'static str,
        /// The operator.
        operator: &'static str,
        /// The version; empty where the dialect has none.
        version: String,
        /// The attribute.
        attribute: &'static str,
    },
    /// An attribute has a value that it may not have.
    #[error("attribute {attribute} must be {expected}, but is {value}")]
    BadAttribute {
        /// The attribute.
        attribute: &'static str,
        /// What is allowed.
        expected: &'static str,
        /// The value found.
        value: String,
    },
    /// A list attribute has not as many numbers as the spatial axes of the input need.
    #[error(
        "attribute {attribute} needs {expected} numbers for this input's spatial axes, but has {actual}"
    )]
    AttributeLength {
        /// The attribute.
        attribute: &'static str,
        /// One for each spatial axis, or two if it holds begins and ends.
        expected: usize,
        /// The length of the list.
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
    /// A window extends beyond the padded input, so there is no output.
    #[error(
        "the window covers {extent} positions along spatial axis {axis}, but the padded input has {padded}"
    )]
    WindowTooLarge {
        /// The spatial axis, from 0.
        axis: usize,
        /// (kernel - 1) * dilation + 1.
        extent: u128,
        /// The input's size with its padding.
        padded: u128,
    },
    /// The data of a segment maximum is a scalar, which has no rows.
    #[error("segments are of rows, but the data is a scalar")]
    SegmentDataRank,
    /// Segment ids or offsets are not 1-D.
    #[error("{what} must be 1-D, but has rank {rank}")]
    SegmentIdsRank {
        /// "segment_ids" or "offsets".
        what: &'static str,
        /// The rank found.
        rank: usize,
    },
    /// There are not as many segment ids as rows, or no offsets.
    #[error("{what} has {length} elements, but {rows} are needed")]
    SegmentIdsLength {
        /// "segment_ids" or "offsets".
        what: &'static str,
        /// The number found.
        length: usize,
        /// The number needed: the rows of the data, or 1 offset.
        rows: usize,
    },
    /// The number of segments is neither given nor told by ids on the host.
    #[error("num_segments is needed where the ids are on the device")]
    SegmentCountUnknown,
    /// A segment id or an offset is below the one before it.
    #[error("{what} must ascend, but position {position} has {value} after {previous}")]
    UnsortedSegments {
        /// "segment_ids" or "offsets".
        what: &'static str,
        /// Where it is.
        position: usize,
        /// The id or offset.
        value: i64,
        /// The one before it.
        previous: i64,
    },
    /// A segment id or an offset is negative.
    #[error("{what} must not be negative, but position {position} has {value}")]
    NegativeSegment {
        /// "segment_ids" or "offsets".
        what: &'static str,
        /// Where it is.
        position: usize,
        /// The id or offset.
        value: i64,
    },
    /// A segment id asks for more segments than there can be.
    #[error(
        "{what} at position {position} has {value}, which asks for too many segments; give num_segments"
    )]
    SegmentTooLarge {
        /// "segment_ids".
        what: &'static str,
        /// Where it is.
        position: usize,
        /// The id.
        value: i64,
    },
    /// An offset lies behind the last row.
    #[error("offset {value} at position {position} lies behind the {rows} rows")]
    OffsetTooLarge {
        /// Where it is.
        position: usize,
        /// The offset.
        value: i64,
        /// The number of rows.
        rows: usize,
    },
    /// Indices of `i32` cannot number all elements.
    #[error("an i32 index cannot number {elements} elements; ask for i64")]
    IndexTooLarge {
        /// The number of elements.
        elements: u64,
    },
    /// A wrong number of inputs.
    #[error("{operator} takes {expected}; given: {actual}")]
    InputCount {
        /// The operator.
        operator: String,
        /// How many it takes, with the noun: "1 input", "2 or 3 inputs".
        expected: &'static str,
        /// How many were given.
        actual: usize,
    },
    /// More outputs are wanted than there are.
    #[error("{operator} gives {expected}; wanted: {actual}")]
    OutputCount {
        /// The operator.
        operator: String,
        /// How many it gives, with the noun: "1 output", "1 or 2 outputs".
        expected: &'static str,
        /// How many are wanted.
        actual: usize,
    },

    // ---- planning and devices ---------------------------------------------
    /// Something is larger than a limit of the device.
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
    /// No adapter answers to a name, an index or at all.
    #[error("no GPU adapter {wanted}; found: {found}")]
    NoAdapter {
        /// What was asked for.
        wanted: String,
        /// The adapters that are there.
        found: String,
    },
    /// An adapter refused to give a device.
    #[error("adapter {adapter} refused to open a device: {reason}")]
    AdapterRefused {
        /// The adapter's name.
        adapter: String,
        /// Its reason.
        reason: String,
    },
    /// The device ran out of memory.
    #[error("{device} ran out of memory at {what}")]
    OutOfMemory {
        /// The device.
        device: String,
        /// What was being done.
        what: String,
    },
    /// The device was lost or destroyed.
    #[error("{device} was lost: {reason}")]
    DeviceLost {
        /// The device.
        device: String,
        /// The reason that the driver gives.
        reason: String,
    },
    /// The device or its driver reported an error that is no fault of the caller.
    #[error("{device} failed at {what}: {reason}")]
    Gpu {
        /// The device.
        device: String,
        /// What was being done.
        what: String,
        /// The message.
        reason: String,
    },
    /// The CPU has no commands to record.
    #[error("the CPU records no commands; run the operator on it instead")]
    CannotRecord,
    /// A wrong number of result buffers.
    #[error("{operator} has {expected} results; buffers given: {actual}")]
    OutputBuffers {
        /// The operator.
        operator: String,
        /// How many results it has.
        expected: usize,
        /// How many buffers were given.
        actual: usize,
    },
    /// A caller's buffer cannot be bound for storage.
    #[error("a buffer needs the usage STORAGE, but has {usage}")]
    BufferUsage {
        /// Its usage.
        usage: String,
    },
    /// A range of a caller's buffer begins where the device cannot bind it.
    #[error("a range begins at byte {offset}, which is no multiple of {alignment}")]
    BufferAlignment {
        /// Where it begins.
        offset: u64,
        /// What it must be a multiple of.
        alignment: u64,
    },
    /// A range reaches beyond a caller's buffer.
    #[error("a range reaches to byte {needed}, but the buffer has {size}")]
    BufferTooSmall {
        /// Where the range ends.
        needed: u64,
        /// The buffer's size in bytes.
        size: u64,
    },
    /// Two ranges of a caller's buffer, at least one of them a result, share bytes.
    #[error("a result at bytes {b:?} overlaps bytes {a:?} of the same buffer")]
    BufferOverlap {
        /// The other range.
        a: std::ops::Range<u64>,
        /// The result's range.
        b: std::ops::Range<u64>,
    },
    /// A device tensor was handed to a device that it does not live on.
    #[error("the tensor lives on {actual}, not on {expected}")]
    WrongDevice {
        /// The device that was asked.
        expected: String,
        /// The device that holds the tensor.
        actual: String,
    },
    /// A tensor is a result of a chain that has not been submitted.
    #[error("the tensor has no values yet: its chain of operators has not been submitted")]
    NotSubmitted,

    // ---- files -------------------------------------------------------------
    /// A file could not be opened, read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// A file is not what its format says it must be.
    #[error("{path}: not a valid {format} file: {reason}")]
    BadFile {
        /// The file.
        path: String,
        /// The format's name.
        format: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A file holds something valid that is not supported here.
    #[error("{path}: {reason}")]
    Unsupported {
        /// The file.
        path: String,
        /// What is not supported.
        reason: String,
    },
}

fn range_hint(rank: usize) -> String {
    match rank {
        0 => " (a scalar has no axes)".to_string(),
        _ => format!(" (allowed: {} to {})", -(rank as i64), rank as i64 - 1),
    }
}

fn versioned(operator: &str, version: &str) -> String {
    match version {
        "" => operator.to_string(),
        _ => format!("{operator}-{version}"),
    }
}

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;
