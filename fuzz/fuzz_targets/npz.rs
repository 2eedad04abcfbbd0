#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wgmax_fuzz::npz(bytes));
