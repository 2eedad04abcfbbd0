//! `wgmax compare` of two files.

use std::path::Path;

use wgmax::Tensor;

use super::{folder, refused, stderr, stdout, succeeds, wgmax};

#[test]
fn files_are_compared_element_by_element() {
    let (_folder, at) = folder();
    let write = |name: &str, elements: &[f32]| {
        wgmax::io::write(&at(name), &Tensor::from_slice([2, 3], elements).unwrap()).unwrap();
        at(name)
    };
    let a = write("a.npy", &[1.0, 2.0, 0.0, f32::NAN, 5.0, 6.0]);
    let same = write("b.npz:b", &[1.0, 2.0, 0.0, f32::NAN, 5.0, 6.0]);
    assert_eq!(
        succeeds(&["compare", &a, &same]),
        format!("a: {a}\nb: {same}\nf32[2, 3]: 6 elements, all equal\n")
    );

    let differs = |arguments: &[&str], wanted: &[&str]| {
        let output = wgmax(&[&["compare"], arguments].concat());
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(stderr(&output).is_empty(), "{output:?}");
        for wanted in wanted {
            assert!(stdout(&output).contains(wanted), "{wanted}: {output:?}");
        }
    };
    // One step, the sign of zero, and another NaN.
    let other = f32::from_bits(0x7fc0_0001);
    let b = write("c.npy", &[1.0, 2.000_000_2, -0.0, other, 5.0, 6.0]);
    let cells = ["[0, 1]", "2.0000002", "0x40000001", "[0, 2]", "-0.0", "[1, 0]", "0x7fc00001"];
    differs(&[&a, &b], &cells);
    differs(&[&a, &b], &["f32[2, 3]: 3 of 6 elements differ (50.000%), at most 1 ulp apart"]);
    differs(&[&a, &b, "--values"], &["1 of 6 elements differs"]);
    let b = write("d.npy", &[1.0, 2.0, -0.0, other, 5.0, 6.0]);
    assert!(succeeds(&["compare", "--values", &a, &b]).ends_with("6 elements, all equal\n"));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let (_folder, at) = folder();
    let (x, y) = (at("x.npy"), at("y.npy"));
    wgmax::io::write(&y, &Tensor::from_slice([3, 2], &[0f32; 6]).unwrap()).unwrap();
    refused(&["compare", &x, &y], "f32[2, 3]");
    refused(&["compare", &x, &at("none.npy")], "none.npy");
    refused(&["compare", &x], "<B>");
    refused(&["compare"], "<A>");
    refused(&["compare", &x, &x, &x], "cannot be used with");
    refused(&["compare", "maxpool", &x, "--kernel", "3,3"], "'max-pool'");
    refused(&["compare", &x, &x, "--heatmap", &at("diff.npy")], "FILE.png");
    refused(&["compare", &x, &x, "--heatmap", &at("none/diff.png")], "none");
    refused(&["explain"], "a subcommand or an argument is missing");
    let empty = at("empty.npy");
    wgmax::io::write(&empty, &Tensor::from_slice([0, 2], &[0f32; 0]).unwrap()).unwrap();
    // Empty tensors are equal, and have no picture.
    let output = wgmax(&["compare", &empty, &empty, "--heatmap", &at("diff.png")]);
    assert!(output.status.success() && stdout(&output).contains("all equal"), "{output:?}");
    let remark = "diff.png: not written, because f32[0, 2] has no elements\n";
    assert!(stderr(&output).ends_with(remark), "{output:?}");
    assert!(!Path::new(&at("diff.png")).exists());
}

/// For integers the difference is printed, not ulps.
#[test]
fn integers_are_so_much_apart() {
    let (_folder, at) = folder();
    let write = |name: &str, element: u8| {
        wgmax::io::write(&at(name), &Tensor::from_slice([2], &[7, element]).unwrap()).unwrap();
        at(name)
    };
    let output = wgmax(&["compare", &write("a.npy", 7), &write("b.npy", 200)]);
    let shown = stdout(&output);
    assert!(shown.contains("at most 193 apart\n") && !shown.contains("ulp"), "{shown}");
}

/// The picture has colour where elements differ, and only there. Its tiles are the planes.
#[test]
fn a_heatmap_shows_where() {
    let (_folder, at) = folder();
    let mut elements = vec![7u8; 4 * 100 * 50];
    let (a, b, diff) = (at("a.npy"), at("b.npy"), at("diff.png"));
    let write = |path: &str, elements: &[u8]| {
        wgmax::io::write(path, &Tensor::from_slice([4, 100, 50], elements).unwrap()).unwrap();
    };
    write(&a, &elements);
    // The last plane's rows 10 to 19, columns 20 to 29.
    for (row, column) in (10..20).flat_map(|row| (20..30).map(move |column| (row, column))) {
        elements[(3 * 100 + row) * 50 + column] = 200;
    }
    write(&b, &elements);
    let output = wgmax(&["compare", &a, &b, "--heatmap", &diff]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let picture = image::open(&diff).unwrap().into_rgb8();
    // Four tiles across, gaps of two pixels, five pixels an element, and a line below.
    assert_eq!((picture.width(), picture.height()), (4 * 252 - 2, 500 + 35));
    for (x, y, pixel) in picture.enumerate_pixels().filter(|(_, y, _)| *y < 500) {
        let is_red = i32::from(pixel[0]) > i32::from(pixel[2]) + 20;
        let wanted = (3 * 252 + 100..3 * 252 + 150).contains(&x) && (50..100).contains(&y);
        assert_eq!(is_red, wanted, "{x} {y} {pixel:?}");
    }
    // Pictures are compared, too. Their places are drawn.
    assert!(succeeds(&["compare", &diff, &diff, "--heatmap", &at("own.png")]).contains("equal"));
    assert_eq!(image::image_dimensions(at("own.png")).unwrap(), (3 * 384, 3 * 204 + 35));
    assert!(succeeds(&["compare", &diff, &diff]).contains("u8[535, 1006, 3]: 1614630 elements"));
    // The picture never replaces a file that is compared.
    let before = std::fs::read(&diff).unwrap();
    refused(&["compare", &diff, &diff, "--heatmap", &diff], "a file that is read");
    assert!(std::fs::read(&diff).unwrap() == before);
}
