//! The layout of the values of a type in memory, in words.
//!
//! A value is the list of its scalars, each a word of its own, booleans too. Buffers have the
//! layout of WGSL; other variables hold their scalars without gaps.

use anyhow::{Result, bail};
use wgmax::wgpu::naga::{ArraySize, Handle, Module, Type, TypeInner};

/// The kind of memory that a variable is in.
#[derive(Clone, Copy, PartialEq)]
pub enum Packing {
    /// Buffers.
    Shared,
    /// Variables of invocations and workgroups.
    Dense,
}

/// The number of scalars of a type.
pub fn scalars(module: &Module, inner: &TypeInner) -> Result<usize> {
    Ok(offsets(module, inner, Packing::Dense)?.len())
}

/// Where the scalars of a type are, from its first word on.
pub fn offsets(module: &Module, inner: &TypeInner, packing: Packing) -> Result<Vec<u32>> {
    let mut all = Vec::new();
    add_offsets(module, inner, packing, 0, &mut all)?;
    Ok(all)
}

fn add_offsets(
    module: &Module,
    inner: &TypeInner,
    packing: Packing,
    first: u32,
    all: &mut Vec<u32>,
) -> Result<()> {
    match inner {
        TypeInner::Scalar(_) | TypeInner::Atomic(_) => all.push(first),
        TypeInner::Vector { size, .. } => all.extend((0..*size as u32).map(|i| first + i)),
        TypeInner::Array { base, size: ArraySize::Constant(count), .. } => {
            let stride = stride(module, inner, packing)?;
            for i in 0..count.get() {
                add_offsets(module, type_of(module, *base), packing, first + i * stride, all)?;
            }
        }
        TypeInner::Struct { members, .. } => {
            for (i, member) in members.iter().enumerate() {
                let at = first + member_offset(module, inner, i as u32, packing)?;
                add_offsets(module, type_of(module, member.ty), packing, at, all)?;
            }
        }
        other => bail!("values of {other:?} are not known"),
    }
    Ok(())
}

/// The words from one element of an array or vector to the next.
pub fn stride(module: &Module, inner: &TypeInner, packing: Packing) -> Result<u32> {
    match inner {
        TypeInner::Vector { .. } => Ok(1),
        TypeInner::Array { stride, .. } if packing == Packing::Shared => Ok(stride / 4),
        TypeInner::Array { base, .. } => Ok(scalars(module, type_of(module, *base))? as u32),
        other => bail!("{other:?} has no elements"),
    }
}

/// Where a member of a struct, or an element, begins.
pub fn member_offset(
    module: &Module,
    inner: &TypeInner,
    index: u32,
    packing: Packing,
) -> Result<u32> {
    let TypeInner::Struct { members, .. } = inner else {
        return Ok(index * stride(module, inner, packing)?);
    };
    if packing == Packing::Shared {
        return Ok(members[index as usize].offset / 4);
    }
    let before = members[..index as usize].iter();
    before.map(|member| Ok(scalars(module, type_of(module, member.ty))? as u32)).sum()
}

/// The word in a buffer at which a member of a struct begins, or of a struct in it, by its name.
pub fn named(module: &Module, inner: &TypeInner, name: &str) -> Option<usize> {
    let TypeInner::Struct { members, .. } = inner else { return None };
    members.iter().find_map(|member| {
        let within = match member.name.as_deref() == Some(name) {
            true => 0,
            false => named(module, type_of(module, member.ty), name)?,
        };
        Some(member.offset as usize / 4 + within)
    })
}

/// The type of a member of a struct, or of an element, by its index.
pub fn member(inner: &TypeInner, index: u32) -> Result<Member> {
    match inner {
        TypeInner::Struct { members, .. } => Ok(Member::Type(members[index as usize].ty)),
        TypeInner::Array { base, .. } => Ok(Member::Type(*base)),
        TypeInner::Vector { .. } => Ok(Member::Scalar),
        other => bail!("{other:?} has no members"),
    }
}

/// The type of a member.
pub enum Member {
    Type(Handle<Type>),
    /// A component of a vector.
    Scalar,
}

impl Member {
    /// The number of scalars.
    pub fn scalars(&self, module: &Module) -> Result<usize> {
        match self {
            Self::Type(handle) => scalars(module, type_of(module, *handle)),
            Self::Scalar => Ok(1),
        }
    }
}

pub fn type_of(module: &Module, handle: Handle<Type>) -> &TypeInner {
    &module.types[handle].inner
}
