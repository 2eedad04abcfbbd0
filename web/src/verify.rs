//! Random cases on a GPU against the CPU kernels, one at a time, as `wgmax verify` runs them.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::future_to_promise;
use wgmax::operator::Operator;
use wgmax::plan::{Plan, Shader};
use wgmax::{ElementType, Tensor, compare};
use wgmax_verify::{Case, Kind, shrink_async};

use crate::device::Device;
use crate::error::js;
use crate::host::{HostTensor, comparison};
use crate::object::{array, object};

/// The maximum number of runs to make a case smaller.
const MAX_TRIES: usize = 500;

/// The cases of a seed, on one device.
#[wasm_bindgen]
pub struct Sweep {
    shared: Rc<Shared>,
}

struct Shared {
    device: wgmax::Device,
    cpu: wgmax::Device,
    seed: u64,
    stopped: Cell<bool>,
    /// What was launched.
    shaders: RefCell<HashSet<Shader>>,
    /// The cases that launched a kernel, for the element type of their data.
    launched: RefCell<BTreeMap<(&'static str, ElementType), u32>>,
}

/// Results that are not as expected.
#[derive(Clone)]
struct Difference {
    case: Case,
    expected: Vec<Tensor>,
    actual: Vec<Tensor>,
}

#[wasm_bindgen]
impl Sweep {
    /// The cases of a seed, an integer of up to 53 bits, on a device.
    #[wasm_bindgen(constructor)]
    pub fn new(device: &Device, seed: f64) -> Sweep {
        let shared = Shared {
            device: device.inner.clone(),
            cpu: wgmax::Device::cpu(),
            seed: seed as u64,
            stopped: Cell::new(false),
            shaders: RefCell::default(),
            launched: RefCell::default(),
        };
        Self { shared: Rc::new(shared) }
    }

    /// The operators.
    pub fn operators() -> JsValue {
        array(Kind::ALL.map(Kind::name))
    }

    /// The operator and the element type of a case.
    pub fn kind(index: u32) -> JsValue {
        let (kind, element_type) = Case::kind(index.into());
        array([kind.name(), element_type.name()])
    }

    /// A promise of the outcome of a case: its `verdict`, `"same"`, `"differs"` or `"failed"`; the
    /// `error` of one that failed, and the `finding` of one that differs, if it is wanted.
    pub fn step(&self, index: u32, wants_finding: bool) -> Promise {
        let shared = self.shared.clone();
        future_to_promise(async move { Ok(shared.step(index.into(), wants_finding).await) })
    }

    /// Ends the search for a smaller case.
    pub fn stop(&self) {
        self.shared.stopped.set(true);
    }

    /// For each kernel the cases that launched it, for each element type, and what identifies the
    /// texts that ran: as in the report of `wgmax verify`.
    pub fn kernels(&self) -> JsValue {
        let (launched, shaders) = (self.shared.launched.borrow(), self.shared.shaders.borrow());
        let names = wgmax::operator::kernels().into_iter().map(|kernel| kernel.name());
        let known: HashSet<&str> = Kind::ALL
            .into_iter()
            .flat_map(Kind::kernels)
            .chain(launched.keys().map(|key| key.0))
            .collect();
        array(names.filter(|name| known.contains(name)).map(|name| {
            let mut texts: Vec<String> =
                shaders.iter().filter(|s| s.kernel.name() == name).map(Shader::source).collect();
            texts.sort_unstable();
            texts.dedup();
            let mut crc = crc32fast::Hasher::new();
            for text in &texts {
                crc.update(text.as_bytes());
                crc.update(&[0]);
            }
            let own = launched.iter().filter(|((kernel, _), _)| *kernel == name);
            let cases = own.map(|((_, t), &cases)| array([JsValue::from(t.name()), cases.into()]));
            object([
                ("kernel", name.into()),
                ("cases", array(cases)),
                ("texts", (texts.len() as u32).into()),
                ("crc32", format!("{:08x}", crc.finalize()).into()),
            ])
        }))
    }
}

#[wasm_bindgen]
impl Device {
    /// The same device with a mistake: in the texts of its shaders one thing stands for another.
    /// Tests see that it is found.
    pub fn mistaken(&self, from: String, to: String) -> Device {
        let edit = move |_: &Shader, text: String| text.replace(&from, &to);
        Device { inner: self.inner.with_edited_shaders(edit) }
    }
}

impl Shared {
    async fn step(&self, index: u64, wants_finding: bool) -> JsValue {
        let (kind, element_type) = Case::kind(index);
        let (verdict, detail) = match self.fills(index).await {
            Ok(None) => ("same", JsValue::UNDEFINED),
            Ok(Some(found)) if wants_finding => ("differs", self.finding(found).await),
            Ok(Some(_)) => ("differs", JsValue::UNDEFINED),
            Err(error) => ("failed", js(error)),
        };
        object([
            ("case", (index as f64).into()),
            ("operator", kind.name().into()),
            ("type", element_type.name().into()),
            ("verdict", verdict.into()),
            (if verdict == "failed" { "error" } else { "finding" }, detail),
        ])
    }

