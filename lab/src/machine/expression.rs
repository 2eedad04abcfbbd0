//! Expressions: values of all invocations, and pointers to variables.

use anyhow::{Context, Result, bail, ensure};
use wgmax::wgpu::naga::{AddressSpace, Expression, GlobalVariable, Handle, ScalarKind, TypeInner};

use super::arithmetic::Warps;
use super::layout::{Packing, member, member_offset, scalars, stride, type_of};
use super::memory::Act;
use super::shade::Shades;
use super::shading::{either, merge_shades};
use super::statement::merge;
use super::timing::is_computed;
use super::value::{Base, LANES, Lane32, Mask, Slot, Words, lanes};
use super::{Frame, Machine, Watch};

impl<W: Watch> Machine<'_, W> {
    pub fn frame(&self) -> Result<&Frame> {
        self.frames.last().context("no function runs")
    }

    pub fn slot(&self, handle: Handle<Expression>) -> Result<&Slot> {
        Ok(&self.frame()?.slots[handle.index()])
    }

    pub fn set(&mut self, handle: Handle<Expression>, slot: Slot) -> Result<()> {
        let frame = self.frames.last_mut().context("no function runs")?;
        frame.slots[handle.index()] = slot;
        Ok(())
    }

    pub fn value(&self, handle: Handle<Expression>) -> Result<Words> {
        match self.slot(handle)? {
            Slot::Value(words) => Ok(words.clone()),
            other => bail!("an expression is no value but {other:?}"),
        }
    }

    pub fn pointer(&self, handle: Handle<Expression>) -> Result<(Base, Words)> {
        match self.slot(handle)? {
            Slot::Pointer(base, words) => Ok((*base, words.clone())),
            other => bail!("an expression is no pointer but {other:?}"),
        }
    }

    pub fn inner(&self, handle: Handle<Expression>) -> Result<&TypeInner> {
        let info = self.info(self.frame()?.which);
        Ok(info[handle].ty.inner_with(&self.program.module.types))
    }

    pub fn kind(&self, handle: Handle<Expression>) -> Result<ScalarKind> {
        let inner = self.inner(handle)?;
        inner.scalar_kind().with_context(|| format!("{inner:?} has no scalar"))
    }

    /// The type that a pointer points to, and the kind of memory.
    pub fn target(&self, pointer: Handle<Expression>) -> Result<(TypeInner, Packing)> {
        let module = &self.program.module;
        let (inner, space) = match *self.inner(pointer)? {
            TypeInner::Pointer { base, space } => (type_of(module, base).clone(), space),
            TypeInner::ValuePointer { size: Some(size), scalar, space } => {
                (TypeInner::Vector { size, scalar }, space)
            }
            TypeInner::ValuePointer { size: None, scalar, space } => {
                (TypeInner::Scalar(scalar), space)
            }
            ref other => bail!("{other:?} is no pointer"),
        };
        let packing = match space {
            AddressSpace::Storage { .. } | AddressSpace::Uniform => Packing::Shared,
            _ => Packing::Dense,
        };
        Ok((inner, packing))
    }

    pub fn is_pointer(&self, handle: Handle<Expression>) -> Result<bool> {
        Ok(matches!(self.slot(handle)?, Slot::Pointer(..)))
    }

    /// Evaluates an expression for the invocations that run.
    pub fn evaluate(
        &mut self,
        handle: Handle<Expression>,
        mask: &Mask,
        running: &[usize],
    ) -> Result<()> {
        let which = self.frame()?.which;
        let expression = &self.function(which).expressions[handle];
        if W::TIMED {
            self.follow_loads(handle, expression, mask)?;
        }
        let warps = Warps { running, count: self.warps };
        let frame = self.frames.last_mut().context("no function runs")?;
        // The memory of the previous value is reused if nothing else holds it.
        let mut out = match std::mem::take(&mut frame.slots[handle.index()]) {
            Slot::Value(words) => std::rc::Rc::try_unwrap(words).unwrap_or_default(),
            _ => Vec::new(),
        };
        match expression {
            Expression::Compose { components, .. } => {
                out.clear();
                for &component in components {
                    out.extend_from_slice(&self.value(component)?);
                }
            }
            Expression::Splat { size, value } => {
                let value = self.value(*value)?;
                out.clear();
                (0..*size as usize).for_each(|_| out.extend_from_slice(&value));
            }
            Expression::Swizzle { size, vector, pattern } => {
                let vector = self.value(*vector)?;
                out.clear();
                for &component in &pattern[..*size as usize] {
                    let first = component as usize * self.warps;
                    out.extend_from_slice(&vector[first..first + self.warps]);
                }
            }
            Expression::Unary { op, expr } => {
                warps.unary(&mut out, *op, self.kind(*expr)?, &self.value(*expr)?);
            }
            Expression::Binary { op, left, right } => {
                let (a, b) = (self.value(*left)?, self.value(*right)?);
                warps.binary(&mut out, *op, self.kind(*left)?, &a, &b);
            }
            Expression::Select { condition, accept, reject } => {
                let (a, b) = (self.value(*accept)?, self.value(*reject)?);
                warps.select(&mut out, &self.value(*condition)?, &a, &b);
            }
            Expression::Relational { fun, argument } => {
                warps.relational(&mut out, *fun, &self.value(*argument)?)?;
            }
            Expression::Math { fun, arg, arg1, arg2, arg3: None } => {
                let arguments = [Some(*arg), *arg1, *arg2];
                let values: Vec<Words> =
                    arguments.iter().flatten().map(|&a| self.value(a)).collect::<Result<_>>()?;
                let values: Vec<&[Lane32]> = values.iter().map(|words| &words[..]).collect();
                warps.math(&mut out, *fun, self.kind(*arg)?, &values)?;
            }
            Expression::As { expr, kind, .. } => {
                let from = self.kind(*expr)?;
                let known = [ScalarKind::Uint, ScalarKind::Sint, ScalarKind::Bool];
                if !known.contains(&from) || !known.contains(kind) {
                    bail!("{from:?} as {kind:?} is not known");
                }
                let value = self.value(*expr)?;
                out.clear();
                out.extend_from_slice(&value);
                if *kind == ScalarKind::Bool {
                    out.iter_mut().flatten().for_each(|word| *word = u32::from(*word != 0));
                }
            }
            Expression::ArrayLength(array) => {
                let (base, _) = self.pointer(*array)?;
                let (inner, packing) = self.target(*array)?;
                let words = self.binding(base)?.len as u32;
                let len = words / stride(&self.program.module, &inner, packing)?;
                out.clear();
                out.resize(self.warps, [len; LANES]);
            }
            Expression::Load { pointer } => {
                let (value, shades) = self.load(*pointer, mask)?;
                self.set_shades(handle, shades)?;
                return self.set(handle, Slot::Value(value));
            }
            Expression::Access { base, index } => {
                self.check_index(*base, *index, mask)?;
                if self.is_pointer(*base)? {
                    let slot = self.element_pointer(*base, *index)?;
                    let shades = either(self.shades(*base)?, self.shades(*index)?);
                    self.set_shades(handle, shades)?;
                    return self.set(handle, slot);
                }
                self.element(&mut out, *base, *index)?;
            }
            Expression::AccessIndex { base, index } => {
                if self.is_pointer(*base)? {
                    let slot = self.member_pointer(*base, *index)?;
                    let shades = self.shades(*base)?;
                    self.set_shades(handle, shades)?;
                    return self.set(handle, slot);
                }
                let (module, inner) = (&self.program.module, self.inner(*base)?);
                let first = member_offset(module, inner, *index, Packing::Dense)? as usize;
                let len = member(inner, *index)?.scalars(module)?;
                let value = self.value(*base)?;
                out.clear();
                out.extend_from_slice(&value[first * self.warps..][..len * self.warps]);
            }
            other => bail!("the expression {other:?} is not known"),
        }
        if W::TIMED && is_computed(expression) {
            self.count_operations(handle, &out, mask)?;
        }
        self.set(handle, Slot::Value(Words::new(out)))?;
        if W::STRICT {
            let shades = self.shade_of(handle, expression, warps)?;
            self.set_shades(handle, shades)?;
        }
        Ok(())
    }

    /// A pointer to an element by an index of each invocation.
    fn element_pointer(&self, base: Handle<Expression>, index: Handle<Expression>) -> Result<Slot> {
        let (inner, packing) = self.target(base)?;
        let stride = stride(&self.program.module, &inner, packing)?;
        let ((variable, start), index) = (self.pointer(base)?, self.value(index)?);
        let words = start.iter().zip(&*index).map(|(start, index)| {
            // A place beyond 32 bits stays far beyond the end.
            let word = |lane: usize| index[lane].saturating_mul(stride);
            std::array::from_fn(|lane| start[lane].saturating_add(word(lane)))
        });
        Ok(Slot::Pointer(variable, Words::new(words.collect())))
    }

    fn member_pointer(&self, base: Handle<Expression>, index: u32) -> Result<Slot> {
        let (inner, packing) = self.target(base)?;
        let offset = member_offset(&self.program.module, &inner, index, packing)?;
        let (variable, start) = self.pointer(base)?;
        let words = start.iter().map(|start| start.map(|word| word.saturating_add(offset)));
        Ok(Slot::Pointer(variable, Words::new(words.collect())))
    }

    /// An element of a value, by an index of each invocation.
    fn element(
        &self,
        out: &mut Vec<Lane32>,
        base: Handle<Expression>,
        index: Handle<Expression>,
    ) -> Result<()> {
        let (module, inner) = (&self.program.module, self.inner(base)?);
        let len = member(inner, 0)?.scalars(module)?;
        let (value, index) = (self.value(base)?, self.value(index)?);
        let count = value.len() / self.warps / len;
        out.clear();
        for scalar in 0..len {
            for warp in 0..self.warps {
                out.push(std::array::from_fn(|lane| {
                    let element = (index[warp][lane] as usize).min(count - 1);
                    value[(element * len + scalar) * self.warps + warp][lane]
                }));
            }
        }
        Ok(())
    }

    pub fn binding(&self, base: Base) -> Result<super::Binding> {
        match base {
            Base::Global(handle) => {
                self.storage.get(&handle).copied().context("a variable is not bound")
            }
            Base::Local(..) => bail!("a variable of a function is not bound"),
        }
    }

    pub fn space(&self, handle: Handle<GlobalVariable>) -> AddressSpace {
        self.program.module.global_variables[handle].space
    }

    /// The value at a pointer, for the invocations that run.
    pub fn load(&mut self, pointer: Handle<Expression>, mask: &Mask) -> Result<(Words, Shades)> {
        self.watch_access(pointer, mask, |_, _| Act::Load)?;
        let (words, shades) = self.read(pointer, mask)?;
        let shades = self.loaded(pointer, shades, words.len())?;
        Ok((words, shades))
    }

    pub fn read(&mut self, pointer: Handle<Expression>, mask: &Mask) -> Result<(Words, Shades)> {
        let (inner, packing) = self.target(pointer)?;
        let offsets = self.offsets(&inner, packing)?;
        let (base, start) = self.pointer(pointer)?;
        // Most loads are of whole variables, or of parameters: they need no look at single words.
        if let Base::Local(depth, variable) = base {
            let local = &self.frames[depth].locals[variable.index()];
            if local.len() == offsets.len() * self.warps {
                let shades = match W::STRICT {
                    true => self.frames[depth].local_shades[variable.index()].clone(),
                    false => None,
                };
                return Ok((Words::new(local.clone()), shades));
            }
        }
        let mut out = vec![[0; LANES]; offsets.len() * self.warps];
        if let Base::Global(handle) = base
            && let Some(words) = self.uniform.get(&handle)
        {
            let all = |at: u32| words.get(at as usize).copied().unwrap_or(0);
            if W::STRICT {
                let last = offsets.last().copied().unwrap_or(0);
                let inside = |at: u32| at as usize + (last as usize) < words.len();
                let wrong = mask.warps().any(|w| lanes(mask.0[w]).any(|l| !inside(start[w][l])));
                if wrong {
                    bail!("loads parameters that are not there: {}", self.place(pointer)?);
                }
            }
            for (out, offset) in out.chunks_mut(self.warps).zip(offsets) {
                for (out, start) in out.iter_mut().zip(&*start) {
                    *out = start.map(|start| all(start.wrapping_add(offset)));
                }
            }
            return Ok((Words::new(out), None));
        }
        let binding = match base {
            Base::Global(handle) => self.storage.get(&handle).copied(),
            Base::Local(..) => None,
        };
        let shades = match W::STRICT {
            true => self.read_shades(base, &start, &offsets, mask)?,
            false => None,
        };
        for (out, offset) in out.chunks_mut(self.warps).zip(offsets) {
            for warp in mask.warps() {
                for lane in lanes(mask.0[warp]) {
                    let at = start[warp][lane].wrapping_add(offset);
                    out[warp][lane] = match binding {
                        Some(binding) => self.memory.word(binding, at),
                        None => *self.word(base, at, warp, lane)?,
                    };
                }
            }
        }
        Ok((Words::new(out), shades))
    }

    /// Puts a value where a pointer points, for the invocations that run.
    pub fn store(
        &mut self,
        pointer: Handle<Expression>,
        value: &[Lane32],
        shades: &Shades,
        mask: &Mask,
    ) -> Result<()> {
        let (inner, packing) = self.target(pointer)?;
        let (base, start) = self.pointer(pointer)?;
        self.decides(pointer, mask)?;
        // Most stores are to whole variables: they need no look at single words.
        if let Base::Local(depth, variable) = base {
            let warps = self.warps;
            let local = &mut self.frames[depth].locals[variable.index()];
            if local.len() == value.len() {
                merge(local, value, mask, warps);
                if W::STRICT {
                    let all = &mut self.frames[depth].local_shades[variable.index()];
                    merge_shades(all, shades, value.len(), mask, warps);
                }
                return Ok(());
            }
        }
        self.watch_access(pointer, mask, |_, _| Act::Store)?;
        let offsets = self.offsets(&inner, packing)?;
        if W::STRICT {
            self.store_shades(base, &start, &offsets, shades, mask)?;
        }
        for (value, offset) in value.chunks(self.warps).zip(offsets) {
            for warp in mask.warps() {
                for lane in lanes(mask.0[warp]) {
                    let at = start[warp][lane].wrapping_add(offset);
                    *self.word(base, at, warp, lane)? = value[warp][lane];
                }
            }
        }
        Ok(())
    }

    /// The word at a pointer, of one invocation.
    pub fn word_at(
        &mut self,
        pointer: Handle<Expression>,
        warp: usize,
        lane: usize,
    ) -> Result<&mut u32> {
        let (base, start) = self.pointer(pointer)?;
        self.word(base, start[warp][lane], warp, lane)
    }

    /// Reports an access to a buffer, and refuses it outside the binding: not every driver checks that.
    pub fn watch_access(
        &mut self,
        pointer: Handle<Expression>,
        mask: &Mask,
        act: impl Fn(usize, usize) -> Act,
    ) -> Result<()> {
        let Some(warp) = mask.warps().next() else { return Ok(()) };
        let is_store = act(warp, mask.0[warp].trailing_zeros() as usize) != Act::Load;
        if is_store {
            self.decides(pointer, mask)?;
        }
        let (Base::Global(handle), start) = self.pointer(pointer)? else { return Ok(()) };
        let inner = self.target(pointer)?.0;
        let words = scalars(&self.program.module, &inner)?;
        match self.space(handle) {
            AddressSpace::Storage { .. } => {}
            AddressSpace::WorkGroup => {
                ensure!(
                    !matches!(inner, TypeInner::Atomic(_)),
                    "a workgroup's atomics are not known"
                );
                if W::TIMED {
                    self.watch_banks(&start, words, mask);
                }
                return self.check_race(handle, pointer, &start, words, mask, is_store);
            }
            _ => return Ok(()),
        }
        let binding = self.binding(Base::Global(handle))?;
        for warp in mask.warps() {
            let inside = |lane| start[warp][lane] as usize + words <= binding.len;
            if let Some(lane) = lanes(mask.0[warp]).find(|&lane| !inside(lane)) {
                let who = if W::STRICT {
                    format!("{} ", self.invocation(warp, lane))
                } else {
                    String::new()
                };
                bail!(
                    "{who}{} word {} of the {} that are bound: {}",
                    if is_store { "stores to" } else { "loads" },
                    start[warp][lane],
                    binding.len,
                    self.place(pointer)?,
                );
            }
            let access = self.memory.access(binding, &start[warp], mask.0[warp], words, is_store);
            self.watch.access(&access);
            if W::STRICT {
                self.note_uses(pointer, binding, &start[warp], words, (warp, mask), &act)?;
            }
        }
        Ok(())
    }

    /// Refuses a word of a workgroup that one invocation stores to and another uses between two barriers. The
    /// lock step of this machine would hide such a race.
    fn check_race(
        &mut self,
        variable: Handle<GlobalVariable>,
        pointer: Handle<Expression>,
        start: &[Lane32],
        words: usize,
        mask: &Mask,
        is_store: bool,
    ) -> Result<()> {
        let groups = self.warps / self.group_warps;
        for warp in mask.warps() {
            for lane in lanes(mask.0[warp]) {
                for word in start[warp][lane] as usize..start[warp][lane] as usize + words {
                    let by = warp * LANES + lane;
                    let place = word * groups + warp / self.group_warps;
                    let shared = self.shared.get_mut(&variable).and_then(|all| all.get_mut(place));
                    let shared = shared.context("an index is beyond the end of a variable")?;
                    if shared.epoch != self.epoch {
                        (shared.epoch, shared.by) = (self.epoch, by);
                        (shared.stored, shared.several) = (false, false);
                    }
                    shared.several |= shared.by != by;
                    shared.stored |= is_store;
                    if shared.several && shared.stored {
                        bail!(
                            "two invocations use word {word} of a workgroup's variable, and one \
                             stores to it, without a barrier between: {}",
                            self.place(pointer)?
                        );
                    }
                }
            }
        }
        Ok(())
    }

    /// Where an expression of the function that runs is in the text, and who called the function.
    pub fn place(&self, handle: Handle<Expression>) -> Result<String> {
        let (text, function) = (&self.program.text, self.function(self.frame()?.which));
        let line = function.expressions.get_span(handle).location(text).line_number;
        let code = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
        Ok(format!("line {line}, `{}`, of {}", code.trim(), self.callers()))
    }

    /// The function that runs, and who called it.
    pub fn callers(&self) -> String {
        let names =
            self.frames.iter().rev().map(|frame| self.function(frame.which).name.as_deref());
        names.map(|name| name.unwrap_or("main")).collect::<Vec<_>>().join(", called by ")
    }

    /// A word of a variable, counted from its start.
    fn word(&mut self, base: Base, at: u32, warp: usize, lane: usize) -> Result<&mut u32> {
        let (warps, group_warps) = (self.warps, self.group_warps);
        match base {
            Base::Local(depth, variable) => {
                let local = &mut self.frames[depth].locals[variable.index()];
                let words = local.get_mut(at as usize * warps + warp);
                Ok(&mut words.context("an index is beyond the end of a variable")?[lane])
            }
            Base::Global(handle) => match self.space(handle) {
                AddressSpace::Storage { .. } => {
                    let binding = self.binding(base)?;
                    Ok(self.memory.word_mut(binding, at))
                }
                AddressSpace::WorkGroup => {
                    let place = at as usize * (warps / group_warps) + warp / group_warps;
                    let shared = self.shared.get_mut(&handle).and_then(|all| all.get_mut(place));
                    Ok(&mut shared.context("an index is beyond the end of a variable")?.word)
                }
                _ => {
                    let variable = self.variables.get_mut(&handle);
                    let words = variable.and_then(|all| all.get_mut(at as usize * warps + warp));
                    Ok(&mut words.context("an index is beyond the end of a variable")?[lane])
                }
            },
        }
    }
}
