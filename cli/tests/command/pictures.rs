//! Pictures as inputs and outputs, and arrays that are pooled as pictures.

use std::fs;
use std::path::Path;

use image::{DynamicImage, ImageBuffer};
use wgmax::Tensor;

use super::streams::fed;
use super::{folder, refused, stderr, stdout, succeeds, wgmax};

/// The maxima of 2 x 2 windows with stride 2 of [H, W, C], as the definition has them.
fn pooled(samples: &[u16], (h, w, c): (usize, usize, usize)) -> Vec<u16> {
    let mut maxima = Vec::new();
    for (y, x, channel) in
        (0..h / 2).flat_map(|y| (0..w / 2).flat_map(move |x| (0..c).map(move |c| (y, x, c))))
    {
        let at = |dy: usize, dx: usize| samples[((2 * y + dy) * w + 2 * x + dx) * c + channel];
        maxima.push(at(0, 0).max(at(0, 1)).max(at(1, 0)).max(at(1, 1)));
    }
    maxima
}

/// Every kind of picture is pooled, and the result is a picture of the same kind.
#[test]
fn every_kind_of_picture_is_pooled() {
    let (_folder, at) = folder();
    let (w, h) = (6u32, 4u32);
    let noise = |c: usize, max: u32| -> Vec<u16> {
        (0..w * h * c as u32).map(|i| (i * 7919 % (max + 1)) as u16).collect()
    };
    let bytes = |c| noise(c, 255).iter().map(|&v| v as u8).collect::<Vec<u8>>();
    let words = |c| noise(c, 65535);
    let kinds: [(usize, u32, DynamicImage); 8] = [
        (1, 255, ImageBuffer::from_raw(w, h, bytes(1)).map(DynamicImage::ImageLuma8).unwrap()),
        (2, 255, ImageBuffer::from_raw(w, h, bytes(2)).map(DynamicImage::ImageLumaA8).unwrap()),
        (3, 255, ImageBuffer::from_raw(w, h, bytes(3)).map(DynamicImage::ImageRgb8).unwrap()),
        (4, 255, ImageBuffer::from_raw(w, h, bytes(4)).map(DynamicImage::ImageRgba8).unwrap()),
        (1, 65535, ImageBuffer::from_raw(w, h, words(1)).map(DynamicImage::ImageLuma16).unwrap()),
        (2, 65535, ImageBuffer::from_raw(w, h, words(2)).map(DynamicImage::ImageLumaA16).unwrap()),
        (3, 65535, ImageBuffer::from_raw(w, h, words(3)).map(DynamicImage::ImageRgb16).unwrap()),
        (4, 65535, ImageBuffer::from_raw(w, h, words(4)).map(DynamicImage::ImageRgba16).unwrap()),
    ];
    let (from, to, npy) = (at("from.png"), at("to.png"), at("to.npy"));
    let fixed = ["--kernel", "2,2", "--strides", "2,2", "--device", "cpu", "-o"];
    for (channels, max, picture) in kinds {
        picture.save(&from).unwrap();
        let color = picture.color();
        for output in [&to, &npy] {
            assert_eq!(succeeds(&[&["max-pool", &from], &fixed[..], &[output]].concat()), "");
        }
        let wanted = pooled(&noise(channels, max), (h as usize, w as usize, channels));
        let found = image::open(&to).unwrap();
        assert_eq!((found.color(), found.width(), found.height()), (color, 3, 2));
        let samples: Vec<u16> = match max {
            255 => found.as_bytes().iter().map(|&v| v.into()).collect(),
            _ => found.as_bytes().chunks(2).map(|v| u16::from_ne_bytes([v[0], v[1]])).collect(),
        };
        assert_eq!(samples, wanted, "{color:?}");
        // The same in an array, of the picture's rank.
        let array = wgmax::io::read(&npy).unwrap();
        let shape = if channels == 1 { vec![2, 3] } else { vec![2, 3, channels] };
        assert_eq!((array.shape(), array.element_type().size() == 1), (&shape[..], max == 255));
    }
}

/// An array of an archive may have the name of a picture's file.
#[test]
fn an_array_may_be_named_as_a_picture_is() {
    let (_folder, at) = folder();
    let x = at("x.npy");
    wgmax::io::write(&x, &Tensor::from_slice([1, 3], &[2.5f32, -1.0, 7.0]).unwrap()).unwrap();
    for archive in ["y.npz:photo.png", "y.safetensors:photo.pgm"] {
        let array = at(archive);
        let arguments = ["reduce-max", &x, "--axes", "1", "--device", "cpu", "-o", &array];
        assert_eq!(succeeds(&arguments), "");
        assert_eq!(succeeds(&["reduce-max", &array, "--device", "cpu"]), "f32[]\n  7.0\n");
    }
}

