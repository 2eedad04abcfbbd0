//! Prepares an operator, or a chain of operators, for recording into a caller's command encoders.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::Device;
use crate::base::error::{Error, Result};
use crate::device::waiting::block_on_gpu;
use crate::exec::gpu::Prepared;
use crate::operator::{Link, Operator};
use crate::plan::{Limits, Plan, Step};
use crate::tensor::{Inputs, Outputs, TensorDesc, View};
use crate::tuning::Tuning;

impl Device {
    /// Plans and compiles an operator for inputs of these types and shapes. The result can be recorded
    /// into the caller's command encoders. Recording compiles nothing: all pipelines are compiled here,
    /// on all cores, both for separate buffers and for inputs and results in one buffer. For other
    /// shapes, prepare again: the device reuses its pipelines.
    ///
    /// ```no_run
    /// # use wgmax::wgpu::{self, Buffer, Queue};
    /// # fn program(device: &wgpu::Device, queue: &Queue, input: &Buffer, output: &Buffer)
    /// # -> wgmax::Result<()> {
    /// use wgmax::operator::ReduceMax;
    /// use wgmax::{Device, ElementType, TensorDesc};
    ///
    /// let matrix = TensorDesc::new(ElementType::F32, [1000, 64])?;
    /// let operator = ReduceMax::new().axes([1]);
    /// let rows = Device::from_wgpu(device, queue)?.prepare(&operator, &matrix)?;
    ///
    /// let mut encoder = device.create_command_encoder(&Default::default());
    /// rows.record(&mut encoder).input(input).output(output).finish()?;
    /// queue.submit([encoder.finish()]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// An input is a [`TensorDesc`], or a [`View`] if its elements are not contiguous. The order of
    /// axes in memory does not matter. Data with gaps only between rows is read in place, if a binding
    /// holds what a launch reads. Any other view, and any view of segment ids, is first copied to scratch,
    /// by several launches if a binding cannot hold the view.
    ///
    /// # Errors
    /// As [`Operator::plan_views`], [`Error::CannotRecord`] on the CPU, and errors of the device.
    pub fn prepare(
        &self,
        operator: impl Into<Operator>,
        inputs: impl Inputs<View>,
    ) -> Result<Prepared> {
        self.block_on(self.prepare_async(operator, inputs))
    }

    /// As [`Device::prepare`], without blocking on the GPU. Before the future first waits, it compiles the
    /// pipelines that the device does not have yet: a single one on this thread, several on all cores.
    /// That takes 10 to 100 ms. If this blocks an executor for too long, call [`Device::prepare`] on
    /// another thread.
    ///
    /// # Errors
    /// As [`Device::prepare`].
    pub async fn prepare_async(
        &self,
        operator: impl Into<Operator>,
        inputs: impl Inputs<View>,
    ) -> Result<Prepared> {
        self.prepare_into_async(operator, inputs, &[]).await
    }

    /// As [`Device::prepare`], for results with these views. A result is computed in scratch and
    /// then unpacked; the memory between its elements does not change.
    ///
    /// # Errors
    /// As [`Device::prepare`].
    pub fn prepare_into(
        &self,
        operator: impl Into<Operator>,
        inputs: impl Inputs<View>,
        results: &[View],
    ) -> Result<Prepared> {
        self.block_on(self.prepare_into_async(operator, inputs, results))
    }

    /// As [`Device::prepare_into`], without blocking on the GPU: see [`Device::prepare_async`].
    ///
    /// # Errors
    /// As [`Device::prepare`].
    pub async fn prepare_into_async(
        &self,
        operator: impl Into<Operator>,
        inputs: impl Inputs<View>,
        results: &[View],
    ) -> Result<Prepared> {
        let Some(gpu) = self.gpu_backend() else { return Err(Error::CannotRecord) };
        let operator: Operator = operator.into();
        let label = format!("wgmax {}", operator.name());
        let plan = plan_of(self, &operator, &inputs.into_inputs(), results)?;
        let device = self.clone();
        let replan = move |inputs: &[View]| plan_of(&device, &operator, inputs, &[]);
        gpu.prepare(plan, &label, Box::new(replan)).await
    }

