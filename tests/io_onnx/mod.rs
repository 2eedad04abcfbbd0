//! ONNX tensors and models from byte literals, and golden cases from folders: valid ones are
//! read, invalid ones are refused, and nothing panics.
mod external;
mod finding;
mod folders;
mod graphs;
mod json;
mod models;
mod tensors;

use wgmax::io::case::{Case, Expect};
use wgmax::{Error, Result, Tensor};

#[track_caller]
fn assert_bad(result: Result<impl std::fmt::Debug>, path: &str, reason: &str) {
    match result {
        Err(Error::BadFile { path: p, reason: r, .. }) => {
            assert!(p.contains(path) && r.contains(reason), "{p:?}: {r:?}");
        }
        other => panic!("expected BadFile with {reason:?}, found {other:?}"),
    }
}

#[track_caller]
fn assert_unsupported(result: Result<impl std::fmt::Debug>, reason: &str) {
    match result {
        Err(Error::Unsupported { reason: r, .. }) => assert!(r.contains(reason), "{r:?}"),
        other => panic!("expected Unsupported with {reason:?}, found {other:?}"),
    }
}

/// Every way to change one byte.
fn flipped(whole: &[u8], mut check: impl FnMut(&[u8])) {
    let mut bytes = whole.to_vec();
    for at in 0..whole.len() {
        for flip in 1..=255 {
            bytes[at] = whole[at] ^ flip;
            check(&bytes);
        }
        bytes[at] = whole[at];
    }
}

fn outputs(case: &Case) -> &[Tensor] {
    match &case.expect {
        Expect::Outputs(outputs) => outputs,
        Expect::Error => panic!("{} expects an error", case.id),
    }
}