/// PGM and PPM are read in binary and in ASCII, with 8 and with 16 bits, and written in binary.
#[test]
fn portable_maps_are_read_and_written() {
    let (_folder, at) = folder();
    let one = |name: &str, file: &[u8], output: &str| {
        fs::write(at(name), file).unwrap();
        let fixed = ["--kernel", "2,2", "--device", "cpu", "-o"];
        let (from, to) = (at(name), at(output));
        let arguments = [&["max-pool", &from], &fixed[..], &[&to]].concat();
        assert_eq!(succeeds(&arguments), "", "{name}");
        fs::read(to).unwrap()
    };
    let gray = b"P5\n2 1\n255\n\x09\x0c";
    assert_eq!(one("a.pgm", b"P2\n2 2\n255\n1 9\n3 4\n", "y.pgm"), b"P5\n1 1\n255\n\x09");
    assert_eq!(one("b.pgm", b"P5\n3 2\n255\n\x01\x09\x02\x03\x04\x0c", "y.pgm"), gray);
    assert_eq!(
        one("c.pgm", b"P5\n2 2\n65535\n\x01\x02\x00\xff\x00\x00\x01\x03", "y.pgm"),
        b"P5\n1 1\n65535\n\x01\x03"
    );
    assert_eq!(one("d.pgm", b"P2\n2 2\n65535\n1 300\n3 4\n", "y.pgm"), b"P5\n1 1\n65535\n\x01\x2c");
    // Fewer bits are expanded, as in PNG.
    assert_eq!(one("e.pgm", b"P2\n2 2\n15\n1 9\n3 4\n", "y.pgm"), b"P5\n1 1\n255\n\x99");
    let rgb = b"P3\n2 2\n255\n1 2 3  9 0 0\n4 5 1  0 7 0\n";
    assert_eq!(one("f.ppm", rgb, "y.ppm"), b"P6\n1 1\n255\n\x09\x07\x03");
    let rgb = b"P6\n2 2\n65535\n\0\x01\0\x02\0\x03\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x09";
    assert_eq!(one("g.ppm", rgb, "y.ppm"), b"P6\n1 1\n65535\n\x01\0\0\x02\0\x09");
}

#[test]
fn palettes_and_few_bits_are_expanded() {
    let (_folder, at) = folder();
    let write = |name: &str, color, depth, rows: &[u8]| {
        let file = fs::File::create(at(name)).unwrap();
        let mut encoder = png::Encoder::new(file, 2, 2);
        encoder.set_color(color);
        encoder.set_depth(depth);
        if color == png::ColorType::Indexed {
            encoder.set_palette(vec![0, 0, 0, 10, 20, 30, 40, 5, 6]);
        }
        encoder.write_header().unwrap().write_image_data(rows).unwrap();
    };
    let fixed = ["--kernel", "2,2", "--device", "cpu"];
    write("p.png", png::ColorType::Indexed, png::BitDepth::Two, &[0b0001_0000, 0b1000_0000]);
    let shown = succeeds(&[&["max-pool", &at("p.png")], &fixed[..]].concat());
    assert_eq!(shown, "u8[1, 1, 3]\n  40 20 30\n");
    write("g.png", png::ColorType::Grayscale, png::BitDepth::One, &[0b0100_0000, 0]);
    let shown = succeeds(&[&["max-pool", &at("g.png")], &fixed[..]].concat());
    assert_eq!(shown, "u8[1, 1]\n  255\n");
    // Other operators read them, too.
    let shown = succeeds(&["reduce-max", &at("p.png"), "--axes", "0,1", "--device", "cpu"]);
    assert_eq!(shown, "u8[3]\n  40 20 30\n");
}

