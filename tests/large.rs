//! Tensors beyond a binding (128 MiB by default), and files beyond 4 GiB.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use crate::common::{counted, gpu};
use wgmax::operator::{Indices, MaxPool, Operator, ReduceMax, SegmentMax};
use wgmax::{Device, ElementType, Run, RunOptions, Tensor};

fn run(device: &Device, operator: &Operator, inputs: &[&Tensor], piece: u64) -> (Vec<Tensor>, u64) {
    let (options, pieces) = counted(piece);
    let results = operator.run_with(device, inputs, options).unwrap();
    (results.into_vec(), pieces.load(Relaxed))
}

/// A tensor larger than a binding of 128 MiB: as a whole, if a buffer may be that large, and in
/// pieces.
#[test]
fn a_tensor_beyond_a_binding() {
    let Some(device) = gpu() else { return };
    let (rows, columns) = (1000 * 3, 47_000);
    let bytes: Vec<u8> =
        (0..rows * columns).map(|i| ((i * 2_654_435_761usize) >> 13) as u8 % 251).collect();
    let mut planted = bytes;
    let last = planted.len() - 1;
    (planted[0], planted[last]) = (252, 255);
    let input = Tensor::from_bytes(ElementType::U8, [1, 1, rows, columns], &planted).unwrap();
    drop(planted);
    assert!(input.bytes().len() > 128 << 20);
    let table = input.reshape([rows, columns]).unwrap();
    let ids: Vec<i32> = (0..rows as i32).map(|row| row / 100).collect();
    let ids = Tensor::from_slice([rows], &ids).unwrap();
    let operators: [(Operator, Vec<&Tensor>); 4] = [
        (ReduceMax::new().into(), vec![&input]),
        (ReduceMax::new().axes([2]).into(), vec![&input]),
        (MaxPool::new([50, 50]).strides([50, 50]).indices(Indices::default()).into(), vec![&input]),
        (SegmentMax::sorted().num_segments(31).into(), vec![&table, &ids]),
    ];
    for (operator, inputs) in &operators {
        let expected = operator.run(&Device::cpu(), inputs).unwrap();
        for piece in [1 << 40, 40 << 20] {
            let (found, pieces) = run(&device, operator, inputs, piece);
            println!("{}: {pieces} pieces", operator.name());
            for (found, expected) in found.iter().zip(&expected) {
                assert!(found.bytes() == expected.bytes(), "{operator:?}, pieces of {piece}");
            }
            assert_eq!(pieces > 3, piece == 40 << 20, "{operator:?}: {pieces} pieces");
        }
    }
}

/// Bytes of the file's elements.
const LARGE: u64 = (4 << 30) + (512 << 20);

/// A sparse `.npy` file: all bytes are 0 except the `planted` ones.
fn sparse(path: &Path, shape: &[u64], planted: &[(u64, u8)]) -> std::io::Result<()> {
    let list: Vec<String> = shape.iter().map(ToString::to_string).collect();
    let header =
        format!("{{'descr': '|i1', 'fortran_order': False, 'shape': ({},), }}", list.join(", "));
    let mut file = File::create(path)?;
    file.write_all(b"\x93NUMPY\x01\x00\x76\x00")?;
    file.write_all(format!("{header:<117}\n").as_bytes())?;
    file.set_len(128 + LARGE)?;
    for &(at, value) in planted {
        file.seek(SeekFrom::Start(128 + at))?;
        file.write_all(&[value])?;
    }
    Ok(())
}

/// The memory of this process without mapped files, in MiB; 0 if the system does not report it.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let of = |name: &str| -> u64 {
        let line = status.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
    };
    (of("RssAnon:") + of("RssShmem:")) >> 10
}

