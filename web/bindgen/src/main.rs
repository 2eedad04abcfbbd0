//! `wgmax-bindgen FILE.wasm FOLDER NAME`: makes `NAME.js` and `NAME_bg.wasm`, an ES module.

use wasm_bindgen_cli_support::Bindgen;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, folder, name] = &arguments[..] else {
        anyhow::bail!("usage: wgmax-bindgen FILE.wasm FOLDER NAME");
    };
    let mut bindgen = Bindgen::new();
    bindgen.web(true)?.input_path(input).out_name(name).typescript(false);
    bindgen.remove_name_section(true).remove_producers_section(true);
    bindgen.generate(folder)
}
