//! Random cases on a GPU against the CPU kernels, one at a time, as `wgmax verify` runs them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::future_to_promise;
use wgmax::plan::Shader;
use wgmax_verify::{Case, Choice, Kind, Outcome, Report, Subject, json};

use crate::device::Device;
use crate::error::js;
use crate::object::{array, object};

/// The cases of a seed, on one device.
#[wasm_bindgen]
pub struct Sweep {
    shared: Rc<Shared>,
}

struct Shared {
    subject: Subject,
    /// The findings so far, and the same subject.
    report: RefCell<Report>,
    stopped: Cell<bool>,
}

#[wasm_bindgen]
impl Sweep {
    /// The cases of a seed, an integer of up to 53 bits, on a device.
    #[wasm_bindgen(constructor)]
    pub fn new(device: &Device, seed: f64) -> Sweep {
        let cpu = wgmax::Device::cpu();
        // The command does not open devices of a browser.
        let subject = || Subject { argument: None, ..Subject::new(device.inner.clone(), &cpu) };
        let choice = Choice { seed: seed as u64, ..Choice::default() };
        let report = Report {
            subjects: vec![subject()],
            refused: Vec::new(),
            sweep: wgmax_verify::Sweep::new(choice, 1),
            device: None,
            command: String::new(),
            system: String::new(),
            max_growth: None,
        };
        let (report, stopped) = (RefCell::new(report), Cell::new(false));
        Self { shared: Rc::new(Shared { subject: subject(), report, stopped }) }
    }

    /// The operators.
    pub fn operators() -> JsValue {
        array(Kind::ALL.map(Kind::name))
    }

    /// A promise of the outcome of a case: its `operator`, `type` and `verdict`, which is `"same"`,
    /// `"differs"` or `"failed"`; the `error` of a failed one, and whether it was the last; the
    /// `finding`, as JSON, of a case that differs and was examined.
    pub fn step(&self, index: u32) -> Promise {
        let shared = self.shared.clone();
        future_to_promise(async move { Ok(shared.step(index.into()).await) })
    }

    /// Ends the search for a smaller case.
    pub fn stop(&self) {
        self.shared.stopped.set(true);
    }

    /// The report as JSON, with the name of the browser, whether cases are left, and the time.
    pub fn certificate(&self, browser: String, cut_off: bool, seconds: f64) -> String {
        let mut report = self.shared.report.borrow_mut();
        report.command = format!("the page \"Verify\" in {browser}");
        report.system = browser;
        report.sweep.is_cut_off = cut_off;
        // The page runs the cases in the order of their numbers, until it is stopped.
        report.sweep.choice.cases = Some(report.sweep.cases);
        report.sweep.elapsed = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        json::object(&report).to_string()
    }
}

#[wasm_bindgen]
impl Device {
    /// The same device with a fault: one part of its shaders' texts is replaced by another. Tests
    /// check that it is detected.
    pub fn mistaken(&self, from: String, to: String) -> Device {
        let edit = move |_: &Shader, text: String| text.replace(&from, &to);
        Device { inner: self.inner.with_edited_shaders(edit) }
    }
}

impl Shared {
    async fn step(&self, index: u64) -> JsValue {
        let result = match self.outcome(index).await {
            Ok(outcome) => self.report.borrow_mut().sweep.scores[0].record(index, outcome),
            Err(error) => {
                self.report.borrow_mut().sweep.scores[0].fail(index, &error);
                Err(error)
            }
        };
        let mut report = self.report.borrow_mut();
        report.sweep.cases += 1;
        let verdict = match &result {
            Ok(true) => "same",
            Ok(false) => "differs",
            Err(_) => "failed",
        };
        let (kind, element_type) = Case::kind(index);
        object([
            ("operator", kind.name().into()),
            ("type", element_type.name().into()),
            ("verdict", verdict.into()),
            ("error", result.err().map_or(JsValue::UNDEFINED, js)),
            ("isLast", report.sweep.scores[0].given_up.is_some().into()),
            ("finding", self.finding(&report, index)),
        ])
    }

    async fn outcome(&self, index: u64) -> wgmax::Result<Outcome> {
        let fills = self.report.borrow().sweep.choice.fills(index)?;
        let mut goes_on = || !self.stopped.get();
        // The report is not borrowed while this waits.
        let outcome = {
            let report = self.report.borrow();
            report.sweep.scores[0].outcome(&self.subject, index, &fills, &mut goes_on)
        };
        Ok(outcome.await)
    }

    /// The last finding, if it belongs to this case, with the text of the shader that causes it.
    fn finding(&self, report: &Report, index: u64) -> JsValue {
        let last = report.sweep.scores[0].findings.last();
        let Some(finding) = last.filter(|finding| finding.index == index) else {
            return JsValue::UNDEFINED;
        };
        let mut value = json::finding(report, &self.subject, finding);
        if let Some(launch) = &finding.launch {
            value["launch"]["source"] = launch.shader.source().into();
        }
        value.to_string().into()
    }
}