    /// As [`Device::prepare`], for inputs whose number of rows (the size of their first axis) is known
    /// only to the GPU, and only when it runs. `inputs` have the largest number. Plans are made for it
    /// and for each of `sizes`. The GPU reads the number from [`Record::size`](crate::Record::size) and
    /// runs, by indirect dispatches, the plan of the smallest size that is large enough. Sizes that
    /// grow by factors of 2 or 4 bound the wasted work.
    ///
    /// - ReduceMax that keeps the first axis, and MaxPool: results have the same number of rows; rows after
    ///   them are unspecified.
    /// - SegmentMax with ids: the number counts rows of data, and ids. Ids after them, up to the next size, must
    ///   name no segment, such as `i32::MAX`. Offsets need no sizes: they already say which rows count.
    ///
    /// The number 0 runs the plan of the smallest size, so rows are written. A number above the
    /// largest size counts as the largest. The order of `sizes` does not matter.
    ///
    /// ```no_run
    /// # use wgmax::{Device, ElementType, TensorDesc, wgpu::{Buffer, CommandEncoder}};
    /// # fn program(device: &Device, encoder: &mut CommandEncoder, points: &Buffer, count: &Buffer, result: &Buffer)
    /// # -> wgmax::Result<()> {
    /// use wgmax::operator::ReduceMax;
    ///
    /// let largest = TensorDesc::new(ElementType::F32, [1 << 20, 3])?;
    /// let rows = ReduceMax::new().axes([1]);
    /// let prepared = device.prepare_sizes(rows, &largest, &[1 << 12, 1 << 14, 1 << 16, 1 << 18])?;
    /// prepared.record(encoder).input(points).size(count).output(result).finish()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Device::prepare`], and [`Error::NoSizes`] for other operators.
    pub fn prepare_sizes(
        &self,
        operator: impl Into<Operator>,
        inputs: impl Inputs<View>,
        sizes: &[usize],
    ) -> Result<Prepared> {
        self.block_on(self.prepare_sizes_async(operator, inputs, sizes))
    }

    /// As [`Device::prepare_sizes`], without blocking on the GPU: see [`Device::prepare_async`].
    ///
    /// # Errors
    /// As [`Device::prepare_sizes`].
    pub async fn prepare_sizes_async(
        &self,
        operator: impl Into<Operator>,
        inputs: impl Inputs<View>,
        sizes: &[usize],
    ) -> Result<Prepared> {
        let (operator, inputs) = (operator.into(), inputs.into_inputs());
        let prepared = self.prepare_async(&operator, inputs.clone()).await?;
        let with_rows = operator.inputs_with_rows(inputs[0].desc())?;
        let largest = inputs[0].desc().shape()[0];
        let mut sizes = sizes.to_vec();
        sizes.retain(|&size| size > 0 && size < largest);
        sizes.sort_unstable();
        sizes.dedup();
        let plans = sizes.into_iter().map(|size| {
            let mut inputs = inputs.clone();
            for input in &mut inputs[..with_rows] {
                *input = input.slice(0, 0..size)?;
            }
            Ok((u32::try_from(size).unwrap_or(u32::MAX), plan_of(self, &operator, &inputs, &[])?))
        });
        let plans = plans.collect::<Result<Vec<_>>>()?;
        prepared.with_smaller(plans, u32::try_from(largest).unwrap_or(u32::MAX)).await
    }

    /// Begins a chain of operators that are prepared as one.
    pub fn prepare_chain(&self) -> PrepareChain {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        PrepareChain {
            device: self.clone(),
            graph: Graph::default(),
            descs: Vec::new(),
            number: COUNT.fetch_add(1, Relaxed),
        }
    }
}

/// The plan of an operator for views.
fn plan_of(device: &Device, op: &Operator, inputs: &[View], results: &[View]) -> Result<Plan> {
    let inputs: Vec<&View> = inputs.iter().collect();
    device.plan_views(op, &inputs, &results.iter().collect::<Vec<_>>())
}

