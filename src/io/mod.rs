//! Files of tensors.