/// `[H, W]` and `[H, W, C]` are pictures for a kernel of two axes; `--layout` says otherwise.
#[test]
fn arrays_are_pooled_as_pictures() {
    let (_folder, at) = folder();
    let elements: Vec<f32> = (0..24).map(|i| (i * 7 % 24) as f32).collect();
    let file = |name: &str, shape: &[usize]| {
        wgmax::io::write(&at(name), &Tensor::from_slice(shape, &elements).unwrap()).unwrap();
        at(name)
    };
    let (y, i) = (at("y.npy"), at("i.npy"));
    let run = |arguments: &[&str]| {
        let fixed = ["--kernel", "2,2", "--device", "cpu", "-o", &y, "--indices", &i];
        assert_eq!(succeeds(&[&["max-pool"], arguments, &fixed[..]].concat()), "");
        let (y, i) = (wgmax::io::read(&y).unwrap(), wgmax::io::read(&i).unwrap());
        assert_eq!(y.shape(), i.shape());
        (y.shape().to_vec(), y.to_vec::<f32>().unwrap(), i.to_vec::<i64>().unwrap())
    };
    let (hw, hwc) = (file("hw.npy", &[4, 6]), file("hwc.npy", &[4, 3, 2]));
    let (shape, values, indices) = run(&[&hw]);
    assert_eq!(shape, [3, 5]);
    let full = run(&[&hw, "--reshape", "1,1,4,6"]);
    assert_eq!((full.0, &full.1, &full.2), (vec![1, 1, 3, 5], &values, &indices));
    for (value, index) in values.iter().zip(&indices) {
        assert_eq!(elements[*index as usize], *value);
    }
    let (shape, values, indices) = run(&[&hwc]);
    assert_eq!(shape, [3, 2, 2]);
    let full = run(&[&hwc, "--reshape", "1x4x3x2", "--layout", "nxc"]);
    assert_eq!((full.0, &full.1, &full.2), (vec![1, 3, 2, 2], &values, &indices));

    // The axes of indices are the picture's.
    let own = |axis| run(&[&hw, "--index-axis", axis]).2;
    assert_eq!(own("1"), run(&[&hw, "--reshape", "1,1,4,6", "--index-axis", "3"]).2);
    assert_eq!(own("-1"), own("1"));
    assert_ne!(own("0"), own("1"));
    let bad = |axis| {
        let fixed = ["max-pool", &hw, "--kernel", "2,2", "--indices", &i, "--index-axis", axis];
        refused(&fixed, &format!("--index-axis {axis}: axis {axis} is out of range for rank 2"));
    };
    bad("2");
    bad("-3");

    // Three axes with one number are batch, channels and length.
    let shown = succeeds(&["max-pool", &hwc, "--kernel", "2", "--device", "cpu"]);
    assert!(shown.starts_with("f32[4, 3, 1]\n"), "{shown}");

    // compare shows the picture's rank.
    let shown = succeeds(&["compare", "max-pool", &hw, "--kernel", "2,2", "--between", "cpu,cpu"]);
    assert!(shown.ends_with("values: f32[4, 6] -> f32[3, 5]: 15 elements, all equal\n"), "{shown}");

    // A remark asks about few channels that come first, and its advice works.
    let chw = file("chw.npy", &[2, 2, 6]);
    let output = wgmax(&["max-pool", &chw, "--kernel", "2,2", "--device", "cpu"]);
    let advice = stderr(&output);
    assert!(output.status.success() && stdout(&output).starts_with("f32[1, 1, 6]"), "{output:?}");
    assert!(advice.contains("is pooled as a picture [H, W, C]"), "{advice}");
    assert!(followed(&advice).starts_with("f32[1, 2, 1, 5]\n"), "{advice}");
}

/// A remark asks about a picture with a kernel of one axis. ONNX's names of padding are known.
#[test]
fn one_number_for_a_picture_is_asked_about() {
    let (_folder, at) = folder();
    let file = |name: &str, shape: &[usize]| {
        let elements = vec![1f32; shape.iter().product()];
        wgmax::io::write(&at(name), &Tensor::from_slice(shape, &elements).unwrap()).unwrap();
        at(name)
    };
    let (hwc, ncl) = (file("hwc.npy", &[8, 9, 3]), file("ncl.npy", &[2, 3, 9]));
    let run = |arguments: &[&str]| {
        let fixed = ["max-pool", "--device", "cpu", "--kernel", "3"];
        let output = wgmax(&[&fixed[..], arguments].concat());
        assert!(output.status.success(), "{output:?}");
        stderr(&output)
    };
    let asked = run(&[&hwc]);
    assert!(asked.contains("is pooled as [batch, channels, length]"), "{asked}");
    assert!(asked.ends_with("[H, W, C]: --kernel 3,3\n"), "{asked}");
    assert_eq!(run(&[&hwc, "--layout", "ncx"]), "");
    assert_eq!(run(&[&ncl]), "");

    let pooled = |name: &str| {
        let fixed = ["--device", "cpu", "--kernel", "3,2", "--auto-pad", name];
        succeeds(&[&["max-pool", &hwc], &fixed[..]].concat())
    };
    for (onnx, own) in [("SAME_UPPER", "same-upper"), ("SAME_LOWER", "same-lower")] {
        assert_eq!(pooled(onnx), pooled(own));
        assert!(pooled(own).starts_with("f32[8, 9, 3]"));
        let explained = ["explain", "max-pool", "1x1x9x9", "--kernel", "3,3", "--auto-pad", onnx];
        assert!(succeeds(&explained).contains("f32[1, 1, 9, 9]\n"));
    }
    assert_eq!((pooled("NOTSET"), pooled("VALID")), (pooled("explicit"), pooled("valid")));
    refused(&["max-pool", &hwc, "--kernel", "3,3", "--auto-pad", "SAME"], "'SAME'");
}