/// On a software adapter this takes minutes: `cargo test --release --test all large:: -- --ignored
/// --nocapture`
#[test]
#[ignore = "takes minutes"]
fn a_file_beyond_4_gib() {
    let Some(device) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.npy");
    // 589,824 rows of 8 KiB. The largest is the last byte; a large one is just after 4 GiB.
    let (rows, columns) = (LARGE / 8192, 8192);
    let behind = (4 << 30) + 5;
    let planted = [(0, 7), (8191, 9), (behind, 100), (LARGE - 1, 120), (LARGE - columns, 111)];
    sparse(&path, &[1, 1, rows, columns], &planted).unwrap();
    let input = wgmax::io::read(path.to_str().unwrap()).unwrap();
    assert_eq!(input.bytes().len() as u64, LARGE);

    let max_memory = Arc::new(AtomicU64::new(0));
    let timed = |operator: Operator, inputs: &[&Tensor]| {
        let began = Instant::now();
        let (pieces, max) = (Arc::new(AtomicU64::new(0)), max_memory.clone());
        let counter = pieces.clone();
        let options = RunOptions::new().progress(move |progress| {
            counter.store(progress.pieces, Relaxed);
            max.fetch_max(memory(), Relaxed);
            ControlFlow::Continue(())
        });
        let found = operator.run_with(&device, inputs, options).unwrap();
        let pieces = pieces.load(Relaxed);
        let seconds = began.elapsed().as_secs_f32();
        println!("{}: {pieces} pieces, {seconds:.1} s", operator.name());
        assert!(pieces > 16);
        found
    };
    let found = timed(ReduceMax::new().into(), &[&input]);
    assert_eq!(found[0].bytes(), [120]);
    let found = timed(ReduceMax::new().axes([2]).into(), &[&input]);
    let found = found[0].bytes();
    assert_eq!((found[0], found[5], found[8191], found[1]), (111, 100, 120, 0));

    let pool = MaxPool::new([64, 64]).strides([64, 64]).indices(Indices::default());
    let found = timed(pool.into(), &[&input]);
    let positions = found[1].as_slice::<i64>().unwrap();
    let of = |at: u64| (at / columns / 64 * (columns / 64) + at % columns / 64) as usize;
    for (at, value) in planted {
        assert_eq!((found[0].bytes()[of(at)], positions[of(at)]), (value, at as i64));
    }
    assert_eq!(found[0].bytes().iter().filter(|&&value| value != 0).count(), planted.len());

    let table = input.reshape([rows as usize, columns as usize]).unwrap();
    let offsets = [0i64, 1, 1, behind as i64 / 8192, rows as i64];
    let offsets = Tensor::from_slice([5], &offsets).unwrap();
    let segments = SegmentMax::offsets().indices(ElementType::I64);
    let found = timed(segments.into(), &[&table, &offsets]);
    let at = |segment: usize, column: usize| segment * 8192 + column;
    let (values, chosen) = (found[0].bytes(), found[1].as_slice::<i64>().unwrap());
    assert_eq!((values[at(0, 8191)], chosen[at(0, 8191)]), (9, 0));
    assert_eq!((values[at(1, 0)], chosen[at(1, 0)]), (0, -1));
    assert_eq!((values[at(2, 3)], chosen[at(2, 3)]), (0, 1));
    assert_eq!((values[at(3, 5)], chosen[at(3, 5)]), (100, behind as i64 / 8192));
    assert_eq!((values[at(3, 8191)], chosen[at(3, 8191)]), (120, rows as i64 - 1));

    let max_memory = max_memory.load(Relaxed);
    println!("at most {max_memory} MiB of memory besides mapped files");
    assert!(max_memory < 3 << 10, "{max_memory} MiB");
}

/// More rows than the CPU sorts by segments at once.
#[test]
fn many_rows_in_any_order() {
    let (rows, segments) = ((4 << 20) + 70_000, 1000);
    let hash = |i: u32| i.wrapping_mul(2_654_435_761) >> 7;
    let ids: Vec<i32> = (0..rows).map(|i| (hash(i) % (segments + 1)) as i32).collect();
    let data: Vec<u16> = (0..rows).map(|i| hash(hash(i)) as u16).collect();
    let mut expected = vec![(0, -1); segments as usize];
    for (row, (&id, &value)) in ids.iter().zip(&data).enumerate() {
        if let Some(found) = expected.get_mut(id as usize)
            && (found.1 < 0 || value > found.0)
        {
            *found = (value, row as i64);
        }
    }
    let rows = rows as usize;
    let inputs = [Tensor::from_slice([rows], &data), Tensor::from_slice([rows], &ids)];
    let [data, ids] = inputs.map(Result::unwrap);
    let operator = SegmentMax::unsorted().num_segments(segments as usize);
    let found = operator.indices(ElementType::I64).run(&Device::cpu(), [&data, &ids]).unwrap();
    let (values, rows): (Vec<u16>, Vec<i64>) = expected.into_iter().unzip();
    assert_eq!(found[0].as_slice::<u16>().unwrap(), values);
    assert_eq!(found[1].as_slice::<i64>().unwrap(), rows);
}
