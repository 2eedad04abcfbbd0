//! The files that a command writes, checked before it computes anything.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};

use super::output::is_standard;
use super::picture::Format;
use super::report::{self, WholeFile};

/// The files that a command writes.
#[derive(Default)]
pub struct Targets {
    list: Vec<Target>,
}

/// A file, and the option that names it.
struct Target {
    /// The option with its value, for errors.
    label: String,
    /// As it was given. A tensor's is UTF-8.
    spec: PathBuf,
    /// Whether it is a tensor, not a report or a picture.
    is_tensor: bool,
    /// The file with links resolved; `None` for standard output.
    place: Option<PathBuf>,
    /// The array of an archive whose other arrays are kept.
    name: Option<String>,
}

impl Targets {
    /// Adds a tensor. `option` ends with the text before its value.
    ///
    /// # Errors
    /// For an unknown extension.
    pub fn tensor(mut self, option: &str, spec: Option<&str>) -> wgmax::Result<Self> {
        let Some(spec) = spec else { return Ok(self) };
        if Format::of(spec).is_some() {
            return Ok(self.file(option, Path::new(spec)));
        }
        let (path, name) = wgmax::io::split(spec).map_err(super::files::with_pictures)?;
        self.list.push(Target {
            label: format!("{option}{spec}"),
            spec: spec.into(),
            is_tensor: true,
            place: path.map(wgmax::io::resolve),
            name: name.map(str::to_string),
        });
        Ok(self)
    }

    /// Adds a report.
    pub fn report(self, option: &str, path: Option<&Path>) -> Self {
        match path {
            Some(path) => self.file(option, path),
            None => self,
        }
    }

    fn file(mut self, option: &str, path: &Path) -> Self {
        self.list.push(Target {
            label: format!("{option}{}", path.display()),
            spec: path.into(),
            is_tensor: false,
            place: (!report::is_standard(path)).then(|| wgmax::io::resolve(path)),
            name: None,
        });
        self
    }

    /// Whether something goes to standard output. Nothing else may be printed there then.
    pub fn have_standard(&self) -> bool {
        self.list.iter().any(|target| target.place.is_none())
    }

    /// Refuses two outputs in one file, files that cannot be written, and, unless `force` is true, outputs
    /// that would replace one of the `inputs`. `force` is `None` for a command without this option.
    pub fn check(&self, inputs: &[impl AsRef<OsStr>], force: Option<bool>) -> anyhow::Result<()> {
        self.check_all(&inputs.iter().map(AsRef::as_ref).collect::<Vec<_>>(), force)
    }

    fn check_all(&self, inputs: &[&OsStr], force: Option<bool>) -> anyhow::Result<()> {
        let texts = inputs.iter().filter_map(|input| input.to_str());
        let mut standard = texts.filter(|input| is_standard(input));
        if let (Some(a), Some(b)) = (standard.next(), standard.next()) {
            bail!("{a} and {b}: both are standard input");
        }
        for (number, b) in self.list.iter().enumerate() {
            for a in self.list[..number].iter().filter(|a| a.place == b.place) {
                let (a_label, b_label) = (&a.label, &b.label);
                match &a.place {
                    None => bail!("{a_label} and {b_label}: both go to standard output"),
                    // Devices and pipes accept any outputs.
                    Some(place) if place.exists() && !place.is_file() => {}
                    Some(_) if a.name.is_some() && b.name.is_some() && a.name != b.name => {}
                    Some(_) => bail!("{a_label} and {b_label}: they cannot be one file"),
                }
            }
        }
        self.keep(inputs, force)?;
        let (tensors, files): (Vec<&Target>, Vec<&Target>) =
            self.list.iter().partition(|target| target.is_tensor);
        let specs: Vec<&str> = tensors.iter().filter_map(|target| target.spec.to_str()).collect();
        wgmax::io::check_writable(&specs, force == Some(true))?;
        for file in files.iter().filter(|file| file.place.is_some()) {
            WholeFile::create(&file.spec)?;
        }
        Ok(())
    }

    /// Refuses outputs that would replace one of the `inputs`, unless `force` is true.
    pub fn keep(&self, inputs: &[&OsStr], force: Option<bool>) -> anyhow::Result<()> {
        let tip = if force.is_some() { "; --force replaces it" } else { "" };
        for target in self.list.iter().filter(|_| force != Some(true)) {
            ensure!(
                !inputs.iter().any(|input| target.replaces(input)),
                "{}: it would replace a file that is read{tip}",
                target.label
            );
        }
        Ok(())
    }
}

impl Target {
    fn replaces(&self, input: &OsStr) -> bool {
        let Some(place) = self.place.as_deref().filter(|place| place.is_file()) else {
            return false;
        };
        let (file, name) = match input.to_str().map(wgmax::io::split) {
            Some(Ok((Some(path), name))) => (path, name),
            _ => (Path::new(input), None),
        };
        // An array with another name than the one that is read is added to the archive.
        let beside = |own: &String| name.is_none_or(|name| stem(name) != stem(own));
        file.canonicalize().is_ok_and(|file| file == place)
            && !self.name.as_ref().is_some_and(beside)
    }
}

/// The name of an array, without the ending of its member's name.
fn stem(name: &str) -> &str {
    name.strip_suffix(".npy").unwrap_or(name)
}
