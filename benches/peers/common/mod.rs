//! What the programs have in common: they take one item and its inputs as files of bytes. They write
//! the answer as a file, which `run.py` checks, and one line of JSON.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use serde_json::{Value, json};

/// `--item JSON --folder DIR --copies N --seconds S`. The folder has `input0`, `input1`.
pub struct Job {
    pub item: Value,
    pub shape: Vec<usize>,
    pub dtype: String,
    pub copies: usize,
    folder: PathBuf,
    seconds: f64,
}

impl Job {
    pub fn from_arguments() -> anyhow::Result<Self> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let option = |name: &str| -> anyhow::Result<&String> {
            let at = arguments.iter().position(|argument| argument == name);
            at.and_then(|at| arguments.get(at + 1)).with_context(|| format!("{name} is missing"))
        };
        let item: Value = serde_json::from_str(option("--item")?)?;
        Ok(Self {
            shape: numbers(&item["shape"]),
            dtype: item["dtype"].as_str().context("dtype")?.to_string(),
            item,
            copies: option("--copies")?.parse()?,
            folder: option("--folder")?.into(),
            seconds: option("--seconds")?.parse()?,
        })
    }

    pub fn operator(&self) -> &str {
        self.item["op"].as_str().unwrap_or_default()
    }

    /// An attribute that is a list of sizes.
    pub fn sizes(&self, name: &str) -> Vec<usize> {
        numbers(&self.item["attrs"][name])
    }

    pub fn channels_last(&self) -> bool {
        self.item["attrs"]["layout"] == "NHWC"
    }

    pub fn indices(&self) -> bool {
        self.item["attrs"]["indices"] == true
    }

    pub fn input(&self, index: usize) -> anyhow::Result<Vec<u8>> {
        let path = self.folder.join(format!("input{index}"));
        std::fs::read(&path).with_context(|| path.display().to_string())
    }

    /// Calls `run` with the number of each copy in turn. Returns the seconds of each call after the first two.
    pub fn time(&self, mut run: impl FnMut(usize) -> anyhow::Result<()>) -> anyhow::Result<Vec<f64>> {
        let mut times = Vec::new();
        let start = Instant::now();
        for round in 0.. {
            let begun = Instant::now();
            run(round % self.copies)?;
            if round >= 2 {
                times.push(begun.elapsed().as_secs_f64());
            }
            let spent = start.elapsed().as_secs_f64();
            let enough = times.len() >= 9 && spent > self.seconds;
            if enough || (times.len() >= 3 && spent > 10.0 * self.seconds) {
                break;
            }
        }
        Ok(times)
    }

    pub fn finish(&self, how: &str, answer: &[u8], times: &[f64]) -> anyhow::Result<()> {
        std::fs::write(self.folder.join("answer"), answer)?;
        println!("{}", json!({ "how": how, "times": times }));
        Ok(())
    }
}

fn numbers(value: &Value) -> Vec<usize> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(|number| Some(number.as_u64()? as usize)).collect()
}
