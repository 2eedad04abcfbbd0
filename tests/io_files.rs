//! Files of tensors: written files are read back, NumPy's files are read, and broken ones are
//! refused.
use std::fs;
use std::path::Path;
use std::sync::Arc;

use wgmax::io::{self, npy, npz, safetensors};
use wgmax::{ElementType, Error, Result, Tensor};

/// A tensor of `shape` with all kinds of bits; floats include NaNs with payloads, infinities and
/// subnormals.
fn tensor(element_type: ElementType, shape: &[usize]) -> Tensor {
    let size = element_type.size();
    let len = shape.iter().product::<usize>();
    let mut bytes = Vec::new();
    for i in 0..len {
        let odd = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
        let mut element = odd[8 - size..].to_vec();
        match (element_type, i % 3) {
            (ElementType::Bool, _) => element[0] &= 1,
            // All exponent bits set: a NaN with a payload, of either sign.
            (_, 1) => element[size - 1] |= 0x7f,
            _ => {}
        }
        if i % 3 == 1 && element_type.is_float() && size > 1 {
            element[size - 2] |= 0xf8;
        }
        bytes.extend(element);
    }
    Tensor::from_bytes(element_type, shape, &bytes).unwrap()
}

fn assert_same(a: &Tensor, b: &Tensor) {
    assert_eq!(a.desc(), b.desc());
    assert_eq!(a.bytes(), b.bytes());
}

type Parse = fn(Vec<u8>) -> Result<Tensor>;

/// The parser of each format's bytes.
const PARSERS: [(&str, Parse); 3] = [
    ("f.npy", |bytes| npy::parse("f.npy", Arc::new(bytes))),
    ("f.npz", |bytes| npz::parse("f.npz", None, Arc::new(bytes))),
    ("f.safetensors", |bytes| safetensors::parse("f.safetensors", None, Arc::new(bytes))),
];

/// The bytes of a file of this tensor.
fn file_of(name: &str, tensor: &Tensor) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    io::write(path.to_str().unwrap(), tensor).unwrap();
    fs::read(path).unwrap()
}