/// What the command line at the end of an advice prints.
#[track_caller]
fn followed(advice: &str) -> String {
    let (_, command) =
        advice.trim_end().rsplit_once(": wgmax ").unwrap_or_else(|| panic!("{advice}"));
    let words: Vec<&str> = command.split(' ').collect();
    succeeds(&words)
}

/// An error about axes has the command that works.
#[test]
fn missing_axes_are_named() {
    let (_folder, at) = folder();
    let file = |name: &str, shape: &[usize]| {
        let elements = vec![1f32; shape.iter().product()];
        wgmax::io::write(&at(name), &Tensor::from_slice(shape, &elements).unwrap()).unwrap();
        at(name)
    };
    let (chw, line) = (file("chw.npy", &[3, 8, 9]), file("line.npy", &[9]));
    let run = |arguments: &[&str], word: &str, result: &str| {
        let arguments = [&["max-pool"], arguments, &["--device", "cpu"]].concat();
        let output = wgmax(&arguments);
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(error.lines().count() == 1 && error.contains(word), "{error}");
        let shown = followed(&error);
        assert!(shown.starts_with(result), "{error} {shown}");
    };
    let batch = "if the batch axis is missing: wgmax max-pool ";
    run(&[&chw, "--kernel", "3,3", "--layout", "ncx"], batch, "f32[1, 3, 6, 7]\n");
    run(&[&chw, "--kernel", "3,3", "--layout", "nxc"], batch, "f32[1, 1, 6, 9]\n");
    run(&[&chw, "--kernel=3,3", "--layout=ncx", "--reshape", "3,9,8"], batch, "f32[1, 3, 7, 6]\n");
    let padded = ["--kernel", "3,3", "--layout", "ncx", "--pads", "1,1,1,1"];
    run(&[&[&chw[..]], &padded[..]].concat(), batch, "f32[1, 3, 8, 9]\n");
    run(&[&at("x.npy"), "--kernel", "3"], batch, "f32[1, 2, 1]\n");
    let both = "if the batch and channel axes are missing: wgmax max-pool ";
    run(&[&chw, "--kernel", "1,3,3"], both, "f32[1, 1, 3, 6, 7]\n");
    run(&[&line, "--kernel", "3"], both, "f32[1, 1, 7]\n");
    run(&[&line, "--kernel", "3", "--layout", "nxc"], both, "f32[1, 7, 1]\n");
    let full = file("full.npy", &[1, 1, 4, 5, 6]);
    let one = |arguments: &[&str], word: &str| {
        refused(&[&["max-pool", &full, "--device", "cpu"], arguments].concat(), word);
    };
    one(&["--kernel", "3,3"], "for each of the axes, 4 x 5 x 6: --kernel 3,3,3");
    let strides = ["--kernel", "3", "--strides", "2,2"];
    one(&strides, "for each of the axes, 4 x 5 x 6: --strides 2,2,2");
    refused(
        &["max-pool", &full, "--kernel", "3,3", "--reshape", "5,5"],
        "--reshape 5,5: it has 25",
    );
    refused(&["reduce-max", &full, "--reshape", "5y5"], "give a shape");
    refused(&["explain", "max-pool", "8x9", "--kernel", "3"], "explain max-pool 1x8x9 --kernel 3");
    let shown = succeeds(&["explain", "max-pool", "8x9", "--kernel", "3,3"]);
    assert!(shown.starts_with("MaxPool: f32[1, 1, 8, 9] -> f32[1, 1, 6, 7]\n"), "{shown}");
}

