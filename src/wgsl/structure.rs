//! The parameters of kernels: structures that are declared once, in Rust, and printed as WGSL.

/// A structure in a uniform buffer.
pub(crate) struct Structure {
    pub name: &'static str,
    /// Whether its members become members of the enclosing structure.
    pub inline: bool,
    pub members: &'static [Member],
}

impl Structure {
    /// Its members with their offsets. An inline structure is replaced by its members.
    pub(crate) fn members(&self) -> Vec<(usize, &'static Member)> {
        let mut all = Vec::new();
        for member in self.members {
            match member.of {
                Type::Structure(inner) if inner.inline => {
                    let members = inner.members().into_iter();
                    all.extend(members.map(|(offset, inner)| (member.offset + offset, inner)));
                }
                _ => all.push((member.offset, member)),
            }
        }
        all
    }
}

/// A member of a structure.
pub(crate) struct Member {
    /// The lines of its comment.
    pub comment: &'static [&'static str],
    pub name: &'static str,
    /// Its offset in the Rust structure, in bytes.
    pub offset: usize,
    pub of: Type,
}

/// The type of a member.
#[derive(Clone, Copy)]
pub(crate) enum Type {
    Plain(&'static str),
    Structure(&'static Structure),
    Array(&'static Type, usize),
    /// Padding words, so that the next member begins at a multiple of 16 bytes.
    Padding(usize),
}

/// A structure that [`params!`] declares.
pub(crate) trait Params {
    const STRUCTURE: &'static Structure;
}

/// The type of a member.
pub(crate) trait Uniform {
    const TYPE: Type;
}

impl<T: Params> Uniform for T {
    const TYPE: Type = Type::Structure(T::STRUCTURE);
}

impl<T: Params, const N: usize> Uniform for [T; N] {
    const TYPE: Type = Type::Array(&T::TYPE, N);
}

impl<const N: usize> Uniform for [[u32; 4]; N] {
    const TYPE: Type = Type::Array(&<[u32; 4]>::TYPE, N);
}

macro_rules! uniform {
    ($($rust:ty: $is:expr;)*) => {
        $(impl Uniform for $rust {
            const TYPE: Type = $is;
        })*
    };
}

uniform! {
    u32: Type::Plain("u32");
    i32: Type::Plain("i32");
    [u32; 4]: Type::Plain("vec4<u32>");
    [u32; 3]: Type::Padding(3);
    [u32; 2]: Type::Padding(2);
}

/// Declares structures of parameters. Shaders get them as they are written here, with the comments
/// of members: a kernel's own as `Params`, nested ones under their names. The members of a `struct
/// Name: inline` become members of the enclosing structure.
macro_rules! params {
    ($(
        $(#[doc = $about:literal])*
        $vis:vis struct $name:ident $(: $inline:ident)? {
            $($(#[doc = $comment:literal])* $member_vis:vis $member:ident: $of:ty,)*
        }
    )*) => {$(
        $(#[doc = $about])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
        $vis struct $name {
            $($(#[doc = $comment])* $member_vis $member: $of,)*
        }

        impl $crate::wgsl::Params for $name {
            const STRUCTURE: &'static $crate::wgsl::Structure = &$crate::wgsl::Structure {
                name: stringify!($name),
                inline: !matches!(stringify!($($inline)?).as_bytes(), []),
                members: &[$($crate::wgsl::Member {
                    comment: &[$($comment),*],
                    name: stringify!($member),
                    offset: std::mem::offset_of!($name, $member),
                    of: <$of as $crate::wgsl::Uniform>::TYPE,
                }),*],
            };
        }
    )*};
}
pub(crate) use params;

/// A uniform buffer, and the structures that it is made of.
pub(crate) fn uniform(variable: &str, binding: u32, name: &str, root: &Structure) -> String {
    let mut text = String::new();
    let mut known = vec![name];
    nested(root, &mut known, &mut text);
    declare(name, root, &mut text);
    text + &format!("@group(0) @binding({binding}) var<uniform> {variable}: {name};\n")
}

/// Declares the nested structures of a structure once.
fn nested(of: &Structure, known: &mut Vec<&str>, text: &mut String) {
    for member in of.members {
        if let Type::Structure(inner) | Type::Array(&Type::Structure(inner), _) = member.of {
            nested(inner, known, text);
            if !known.contains(&inner.name) {
                known.push(inner.name);
                declare(inner.name, inner, text);
            }
        }
    }
}

fn declare(name: &str, structure: &Structure, text: &mut String) {
    text.push_str(&format!("struct {name} {{\n"));
    for (_, Member { comment, name, of, .. }) in structure.members() {
        comment.iter().for_each(|line| text.push_str(&format!("    //{line}\n")));
        match of {
            Type::Padding(words) => {
                (0..*words).for_each(|i| text.push_str(&format!("    {name}{i}: u32,\n")));
            }
            of => text.push_str(&format!("    {name}: {},\n", written(of))),
        }
    }
    text.push_str("}\n");
}

fn written(of: &Type) -> String {
    match of {
        Type::Plain(name) => name.to_string(),
        Type::Structure(inner) => inner.name.to_string(),
        Type::Array(of, count) => format!("array<{}, {count}>", written(of)),
        Type::Padding(words) => format!("array<u32, {words}>"),
    }
}