fn npy_file(header: &str, data: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

fn parse_npy(header: &str, data: &[u8]) -> Result<Tensor> {
    npy::parse("f.npy", Arc::new(npy_file(header, data)))
}

fn assert_bad(result: Result<Tensor>, part: &str) {
    match result {
        Err(error @ Error::BadFile { .. }) => {
            let line = error.to_string();
            assert!(line.contains(part) && !line.contains('\n'), "{line:?} has no {part:?}");
        }
        other => panic!("{other:?}"),
    }
}

fn assert_unsupported(result: Result<Tensor>, part: &str) {
    match result {
        Err(Error::Unsupported { reason, .. }) => assert!(reason.contains(part), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_type_and_shape_comes_back_bit_for_bit() {
    let directory = tempfile::tempdir().unwrap();
    let names = ["t.npy", "t.npz", "n.npz:a/b ü", "t.safetensors", "n.safetensors:w.0", "t.pb"];
    for element_type in ElementType::ALL {
        for shape in [&[][..], &[0], &[7], &[3, 0, 2], &[1], &[2, 3, 1, 2, 5], &[50, 40]] {
            let tensor = tensor(element_type, shape);
            for name in names {
                let spec = directory.path().join(name).to_str().unwrap().to_string();
                io::write(&spec, &tensor).unwrap();
                assert_same(&io::read(&spec).unwrap(), &tensor);
            }
        }
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), names.len());
}

#[test]
fn what_is_written_can_be_shared_without_a_copy() {
    // Only data at a multiple of 8 in the file can be shared. The parsers share it if the result is in the
    // aligned buffer.
    let tensor = tensor(ElementType::I32, &[5, 7]);
    for (name, _) in PARSERS {
        let file = file_of(name, &tensor);
        let words: Vec<u64> = file
            .chunks(8)
            .map(|c| {
                let mut word = [0; 8];
                word[..c.len()].copy_from_slice(c);
                u64::from_le_bytes(word)
            })
            .collect();
        struct Aligned(Vec<u64>, usize);
        impl AsRef<[u8]> for Aligned {
            fn as_ref(&self) -> &[u8] {
                &bytemuck::cast_slice(&self.0)[..self.1]
            }
        }
        let shared: io::SharedBytes = Arc::new(Aligned(words, file.len()));
        let inside = (*shared).as_ref().as_ptr_range();
        let read = match name {
            "f.npy" => npy::parse(name, shared.clone()),
            "f.npz" => npz::parse(name, None, shared.clone()),
            _ => safetensors::parse(name, None, shared.clone()),
        };
        let read = read.unwrap();
        assert_same(&read, &tensor);
        assert!(inside.contains(&read.bytes().as_ptr()), "{name} was copied");
    }
}

#[test]
fn what_numpy_writes_is_read() {
    let fortran = parse_npy(
        "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }      \n",
        b"\x00\x00\x03\x00\x01\x00\x04\x00\x02\x00\x05\x00",
    );
    assert_same(&fortran.unwrap(), &Tensor::from_slice([2, 3], &[0i16, 1, 2, 3, 4, 5]).unwrap());
    let big_endian = parse_npy(
        "{'descr': '>f8', 'fortran_order': False, 'shape': (2,), }       \n",
        b"?\xf8\x00\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x00",
    );
    assert_same(&big_endian.unwrap(), &Tensor::from_slice([2], &[1.5f64, -2.0]).unwrap());
    let both = parse_npy(
        "{'descr': '>u4', 'fortran_order': True, 'shape': (3, 2), }\n",
        b"\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\x03\x00\x00\x00\x05",
    );
    assert_same(&both.unwrap(), &Tensor::from_slice([3, 2], &[0u32, 1, 2, 3, 4, 5]).unwrap());
    // bf16 of the package ml_dtypes: 1.0 and -2.5.
    for order in ['<', '|'] {
        let header = format!("{{'descr': '{order}V2', 'fortran_order': False, 'shape': (2,), }}\n");
        let bf16 = parse_npy(&header, b"\x80? \xc0").unwrap();
        assert_eq!(bf16.element_type(), ElementType::Bf16);
        assert_eq!(bf16.bytes(), b"\x80? \xc0");
    }
    // Other writers: double quotes, no spaces, another order, Python 2's long, `?`.
    let other = parse_npy(r#"{"shape":(1L,2),"fortran_order":False,"descr":"?"}"#, &[1, 0]);
    assert_same(&other.unwrap(), &Tensor::from_slice([1, 2], &[true, false]).unwrap());
}

#[test]
fn fortran_order_of_a_higher_rank() {
    let shape = [2, 3, 1, 4];
    let expected = tensor(ElementType::Bool, &shape);
    let mut data = vec![2; expected.len()];
    for (i, &element) in expected.bytes().iter().enumerate() {
        let (a, b, d) = (i / 12, i / 4 % 3, i % 4);
        data[a + 2 * b + 6 * d] = element;
    }
    let header = "{'descr': '|b1', 'fortran_order': True, 'shape': (2, 3, 1, 4)}";
    assert_same(&parse_npy(header, &data).unwrap(), &expected);
    data[5] = 2;
    assert_bad(parse_npy(header, &data), "f.npy: not a valid npy file: bool element");
}

#[test]
fn versions_two_and_three_of_npy() {
    for version in [2, 3] {
        let header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}";
        let mut file = b"\x93NUMPY".to_vec();
        file.extend([version, 0]);
        file.extend((header.len() as u32).to_le_bytes());
        file.extend(header);
        file.push(9);
        let read = npy::parse("f.npy", Arc::new(file.clone())).unwrap();
        assert_same(&read, &Tensor::from_slice([1], &[9u8]).unwrap());
        // A length that no file could hold must not become an allocation.
        file[8..12].fill(0xff);
        assert_bad(npy::parse("f.npy", Arc::new(file)), "a header of 4294967295 bytes");
    }
}

#[test]
fn lies_of_npy_headers_are_refused() {
    let with = |descr: &str, shape: &str, data: &[u8]| {
        parse_npy(
            &format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n"),
            data,
        )
    };
    assert_bad(with("'<f4'", "(2,)", &[0; 7]), "f32[2] needs 8 bytes of data, but has 7");
    assert_bad(with("'<f4'", "(2,)", &[0; 9]), "but has 9");
    assert_bad(with("'<f4'", "()", &[0; 8]), "f32[] needs 4");
    assert_bad(with("'<f4'", "(4294967296, 4294967296)", &[]), "too large");
    assert_bad(with("'<f4'", "(0, 4294967296, 4294967296)", &[]), "too large");
    assert_bad(with("'<f4'", "(99999999999999999999,)", &[]), "shape");
    for shape in ["(-1,)", "(1.5,)", "(1 2)", "((1,),)", "[1]", "None", "1", "(", "(1,", "(,)"] {
        assert_bad(with("'|u1'", shape, &[0]), "reading stopped before");
    }
    assert_bad(with("'|b1'", "(3,)", &[0, 1, 255]), "bool element 2 holds the byte 255");
    for dtype in
        ["'<c16'", "'|O'", "'<U1'", "'|S4'", "'<M8[ns]'", "'<f16'", "'>V2'", "'|V1'", "'é'"]
    {
        assert_unsupported(with(dtype, "(1,)", &[0; 16]), dtype.trim_matches('\''));
    }
    let structured = "[('a', '<i4'), ('b', '<f4', (2,)), ('c', [('d', '|u1')])]";
    assert_unsupported(with(structured, "(1,)", &[0; 13]), structured);
    for header in [
        "",
        "[]",
        "{'descr': '<f4', 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': True, 'shape': ()} x",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (), 'x': 1}",
        "{'descr: '<f4'",
        "{'descr': [[[[",
        &"{(".repeat(30_000),
    ] {
        assert_bad(parse_npy(header, &[0; 4]), "not a dictionary of descr");
    }
    assert_bad(npy::parse("f.npy", Arc::new(b"\x93NUMPX\x01\x00".to_vec())), "does not start");
    assert_bad(npy::parse("f.npy", Arc::new(b"\x93NUMPY\x04\x00".to_vec())), "version 4.0");
}

#[test]
fn a_cut_file_is_refused_at_every_length() {
    let whole = tensor(ElementType::Bool, &[2, 3]);
    for (name, parse) in PARSERS {
        let file = file_of(name, &whole);
        for len in 0..file.len() {
            let error = parse(file[..len].to_vec()).expect_err("a part of a file was taken");
            assert!(matches!(error, Error::BadFile { .. }), "{name} cut at {len}: {error:?}");
        }
        assert_same(&parse(file).unwrap(), &whole);
    }
    for len in 0..DEFLATED.len() {
        npz::parse("f.npz", None, Arc::new(DEFLATED[..len].to_vec())).unwrap_err();
    }
}

#[test]
fn no_flipped_byte_makes_a_reader_panic() {
    let whole = tensor(ElementType::F16, &[2, 3]);
    for (name, parse) in PARSERS {
        let mut file = file_of(name, &whole);
        if name == "f.npz" {
            file = DEFLATED.to_vec();
        }
        for at in 0..file.len() {
            for flip in [0x01, 0x10, 0x80, 0xff] {
                file[at] ^= flip;
                let _ = parse(file.clone());
                file[at] ^= flip;
            }
        }
    }
}

#[test]
fn a_stored_member_is_checked_against_its_checksum() {
    let mut file = file_of("f.npz", &tensor(ElementType::F32, &[64]));
    let at = file.windows(9).position(|w| w == b"'shape': ").unwrap() + 150;
    file[at] ^= 1;
    assert_bad(npz::parse("f.npz", None, Arc::new(file)), "f.npz:output");
}

#[test]
fn archives_are_asked_by_name() {
    let parse = |name| npz::parse("f.npz", name, Arc::new(DEFLATED.to_vec()));
    let expected = Tensor::from_slice([2, 2], &[1i16, 2, 3, 4]).unwrap();
    for name in [None, Some("x"), Some("x.npy")] {
        assert_same(&parse(name).unwrap(), &expected);
    }
    assert_unsupported(parse(Some("y")), r#"no array "y"; the file holds "x""#);

    let two = two_tensors();
    let parse = |name| safetensors::parse("f.safetensors", name, Arc::new(two.clone()));
    assert_same(&parse(Some("a")).unwrap(), &Tensor::from_slice([2], &[1u8, 2]).unwrap());
    assert_unsupported(
        parse(None),
        r#"an array must be named, as FILE:NAME; the file holds "a", "b""#,
    );
    assert_unsupported(parse(Some("b")), "F8_E4M3");
}

#[test]
fn names_in_an_archive_that_look_alike() {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, element) in [("a.npy.npy", 1), ("a.npy", 2), ("b.npy", 3), ("readme.txt", 4)] {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        let header = "{'descr': '|u1', 'fortran_order': False, 'shape': ()}";
        std::io::Write::write_all(&mut archive, &npy_file(header, &[element])).unwrap();
    }
    let mut file = archive.finish().unwrap().into_inner();
    let parse = |file: &[u8], name| npz::parse("f.npz", name, Arc::new(file.to_vec()));
    for (name, element) in [("a.npy.npy", 1), ("a.npy", 1), ("a", 2), ("b", 3), ("b.npy", 3)] {
        assert_eq!(parse(&file, Some(name)).unwrap().bytes(), [element], "{name}");
    }
    assert_unsupported(parse(&file, None), r#"the file holds "a.npy", "a", "b""#);
    assert_unsupported(parse(&file, Some("readme.txt")), "readme.txt");
    for at in 0..file.len() - 5 {
        if &file[at..at + 5] == b"b.npy" {
            file[at] = b'a';
        }
    }
    assert_bad(parse(&file, Some("a")), "two members have one name");
}

#[test]
fn an_archive_that_declares_another_size_than_the_array_has_is_refused() {
    // The uncompressed size in the central directory, which a reader might allocate.
    let mut file = DEFLATED.to_vec();
    let central = file.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    file[central + 24..central + 28].copy_from_slice(&0x7fff_ffffu32.to_le_bytes());
    assert_bad(npz::parse("f.npz", None, Arc::new(file)), "but the archive says 2147483647");
}

#[test]
fn lies_of_safetensors_headers_are_refused() {
    let with = |header: &str, data: &[u8]| {
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header.as_bytes());
        file.extend(data);
        safetensors::parse("f.safetensors", None, Arc::new(file))
    };
    let one = |dtype: &str, shape: &str, end: usize, data: &[u8]| {
        with(
            &format!(r#"{{"t":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[0,{end}]}}}}"#),
            data,
        )
    };
    assert_eq!(one("U8", "[2]", 2, &[1, 2]).unwrap().bytes(), [1, 2]);
    assert_bad(one("U8", "[2]", 2, &[1, 2, 3]), "f.safetensors: not a valid safetensors");
    assert_bad(one("U8", "[3]", 2, &[1, 2]), "");
    assert_bad(one("BOOL", "[2]", 2, &[1, 2]), "f.safetensors:t: not a valid");
    assert_bad(one("U8", "[0,18446744073709551615,2]", 0, &[]), "too large");
    assert_bad(one("U8", "[18446744073709551615,2]", 0, &[]), "");
    assert_bad(one("U8", "[-1]", 0, &[]), "");
    // The sum of the sizes and of the header's length exceeds 64 bits.
    let size = (usize::MAX - 7) / 8;
    let parts = (0..8).map(|i| {
        let (from, to) = (i * size, (i + 1) * size);
        format!(r#""{i}":{{"dtype":"U8","shape":[{size}],"data_offsets":[{from},{to}]}}"#)
    });
    let header = format!("{{{}}}", parts.collect::<Vec<_>>().join(","));
    assert_bad(with(&header, &[]), "cannot hold tensors of 18446744073709551608");
    assert_bad(with(&"[".repeat(100_000), &[]), "");
    assert_bad(safetensors::parse("f.safetensors", None, Arc::new(vec![0xff; 64])), "");
    assert_unsupported(with("{}", &[]), "nothing");
}

#[test]
fn raw_bits_are_taken_as_another_type_on_request() {
    let directory = tempfile::tempdir().unwrap();
    let spec = directory.path().join("bits.npy").to_str().unwrap().to_string();
    let bits = Tensor::from_slice([2], &[0x3f80u16, 0xc020]).unwrap();
    io::write(&spec, &bits).unwrap();
    let bf16 = io::read_as(&spec, Some(ElementType::Bf16)).unwrap();
    assert_eq!((bf16.element_type(), bf16.bytes()), (ElementType::Bf16, bits.bytes()));
    assert_same(&io::read_as(&spec, None).unwrap(), &bits);
    assert_same(&io::read_as(&spec, Some(ElementType::U16)).unwrap(), &bits);
    let wrong = |result| matches!(result, Err(Error::WrongElementType { .. }));
    assert!(wrong(io::read_as(&spec, Some(ElementType::F32))));
    // Only unsigned integers are read as raw bits, never another float type.
    io::write(&spec, &bf16).unwrap();
    assert!(wrong(io::read_as(&spec, Some(ElementType::F16))));
    io::write(&spec, &Tensor::from_slice([2], &[1u8, 2]).unwrap()).unwrap();
    let error = io::read_as(&spec, Some(ElementType::Bool)).unwrap_err();
    assert!(error.to_string().contains("bits.npy: the bits are not valid bool"), "{error}");
}

#[test]
fn a_failure_to_write_leaves_things_as_they_were() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_string();
    let tensor = tensor(ElementType::F32, &[3]);
    for extension in ["npy", "npz", "safetensors", "pb"] {
        let is_io = |spec: &str| match io::write(spec, &tensor) {
            Err(Error::Io { path, .. }) => assert_eq!(path, spec),
            other => panic!("{other:?}"),
        };
        is_io(&at(&format!("missing/f.{extension}")));
        fs::create_dir(at(&format!("directory.{extension}"))).unwrap();
        is_io(&at(&format!("directory.{extension}")));
        assert!(matches!(io::read(&at(&format!("none.{extension}"))), Err(Error::Io { .. })));
        assert!(matches!(io::read(&at(&format!("directory.{extension}"))), Err(Error::Io { .. })));
    }
    // Names that the formats cannot hold.
    for (file, name) in [("f.npz", "x".repeat(70_000)), ("f.safetensors", "__metadata__".into())] {
        fs::write(at(file), "old").unwrap();
        io::write(&format!("{}:{name}", at(file)), &tensor).unwrap_err();
        assert_eq!(fs::read(at(file)).unwrap(), b"old");
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 6);
}

#[test]
fn a_tensor_outlives_the_file_that_replaces_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f.npy");
    let first = tensor(ElementType::U64, &[1000]);
    npy::write(&path, &first).unwrap();
    let mapped = npy::read(&path).unwrap();
    npy::write(&path, &tensor(ElementType::U8, &[1])).unwrap();
    assert_same(&mapped, &first);
    npy::write(&path, &mapped).unwrap();
    assert_same(&npy::read(&path).unwrap(), &first);
    empty_files_are_bad(directory.path());
}

fn empty_files_are_bad(directory: &Path) {
    for name in ["e.npy", "e.npz", "e.safetensors"] {
        let path = directory.join(name);
        fs::write(&path, "").unwrap();
        assert_bad(io::read(path.to_str().unwrap()), name);
    }
}

fn two_tensors() -> Vec<u8> {
    let header = br#"{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[2,3]}}"#;
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header);
    file.extend([1, 2, 3]);
    file
}

/// `numpy.savez_compressed` of `x = [[1, 2], [3, 4]]` as int16.
const DEFLATED: &[u8] =
    b"PK\x03\x04-\x00\x00\x00\x08\x00\x00\x00!\x00\x00\xca\xdcm\xff\xff\xff\xff\xff\xff\xff\xff\
      \x05\x00\x14\x00x.npy\x01\x00\x10\x00\x88\x00\x00\x00\x00\x00\x00\x00N\x00\x00\x00\x00\x00\
      \x00\x00\x9b\xec\x17\xea\x1b\x10\xc9\xc8P\xc6P\xad\x9e\x92Z\x9c\x5c\xa4n\xa5\xa0n\x93i\xa4\
      \xae\xa3\xa0\x9e\x96_TR\x94\x98\x17\x9f_\x94\x92\x0a\x12wK\xcc)N\x05\x8a\x17g$\x16\xa4\x02\
      \xf9\x1aF:\x0aF\x9a:\x0a\xb5\x0ad\x03.F\x06&\x06f\x06\x16\x06\x00PK\x01\x02-\x03-\x00\x00\
      \x00\x08\x00\x00\x00!\x00\x00\xca\xdcmN\x00\x00\x00\x88\x00\x00\x00\x05\x00\x00\x00\x00\
      \x00\x00\x00\x00\x00\x00\x00\x80\x01\x00\x00\x00\x00x.npyPK\x05\x06\x00\x00\x00\x00\x01\
      \x00\x01\x003\x00\x00\x00\x85\x00\x00\x00\x00\x00";

/// All files are written or none, and two tensors with one name are refused.
#[test]
fn several_tensors_are_written_together() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (a, b) = (tensor(ElementType::F32, &[2, 3]), tensor(ElementType::I64, &[4]));
    io::write_all(&[(&at("a.npy"), &a), (&at("b.npz:b"), &b)]).unwrap();
    assert_same(&io::read(&at("a.npy")).unwrap(), &a);
    assert_same(&io::read(&at("b.npz:b")).unwrap(), &b);

    fs::write(at("a.npy"), "precious").unwrap();
    let refused = |second: &str| {
        let error = io::write_all(&[(&at("a.npy"), &a), (second, &b)]).unwrap_err().to_string();
        assert!(error.contains(second), "{error}");
        assert_eq!(fs::read(at("a.npy")).unwrap(), b"precious", "{second}");
    };
    refused(&at("none/b.npy"));
    refused(&at("b.txt"));
    refused(&at("./a.npy"));
    for extension in ["npz", "safetensors"] {
        let spec = |path: &str, name: &str| at(&format!("{path}c.{extension}:{name}"));
        let twice = [(spec("", "a"), &a), (spec("./", "a"), &b)];
        let twice = twice.each_ref().map(|(spec, tensor)| (spec.as_str(), *tensor));
        let error = io::write_all(&twice).unwrap_err();
        assert!(error.to_string().contains("one file"), "{error}");
        assert!(!Path::new(&at(&format!("c.{extension}"))).exists());
        let two = [(spec("", "a"), &a), (spec("./", "b"), &b)];
        io::write_all(&two.each_ref().map(|(spec, tensor)| (spec.as_str(), *tensor))).unwrap();
        assert_same(&io::read(&spec("", "a")).unwrap(), &a);
        assert_same(&io::read(&spec("", "b")).unwrap(), &b);
        fs::remove_file(at(&format!("c.{extension}"))).unwrap();
    }
    // No temporary files are left.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    io::write_all(&[]).unwrap();
}