#[test]
fn what_is_no_picture_is_refused() {
    let (_folder, at) = folder();
    let array = |name: &str, tensor: Tensor| {
        wgmax::io::write(&at(name), &tensor).unwrap();
        at(name)
    };
    let bytes = |shape: &[usize]| Tensor::from_slice(shape, &vec![1u8; shape.iter().product()]);
    let to = |input: &str, kernel: &str, output: &str, word: &str| {
        let output = at(output);
        refused(&["max-pool", input, "--kernel", kernel, "--device", "cpu", "-o", &output], word);
        assert!(!Path::new(&output).exists(), "{output}");
    };
    let (one, five) = (array("1.npy", bytes(&[4, 4, 3]).unwrap()), bytes(&[4, 4, 5]).unwrap());
    let floats = array("f.npy", Tensor::from_slice([4, 4], &[1f32; 16]).unwrap());
    to(&floats, "2,2", "y.png", "y.png: f32[3, 3] is no picture: samples are u8 or u16");
    let full = array("4.npy", bytes(&[1, 1, 4, 4]).unwrap());
    to(&full, "2,2", "y.png", "u8[1, 1, 3, 3] is no picture: the axes are [H, W] or [H, W, C]");
    to(&array("5.npy", five), "2,2", "y.png", "PNG has 1 to 4 channels");
    to(&one, "2,2", "y.pgm", "for PGM, which has one channel");
    to(&full, "2,2", "y.jpg", "pictures are FILE.png, FILE.pgm, FILE.ppm");
    let gray = array("g.npy", bytes(&[4, 4]).unwrap());
    to(&gray, "2,2", "y.ppm", "for PPM, which has three channels");
    to(&gray, "2,2", "none/y.png", "none");

    // Both outputs or none.
    let (y, i) = (at("y.png"), at("none/i.npy"));
    refused(&["max-pool", &gray, "--kernel", "2,2", "-o", &y, "--indices", &i], "none");
    let indices = at("i.png");
    refused(
        &["max-pool", &gray, "--kernel", "2,2", "-o", &y, "--indices", &indices],
        "i64[3, 3] is",
    );
    assert!(!Path::new(&y).exists());
    let mut files = fs::read_dir(at("")).unwrap().map(|file| file.unwrap().file_name());
    assert!(files.all(|name| !name.to_str().unwrap().starts_with('.')));

    let from = |name: &str, content: &[u8], word: &str| {
        fs::write(at(name), content).unwrap();
        refused(&["max-pool", &at(name), "--kernel", "2,2", "--device", "cpu"], word);
    };
    from("a.png", b"no picture", "a.png: not a valid picture file: it is neither PNG");
    from("b.png", b"\x89PNG\r\n\x1a\n\0\0\0", "b.png: not a valid picture file");
    from("c.pgm", b"P5\n4000000000 4000000000\n255\nab", "c.pgm: not a valid picture file: shape");
    from("c.pgm", b"P5\n1000000 1000000\n255\nab", "c.pgm: not a valid picture file: 25 bytes");
    from("d.pgm", b"P5\n4 4\n255\nab", "d.pgm: not a valid picture file");
    refused(&["max-pool", &at("no.png"), "--kernel", "2,2"], "no.png");
    DynamicImage::new_rgb8(4, 4).save(at("e.png")).unwrap();
    refused(&["max-pool", &at("e.png"), "--kernel", "2,2,2"], "such as --kernel 2,2");
    refused(&["max-pool", &at("e.png"), "--type", "f16", "--kernel", "2,2"], "the picture");
}

/// A picture on standard input is known by its content, and one number is for both its axes.
#[test]
fn pictures_come_from_standard_input() {
    let (_folder, at) = folder();
    let picture = DynamicImage::new_rgb8(5, 4);
    for name in ["p.png", "p.ppm"] {
        picture.save(at(name)).unwrap();
        let bytes = fs::read(at(name)).unwrap();
        for kernel in ["2", "2,2"] {
            let fixed = ["--kernel", kernel, "--device", "cpu"];
            let output = fed(&[&["max-pool", "-"], &fixed[..]].concat(), &bytes);
            assert!(output.status.success() && stderr(&output).is_empty(), "{output:?}");
            assert!(stdout(&output).starts_with("u8[3, 4, 3]\n"), "{output:?}");
            let shown = succeeds(&[&["max-pool", &at(name)], &fixed[..]].concat());
            assert_eq!(shown, stdout(&output));
        }
        let cut = fed(&["reduce-max", "-", "--device", "cpu"], &bytes[..12]);
        let error = stderr(&cut);
        assert!(error.starts_with("wgmax: standard input: not a valid picture file"), "{error}");
    }
}