/// Several operators that are prepared as one [`Prepared`]: each takes inputs of the chain, or results
/// of earlier operators. Intermediate tensors are in shared scratch.
///
/// ```no_run
/// # use wgmax::{Device, ElementType, TensorDesc, wgpu::{Buffer, CommandEncoder}};
/// # fn program(device: &Device, encoder: &mut CommandEncoder, picture: &Buffer, half: &Buffer, largest: &Buffer)
/// # -> wgmax::Result<()> {
/// use wgmax::operator::{MaxPool, ReduceMax};
///
/// // Half a picture in each direction, and its largest value.
/// let mut chain = device.prepare_chain();
/// let input = chain.input(TensorDesc::new(ElementType::F32, [1, 1, 1080, 1920])?);
/// let pooled = chain.add(MaxPool::new([2, 2]).strides([2, 2]), input)?;
/// let maximum = chain.add(ReduceMax::new(), pooled[0])?;
/// chain.output(pooled[0])?;
/// chain.output(maximum[0])?;
/// let prepared = chain.prepare()?;
///
/// // Each frame:
/// prepared.record(encoder).input(picture).output(half).output(largest).finish()?;
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is prepared before `prepare`"]
pub struct PrepareChain {
    device: Device,
    graph: Graph,
    /// The type and shape of each tensor.
    descs: Vec<TensorDesc>,
    number: usize,
}

/// A tensor of a [`PrepareChain`]: an input, or a result of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    chain: usize,
    tensor: Tensor,
}

/// The number of a tensor among the inputs, or among the results of all operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Tensor {
    Input(usize),
    Made(usize),
}

/// The description of a chain, from which it is planned.
#[derive(Clone, Default)]
struct Graph {
    inputs: Vec<View>,
    /// The operators with their inputs.
    steps: Vec<(Operator, Vec<Tensor>)>,
    /// The results of the chain, by their numbers among the results of all operators.
    results: Vec<(usize, View)>,
}

impl PrepareChain {
    /// Adds an input of the chain: a [`TensorDesc`], or a [`View`] if its elements are not
    /// contiguous. Recordings take inputs in this order.
    pub fn input(&mut self, input: impl Into<View>) -> Slot {
        self.graph.inputs.push(input.into());
        Slot { chain: self.number, tensor: Tensor::Input(self.graph.inputs.len() - 1) }
    }

    /// Adds an operator, and returns its results.
    ///
    /// # Errors
    /// As [`Operator::infer`]; [`Error::WrongSlot`] for a tensor of another chain.
    pub fn add(
        &mut self,
        operator: impl Into<Operator>,
        inputs: impl Inputs<Slot>,
    ) -> Result<Outputs<Slot>> {
        let operator = operator.into();
        let inputs = inputs.into_inputs().into_iter().map(|slot| self.tensor(slot));
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let descs: Vec<&TensorDesc> = inputs.iter().map(|&tensor| self.desc(tensor)).collect();
        let outputs = operator.infer(descs)?;
        let slots =
            (self.descs.len()..).map(|i| Slot { chain: self.number, tensor: Tensor::Made(i) });
        let slots = outputs.with(slots.take(outputs.len()).collect());
        self.descs.extend(outputs);
        self.graph.steps.push((operator, inputs));
        Ok(slots)
    }

    /// Makes a tensor the next result of the chain. Other tensors stay in scratch.
    /// [`Prepared::outputs`] has the results in the order of these calls, without names.
    ///
    /// # Errors
    /// As [`PrepareChain::output_as`].
    pub fn output(&mut self, slot: Slot) -> Result<()> {
        let view = self.desc(self.tensor(slot)?).into();
        self.output_as(slot, view)
    }

    /// As [`PrepareChain::output`], for a result with this view.
    ///
    /// # Errors
    /// [`Error::WrongSlot`] for an input, a tensor of another chain, and a tensor that already is a
    /// result; [`Error::WrongResult`] for a view of another type or shape; [`Error::BadView`] for a
    /// view with two elements at one address.
    pub fn output_as(&mut self, slot: Slot, view: View) -> Result<()> {
        let wrong = |reason| Err(Error::WrongSlot { reason });
        let tensor = self.tensor(slot)?;
        let Tensor::Made(number) = tensor else { return wrong("an input cannot be a result") };
        if self.graph.results.iter().any(|(made, _)| *made == number) {
            return wrong("it already is a result");
        }
        let (position, desc) = (self.graph.results.len(), self.desc(tensor));
        crate::plan::check_result(position, desc, &view)?;
        self.graph.results.push((number, view));
        Ok(())
    }