/// The names of an archive's members, and their bytes.
fn members(path: &str) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
    let member = |index| {
        let mut member = archive.by_index(index).unwrap();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut member, &mut bytes).unwrap();
        (member.name().unwrap().to_string(), bytes)
    };
    let mut members: Vec<_> = (0..members_of(path)).map(member).collect();
    members.sort();
    members
}

fn members_of(path: &str) -> usize {
    zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap().len()
}

#[test]
fn an_archive_keeps_what_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz").to_str().unwrap().to_string();
    let at = |name: &str| format!("{path}:{name}");
    let (a, b) = (tensor(ElementType::F64, &[50]), tensor(ElementType::I8, &[3]));
    let text = vec![b'x'; 5000];

    let mut archive = zip::ZipWriter::new(fs::File::create(&path).unwrap());
    let deflated = zip::write::SimpleFileOptions::default();
    let stored = deflated.compression_method(zip::CompressionMethod::Stored);
    archive.set_comment("of the archive").unwrap();
    archive.start_file("readme.txt", deflated).unwrap();
    std::io::Write::write_all(&mut archive, &text).unwrap();
    for (name, options, tensor) in [("b.npy", stored, &b), ("a.npy", stored, &a)] {
        archive.start_file(name, options).unwrap();
        std::io::Write::write_all(&mut archive, &file_of("f.npy", tensor)).unwrap();
    }
    archive.start_file("d.npy", deflated).unwrap();
    std::io::Write::write_all(&mut archive, &file_of("f.npy", &b)).unwrap();
    archive.finish().unwrap();
    let before = members(&path);

    // A new array is added, then replaced; then the compressed one is replaced.
    let (new, newer) = (tensor(ElementType::U16, &[7]), tensor(ElementType::F32, &[2, 2]));
    io::write(&at("new"), &new).unwrap();
    let after = members(&path);
    assert_eq!(after.len(), 5);
    assert!(before.iter().all(|member| after.contains(member)));
    assert_same(&io::read(&at("new")).unwrap(), &new);
    io::write(&at("new.npy"), &newer).unwrap();
    io::write(&at("d"), &newer).unwrap();
    assert_eq!(members_of(&path), 5);
    for (name, expected) in [("a", &a), ("b", &b), ("new", &newer), ("d", &newer)] {
        assert_same(&io::read(&at(name)).unwrap(), expected);
    }
    let mut archive = zip::ZipArchive::new(fs::File::open(&path).unwrap()).unwrap();
    for index in 0..archive.len() {
        // Uncompressed arrays are aligned, so that they can be mapped.
        let member = archive.by_index(index).unwrap();
        let stored = member.compression() == zip::CompressionMethod::Stored;
        assert!(!stored || member.data_start().unwrap().is_multiple_of(64), "{:?}", member.name());
    }
    assert_eq!(archive.comment(), b"of the archive");
    assert!(members(&path).contains(&("readme.txt".to_string(), text)));

    // Without a name, the other members would be lost.
    let whole = fs::read(&path).unwrap();
    let error = io::write(&path, &a).unwrap_err().to_string();
    assert!(error.contains("holds 5 members") && error.contains("FILE:NAME"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), whole);
    io::overwrite_all(&[(&path, &a)]).unwrap();
    assert_same(&io::read(&path).unwrap(), &a);
    assert_eq!(members_of(&path), 1);
    // A single array is replaced.
    io::write(&path, &b).unwrap();
    assert_same(&io::read(&at("output")).unwrap(), &b);

    // A file that is no archive is neither extended nor replaced.
    for bytes in ["text", "PK\x03\x04"] {
        fs::write(&path, bytes).unwrap();
        assert_bad(io::write(&at("a"), &a).map(|()| a.clone()), "a.npz");
        assert_eq!(fs::read(&path).unwrap(), bytes.as_bytes());
    }
    fs::write(&path, "text").unwrap();
    io::write(&path, &b).unwrap();
    // An empty file, such as mktemp makes, counts as absent.
    fs::write(&path, "").unwrap();
    io::write(&at("a"), &a).unwrap();
    assert_same(&io::read(&path).unwrap(), &a);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// Without a name, a file is replaced only if its content is known and is a single array.
