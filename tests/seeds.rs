//! Runs the seeds of the fuzz targets, and inputs that fuzzing has found, through the same
//! functions.

#[path = "../fuzz/src/lib.rs"]
mod fuzz;

use std::fs;
use std::path::Path;

#[test]
fn seeds_hold() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    let mut names: Vec<_> = fs::read_dir(&seeds)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    let mut targets = fuzz::TARGETS.map(|(name, _)| name);
    targets.sort_unstable();
    assert_eq!(names, targets, "each target has its seeds");
    for (name, target) in fuzz::TARGETS {
        let mut count = 0;
        for file in fs::read_dir(seeds.join(name)).unwrap() {
            let file = file.unwrap().path();
            println!("{}", file.display());
            target(&fs::read(file).unwrap());
            count += 1;
        }
        assert!(count >= 8, "{name} has {count} seeds");
    }
}

/// Random bytes find most of what fuzzing finds in plans.
#[test]
fn random_bytes_make_plans_that_hold() {
    let mut random = crate::common::Random(crate::common::seed());
    for _ in 0..50 * crate::common::rounds(40) {
        let length = random.below(400) as usize;
        let bytes: Vec<u8> = (0..length)
            .map(|_| if random.below(3) == 0 { random.next() as u8 } else { random.below(8) as u8 })
            .collect();
        fuzz::plan(&bytes);
    }
}