    /// The launches that compute the chain within a device's limits. `tuning` chooses fast ones.
    ///
    /// # Errors
    /// As [`Operator::plan`].
    pub fn plan(&self, limits: &Limits, tuning: &Tuning) -> Result<Plan> {
        self.graph.plan(&self.graph.inputs, true, limits, tuning)
    }

    /// Plans and compiles the chain.
    ///
    /// # Errors
    /// As [`Device::prepare`].
    pub fn prepare(self) -> Result<Prepared> {
        block_on_gpu(self.prepare_async())
    }

    /// As [`PrepareChain::prepare`], without blocking on the GPU: see [`Device::prepare_async`].
    ///
    /// # Errors
    /// As [`Device::prepare`].
    pub async fn prepare_async(self) -> Result<Prepared> {
        let Self { device, graph, .. } = self;
        let Some(gpu) = device.gpu_backend().cloned() else { return Err(Error::CannotRecord) };
        let (limits, tuning) = (device.info().limits.clone(), device.tuning().clone());
        let plan = graph.plan(&graph.inputs, true, &limits, &tuning)?;
        let replan = move |inputs: &[View]| graph.plan(inputs, false, &limits, &tuning);
        gpu.prepare(plan, "wgmax chain", Box::new(replan)).await
    }

    fn tensor(&self, slot: Slot) -> Result<Tensor> {
        match slot.chain == self.number {
            true => Ok(slot.tensor),
            false => Err(Error::WrongSlot { reason: "it belongs to another chain" }),
        }
    }

    fn desc(&self, tensor: Tensor) -> &TensorDesc {
        match tensor {
            Tensor::Input(i) => self.graph.inputs[i].desc(),
            Tensor::Made(i) => &self.descs[i],
        }
    }
}

impl Graph {
    /// The plan for inputs with these views. `placed`: whether results have their requested views;
    /// otherwise they are contiguous.
    ///
    /// # Errors
    /// [`Error::InputCount`], and as [`Operator::plan_views`].
    fn plan(
        &self,
        inputs: &[View],
        placed: bool,
        limits: &Limits,
        tuning: &Tuning,
    ) -> Result<Plan> {
        if inputs.len() != self.inputs.len() {
            let (expected, actual) = (self.inputs.len(), inputs.len());
            return Err(Error::input_count("the chain", expected, actual));
        }
        let (mut made, mut firsts): (Vec<View>, Vec<usize>) = (Vec::new(), Vec::new());
        for (operator, tensors) in &self.steps {
            let taken = tensors.iter().map(|&tensor| view(tensor, inputs, &made).desc());
            let outputs = operator.infer(taken.collect::<Vec<_>>())?;
            let place = |(i, desc): (usize, &TensorDesc)| {
                let mut results = self.results.iter().filter(|_| placed);
                let given = results.find(|(number, _)| *number == made.len() + i);
                given.map_or_else(|| desc.into(), |(_, view)| view.clone())
            };
            let results: Vec<View> = outputs.iter().enumerate().map(place).collect();
            firsts.push(made.len());
            made.extend(results);
        }
        let number = |tensor: &Tensor| match *tensor {
            Tensor::Input(i) => i,
            Tensor::Made(i) => inputs.len() + i,
        };
        let mut steps = Vec::new();
        let mut planned = vec![false; self.steps.len()];
        for (at, (operator, tensors)) in self.steps.iter().enumerate() {
            if planned[at] {
                continue;
            }
            let sequence = self.sequence(at, &firsts);
            let links = sequence.iter().enumerate().map(|(i, &step)| Link {
                operator: &self.steps[step].0,
                input: view(self.steps[step].1[0], inputs, &made),
                result: &made[firsts[step]],
                is_read: self.is_read(firsts[step], sequence.get(i + 1)),
            });
            let together = Operator::plan_together(&links.collect::<Vec<_>>(), limits, tuning)?;
            let (plan, outputs) = match together {
                Some((plan, results)) => {
                    let last = results.last().map_or(0, |last| last + 1);
                    sequence[..last].iter().for_each(|&step| planned[step] = true);
                    (plan, results.iter().map(|&i| inputs.len() + firsts[sequence[i]]).collect())
                }
                None => {
                    let taken = tensors.iter().map(|&tensor| view(tensor, inputs, &made));
                    let taken: Vec<&View> = taken.collect();
                    let end = firsts.get(at + 1).map_or(made.len(), |end| *end);
                    let results: Vec<&View> = made[firsts[at]..end].iter().collect();
                    let plan = operator.plan_views(&taken, &results, limits, tuning)?;
                    (plan, (firsts[at]..end).map(|i| inputs.len() + i).collect())
                }
            };
            steps.push(Step { plan, inputs: tensors.iter().map(number).collect(), outputs });
        }
        let results = self.results.iter().map(|&(i, _)| (inputs.len() + i, made[i].clone()));
        Ok(Plan::chain(inputs.to_vec(), steps, &results.collect::<Vec<_>>()))
    }