    /// Runs the fills of a case until one differs.
    async fn fills(&self, index: u64) -> wgmax::Result<Option<Difference>> {
        let fills = Case::fills(self.seed, index)?;
        let mut kernels = BTreeSet::new();
        let mut found = None;
        // Fills with the same limits have one plan.
        for fills in fills.chunk_by(|a, b| a.narrow == b.narrow) {
            let plan = fills[0].plan(&self.device)?;
            kernels.extend(plan.shaders().map(|shader| shader.kernel.name()));
            self.shaders.borrow_mut().extend(plan.shaders().copied());
            for case in fills {
                found = found.or(self.judge(case, &plan).await?);
            }
            if found.is_some() {
                break;
            }
        }
        let (_, element_type) = Case::kind(index);
        let mut launched = self.launched.borrow_mut();
        for kernel in kernels {
            *launched.entry((kernel, element_type)).or_default() += 1;
        }
        Ok(found)
    }

    async fn judge(&self, case: &Case, plan: &Plan) -> wgmax::Result<Option<Difference>> {
        let expected = case.execute(&self.cpu, &case.own_plan(&self.cpu)?)?;
        let actual = case.execute_async(&self.device, plan).await?;
        let differs = !are_equal(&expected, &actual);
        Ok(differs.then(|| Difference { case: case.clone(), expected, actual }))
    }

    /// A difference, examined: the smallest case like it, and the launch that is to blame.
    async fn finding(&self, found: Difference) -> JsValue {
        let small = RefCell::new(found.clone());
        let differs = async |case: &Case| {
            let judged = match case.plan(&self.device) {
                Ok(plan) if !self.stopped.get() => self.judge(case, &plan).await,
                _ => return false,
            };
            let Ok(Some(difference)) = judged else { return false };
            *small.borrow_mut() = difference;
            true
        };
        let again = differs(&found.case).await;
        if again {
            // It returns the last case for which `differs` was true, which is `small`.
            shrink_async(&found.case, MAX_TRIES, differs).await;
        }
        let small = small.into_inner();
        let oracle = small.case.expected().ok().map(|oracle| match () {
            () if are_equal(&oracle, &small.expected) => "expected",
            () if are_equal(&oracle, &small.actual) => "actual",
            () => "neither",
        });
        let launch = if again { self.differing_launch(&small.case).await.ok() } else { None };
        object([
            ("found", found.object()),
            ("smallest", small.object()),
            ("again", again.into()),
            ("oracle", oracle.map_or(JsValue::NULL, JsValue::from)),
            ("launch", launch.flatten().unwrap_or(JsValue::NULL)),
        ])
    }

    /// The first launch after which the device's buffers differ from the CPU's.
    async fn differing_launch(&self, case: &Case) -> wgmax::Result<Option<JsValue>> {
        let plan = case.plan(&self.device)?;
        let (mut expected, mut actual) = (Vec::new(), Vec::new());
        for (device, written) in [(&self.cpu, &mut expected), (&self.device, &mut actual)] {
            let inputs = case.upload_async(device, &plan).await?;
            let inputs: Vec<_> = inputs.iter().collect();
            let after = |launch: usize, bytes: &[u8]| written.push((launch, bytes.to_vec()));
            device.execute_traced_async(&plan, &inputs, after).await?;
        }
        // `zip` leaves out the padding that only one side has.
        let mut pairs = expected.iter().zip(&actual);
        let differing = pairs.find(|(a, b)| a.1.iter().zip(&b.1).any(|(a, b)| a != b));
        let number = differing.map(|((number, _), _)| *number);
        Ok(number.and_then(|number| Some((number, plan.launches().get(number)?))).map(
            |(number, launch)| {
                object([
                    ("shader", launch.shader().label().into()),
                    ("number", (number as u32 + 1).into()),
                    ("of", (plan.launches().len() as u32).into()),
                    ("source", launch.shader().source().into()),
                ])
            },
        ))
    }
}

impl Difference {
    fn object(&self) -> JsValue {
        let inputs = self.case.tensors.iter().map(|tensor| {
            object([
                ("type", tensor.desc().to_string().into()),
                ("tensor", HostTensor(tensor.clone()).into()),
            ])
        });
        let pairs = self.actual.iter().zip(&self.expected).enumerate();
        let results = pairs.filter_map(|(number, (actual, expected))| {
            let compared = compare(actual, expected).ok();
            let differs = compared.as_ref().is_none_or(|compared| !compared.is_equal());
            differs.then(|| {
                object([
                    ("result", self.name(number).into()),
                    ("type", expected.desc().to_string().into()),
                    ("comparison", compared.as_ref().map_or(JsValue::NULL, comparison)),
                ])
            })
        });
        object([
            ("what", self.case.to_string().into()),
            ("inputs", array(inputs)),
            ("results", array(results)),
        ])
    }

    /// The name of a result.
    fn name(&self, result: usize) -> &'static str {
        let has_status = matches!(&self.case.operator, Operator::SegmentMax(op) if op.get_status());
        match result {
            _ if has_status && result + 1 == self.actual.len() => "status",
            0 => "values",
            _ => "indices",
        }
    }
}

/// Whether results have the same types, shapes and bits.
fn are_equal(expected: &[Tensor], actual: &[Tensor]) -> bool {
    let same = |(a, b): (&Tensor, &Tensor)| compare(b, a).is_ok_and(|report| report.is_equal());
    expected.len() == actual.len() && expected.iter().zip(actual).all(same)
}
