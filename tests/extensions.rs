//! The CPU kernels, compiled for each vector extension that this processor has.
//!
//! The limit applies to the whole process, so only one test sets it.

use crate::common::{rounds, seed};
use wgmax::internals::{Extension, limit_extension};
use wgmax::{Device, compare};
use wgmax_verify::Case;

#[test]
fn every_extension_gives_what_the_oracle_gives() {
    let (seed, cpu) = (seed(), Device::cpu());
    let extensions = [Extension::Baseline, Extension::Avx2, Extension::Avx512];
    for index in 0..10 * rounds(39) {
        for case in Case::fills(seed, index).unwrap() {
            let what = format!("WGMAX_SEED={seed}, case {index}: {case}");
            let expected = case.expected().unwrap_or_else(|e| panic!("{what}: {e}"));
            // With the CPU's tuning, whose kernels have the most loops, and with the case's overrides.
            for plan in [case.own_plan(&cpu).unwrap(), case.plan(&cpu).unwrap()] {
                for widest in extensions.into_iter().filter(|extension| extension.is_detected()) {
                    limit_extension(widest);
                    assert!(extensions.into_iter().all(|it| it.is_used() == (it <= widest)));
                    let found = case.execute(&cpu, &plan).unwrap();
                    for (found, expected) in found.iter().zip(&expected) {
                        let report = compare(found, expected).unwrap();
                        assert!(report.is_equal(), "{what}, {widest:?}: {report}");
                    }
                }
            }
        }
    }
}