#[test]
fn an_archive_that_holds_more_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let a = tensor(ElementType::U8, &[3]);
    let array = file_of("f.npy", &a);
    let archive = |names: &[&str]| {
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for name in names {
            archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            std::io::Write::write_all(&mut archive, &array).unwrap();
        }
        archive.finish().unwrap().into_inner()
    };
    let notes = archive(&["w.npy", "notes.txt"]);
    // Two members with one name. The writer refuses that, so the bytes are changed.
    let mut twice = archive(&["a.npy", "b.npy", "c.npy"]);
    for at in 0..twice.len() - 5 {
        if &twice[at..at + 5] == b"b.npy" {
            twice[at] = b'a';
        }
    }
    let cut = |bytes: &[u8]| bytes[..bytes.len() - 1].to_vec();
    let two = two_tensors();
    for (name, bytes, expected) in [
        ("notes.npz", notes.clone(), "it holds 2 members, which would be lost"),
        (
            "twice.npz",
            twice,
            "it is an npz archive that cannot be read (two members have one name)",
        ),
        ("cut.npz", cut(&notes), "it is an npz archive that cannot be read"),
        ("other.npz", two.clone(), "it is a safetensors file that cannot be read"),
        ("two.safetensors", two.clone(), "it holds 2 tensors, which would be lost"),
        ("cut.safetensors", cut(&two), "it is a safetensors file that cannot be read"),
        ("start.safetensors", two[..20].to_vec(), "it is a safetensors file that cannot be read"),
        ("other.safetensors", notes.clone(), "it is an npz archive that cannot be read"),
    ] {
        let path = at(name);
        fs::write(&path, &bytes).unwrap();
        let error = io::write(&path, &a).unwrap_err().to_string();
        assert!(error.contains(&format!("{name}: {expected}")), "{error}");
        assert_eq!(fs::read(&path).unwrap(), bytes, "{name}");
        io::overwrite_all(&[(&path, &a)]).unwrap();
        assert_same(&io::read(&path).unwrap(), &a);
        // A file with one array is replaced, and so is one that is no archive.
        io::write(&path, &a).unwrap();
        fs::write(&path, "some text").unwrap();
        io::write(&path, &a).unwrap();
    }
}

