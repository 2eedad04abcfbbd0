//! Faults planted on purpose: found, made small, shown.