    /// Step `first` and later steps. Each may be computed together with the step before it in this list.
    fn sequence(&self, first: usize, firsts: &[usize]) -> Vec<usize> {
        let mut sequence = vec![first];
        for (at, (operator, tensors)) in self.steps.iter().enumerate().skip(first + 1) {
            let last = sequence[sequence.len() - 1];
            let takes = tensors[..] == [Tensor::Made(firsts[last])];
            if takes && self.steps[last].0.may_lead_to(operator) {
                sequence.push(at);
            }
        }
        sequence
    }

    /// Whether a tensor is a result of the chain, or a step other than `by` takes it.
    fn is_read(&self, made: usize, by: Option<&usize>) -> bool {
        let mut steps = self.steps.iter().enumerate().filter(|(at, _)| Some(at) != by);
        self.results.iter().any(|(result, _)| *result == made)
            || steps.any(|(_, (_, tensors))| tensors.contains(&Tensor::Made(made)))
    }
}

/// The layout of a tensor.
fn view<'a>(tensor: Tensor, inputs: &'a [View], made: &'a [View]) -> &'a View {
    match tensor {
        Tensor::Input(i) => &inputs[i],
        Tensor::Made(i) => &made[i],
    }
}

impl Inputs<Slot> for Slot {
    fn into_inputs(self) -> Vec<Slot> {
        vec![self]
    }
}

impl fmt::Debug for PrepareChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.graph.steps.iter().map(|(operator, _)| operator.name());
        write!(
            f,
            "PrepareChain({} on {})",
            names.collect::<Vec<_>>().join(", "),
            self.device.info()
        )
    }
}

impl Prepared {
    /// Plans again for inputs of other shapes or views. Results are contiguous, and sizes of
    /// [`Device::prepare_sizes`] are dropped. Pipelines and sufficiently large scratch are kept, so
    /// without new pipelines this takes about as long as planning. Earlier recordings do not
    /// change.
    ///
    /// # Errors
    /// As [`Device::prepare`]. After an error nothing has changed.
    pub fn resize(&mut self, inputs: impl Inputs<View>) -> Result<()> {
        block_on_gpu(self.resize_async(inputs))
    }

    /// As [`Prepared::resize`], without blocking on the GPU: see [`Device::prepare_async`].
    ///
    /// # Errors
    /// As [`Prepared::resize`].
    pub async fn resize_async(&mut self, inputs: impl Inputs<View>) -> Result<()> {
        self.resized(&inputs.into_inputs()).await
    }

    /// Runs the operator once on temporary buffers of zeros, and waits for it. Some drivers compile a
    /// pipeline only at its first run; this call forces that.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`], [`Error::Gpu`]; [`Error::WouldBlock`] in a
    /// browser.
    pub fn warm_up(&self) -> Result<()> {
        block_on_gpu(self.warm(true))
    }

    /// As [`Prepared::warm_up`], without blocking.
    ///
    /// # Errors
    /// As [`Prepared::warm_up`].
    pub async fn warm_up_async(&self) -> Result<()> {
        self.warm(false).await
    }
}