#[test]
fn a_file_of_safetensors_keeps_what_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.safetensors").to_str().unwrap().to_string();
    let at = |name: &str| format!("{path}:{name}");
    // Metadata, and a type that is not supported here.
    let header = br#"{"__metadata__":{"format":"pt"},"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[2,3]}}"#;
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header);
    file.extend([1, 2, 3]);
    fs::write(&path, &file).unwrap();

    let error = io::write(&path, &tensor(ElementType::F32, &[3])).unwrap_err().to_string();
    assert!(error.contains("holds 2 tensors"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), file);

    let wide = tensor(ElementType::F64, &[3]);
    io::write(&at("wide"), &wide).unwrap();
    io::write(&at("a"), &tensor(ElementType::I16, &[2, 2])).unwrap();
    assert_same(&io::read(&at("wide")).unwrap(), &wide);
    assert_same(&io::read(&at("a")).unwrap(), &tensor(ElementType::I16, &[2, 2]));
    assert_unsupported(io::read(&at("b")), "F8_E4M3");
    let bytes = fs::read(&path).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains(r#""__metadata__":{"format":"pt"}"#), "{text}");
    // The unsupported tensor has the narrowest type, so its byte is the last.
    assert_eq!(bytes.last(), Some(&3));
    io::overwrite_all(&[(&path, &wide)]).unwrap();
    assert_same(&io::read(&path).unwrap(), &wide);
    fs::write(&path, "text").unwrap();
    assert_bad(io::write(&at("a"), &wide).map(|()| wide.clone()), "safetensors");
    assert_eq!(fs::read(&path).unwrap(), b"text");
}

