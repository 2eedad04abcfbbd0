//! The findings of a sweep, in sentences. `json` and `html` turn them into files.
use crate::Case;
use crate::finding::{Finding, Side};
use crate::memory::Growth;
use crate::pattern::Pattern;
use crate::score::Score;
use crate::subject::Subject;
use crate::sweep::Sweep;
use crate::text::counted;

/// The version of reports.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The message if there is no device but the CPU.
pub const NO_ADAPTER: &str = "No GPU adapter was found; only the CPU is used. On Debian, \
                              mesa-vulkan-drivers has a software adapter.";

/// The findings of a sweep, and its circumstances.
pub struct Report {
    /// In the order of the scores.
    pub subjects: Vec<Subject>,
    /// Why adapters could not be opened.
    pub refused: Vec<String>,
    /// The outcome.
    pub sweep: Sweep,
    /// Whether one device was requested.
    pub device: Option<String>,
    /// The command line.
    pub command: String,
    /// The machine.
    pub system: String,
    /// How much the process's memory may grow, in bytes.
    pub max_growth: Option<u64>,
}

impl Report {
    /// The subjects with their scores.
    pub fn subjects(&self) -> impl Iterator<Item = (&Subject, &Score)> {
        self.subjects.iter().zip(&self.sweep.scores)
    }

    /// Whether all cases ran, and nothing differs, fails, or grows too much.
    pub fn is_good(&self) -> bool {
        self.verdict() == Some(true)
    }

    /// As [`Report::is_good`]; `None` for a run that was cut off before anything was wrong.
    pub fn verdict(&self) -> Option<bool> {
        let scores = self.sweep.scores.iter().all(Score::is_good);
        let is_clean = scores && self.refused.is_empty() && self.is_flat();
        match is_clean && self.sweep.is_cut_off {
            true => None,
            false => Some(is_clean && self.sweep.cases > 0),
        }
    }

    /// Whether adapters were searched for and none was found.
    pub fn lacks_adapters(&self) -> bool {
        self.device.is_none() && self.refused.is_empty() && self.subjects.len() == 1
    }

    /// Whether memory grew by no more than the maximum. Unknown growth is too much.
    pub fn is_flat(&self) -> bool {
        self.max_growth.is_none_or(|max| {
            self.sweep.memory.growth().is_some_and(|growth| growth.bytes() <= max)
        })
    }

    /// A line about the whole sweep.
    pub fn summary(&self) -> String {
        let sweep = &self.sweep;
        let seconds = sweep.elapsed.as_secs_f64();
        let rate = sweep.cases as f64 / seconds.max(1e-9);
        let mut wrong = Vec::new();
        let mut count = |number: u64, what: &str| {
            if number > 0 {
                wrong.push(format!("{number} {what}"));
            }
        };
        count(sweep.scores.iter().map(Score::mismatches).sum(), "differ");
        count(sweep.scores.iter().map(Score::failed).sum(), "in error");
        count(self.refused.len() as u64, "adapters that did not open");
        if !self.is_flat() {
            wrong.push("memory that grew, or is unknown".to_string());
        }
        let verdict = match wrong.as_slice() {
            [] if sweep.cases == 0 => "nothing was compared".to_string(),
            [] => "all equal, bit for bit".to_string(),
            wrong => wrong.join(", "),
        };
        let cut = if sweep.is_cut_off { "Cut off by a signal. " } else { "" };
        let (cases, seed) = (counted(sweep.cases, "case"), sweep.choice.seed);
        format!("{cut}{cases} of seed {seed} in {seconds:.1} s ({rate:.0}/s): {verdict}.")
    }

    /// The command line that reproduces a mismatch.
    pub fn again(&self, subject: &Subject, finding: &Finding) -> String {
        let (choice, case) = (&self.sweep.choice, finding.index);
        let option = |name: &str, value: Option<String>| {
            value.map_or_else(String::new, |value| format!(" --{name} {value}"))
        };
        let device = option("device", subject.argument.as_deref().map(quoted));
        let tuning = option("tuning", choice.tuning.map(str::to_string));
        format!("wgmax verify --seed {} --case {case}{device}{tuning}", choice.seed)
    }

    /// The tuning of a subject.
    pub fn tuning_of(&self, subject: &Subject) -> String {
        match self.sweep.choice.tuning {
            Some(tuning) => tuning.to_string(),
            None => format!("{}, or as cases have it", subject.device.tuning().name()),
        }
    }
}

/// An argument, quoted if a shell needs it: for Windows too, unless it has characters that other shells
/// replace within double quotes.
pub fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=,.:/+@%".contains(c);
    match argument {
        _ if !argument.is_empty() && argument.chars().all(plain) => argument.to_string(),
        _ if !argument.contains(['"', '$', '`', '\\', '!']) => format!("\"{argument}\""),
        _ => format!("'{}'", argument.replace('\'', r"'\''")),
    }
}

impl Growth {
    /// A sentence about it.
    pub fn sentence(self) -> String {
        let mib = |bytes: u64| bytes as f64 / (1 << 20) as f64;
        format!(
            "Resident memory: {:.1} MiB in the second quarter of the run, {:.1} MiB in the last.",
            mib(self.early),
            mib(self.late)
        )
    }
}

impl Finding {
    /// The operator, the type and the case: "MaxPool of f32, case 7".
    pub fn title(&self) -> String {
        let (kind, t) = Case::kind(self.index);
        format!("{} of {t}, case {}", kind.name(), self.index)
    }

    /// Sentences about it: which side refuses the case, which launch differs first, which side is
    /// right, and the known fault that it resembles.
    pub fn sentences(&self, subject: &Subject) -> Vec<String> {
        let Subject { name, against, .. } = subject;
        let refused = self.small.refused.as_ref().map(|reason| {
            let refuses = against.replacen("the ", "The ", 1);
            format!("Only {name} has results. {refuses} refuses the case: {reason}.")
        });
        let launch = self.launch.as_ref().map(|launch| {
            let (shader, number, count) = (launch.shader.label(), launch.number, launch.count);
            format!("The first launch that differs: {shader}, {number} of {count}.")
        });
        let right = self.oracle.filter(|_| *against != "the oracle").map(|side| match side {
            Side::Expected => format!("The oracle agrees with {against}."),
            Side::Actual => format!("The oracle agrees with {name}."),
            Side::Neither => "The oracle agrees with neither.".to_string(),
        });
        let pattern = self.pattern.map(|pattern| {
            let Pattern { name, sentence, report } = pattern;
            format!("It looks like a known fault of drivers, {name}. {sentence} See {report}")
        });
        [refused, launch, right, pattern].into_iter().flatten().collect()
    }
}