/// Work on a file is bounded by its elements, however many axes its header has.
#[test]
fn axes_cost_nothing_and_too_many_are_refused() {
    let of = |rank: usize, elements: usize| {
        let shape = format!("{}{elements},", "1,".repeat(rank - 1));
        let header = format!("{{'descr': '>u2', 'fortran_order': True, 'shape': ({shape})}}");
        parse_npy(&header, &vec![1; 2 * elements])
    };
    assert_unsupported(of(20_001, 100_000), "20001 axes; at most 64");
    assert_eq!(of(64, 100_000).unwrap().shape().len(), 64);
    // Ten axes of 2: a conversion to C order reverses the bits of positions.
    let header =
        format!("{{'descr': '|u1', 'fortran_order': True, 'shape': ({})}}", "2,".repeat(10));
    let bytes: Vec<u8> = (0..1024u32).map(|i| (i.reverse_bits() >> 22) as u8).collect();
    let read = parse_npy(&header, &bytes).unwrap();
    assert!(read.bytes().iter().enumerate().all(|(i, &byte)| byte == i as u8));
    assert_same(
        &parse_npy("{'descr': '<u2', 'fortran_order': True, 'shape': (2, 0)}", &[]).unwrap(),
        &Tensor::from_slice([2, 0], &[0u16; 0]).unwrap(),
    );
}
