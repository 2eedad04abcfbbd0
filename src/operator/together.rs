//! Successive operators that launches compute together.

use super::Operator;
use crate::base::error::{Error, Result};
use crate::plan::{Limits, Plan};
use crate::pool;
use crate::tensor::View;
use crate::tuning::Tuning;

/// One of several operators. Each takes the first result of the one before.
pub(crate) struct Link<'a> {
    pub operator: &'a Operator,
    pub input: &'a View,
    /// Its first result, and whether an operator other than the next one reads it.
    pub result: &'a View,
    pub is_read: bool,
}

impl Operator {
    /// Whether launches may compute this operator together with one on its first result.
    pub(crate) fn may_lead_to(&self, next: &Self) -> bool {
        match (self, next) {
            (Self::MaxPool(first), Self::MaxPool(next)) => pool::may_follow(next, first),
            _ => false,
        }
    }

    /// One plan for the first few operators of `links`, and the numbers of those whose results it stores:
    /// the last one, and those that others read. `None` if a plan for each operator is better.
    ///
    /// # Errors
    /// As [`Operator::plan_views`].
    pub(crate) fn plan_together<'a>(
        links: &[Link<'a>],
        limits: &Limits,
        tuning: &Tuning,
    ) -> Result<Option<(Plan, Vec<usize>)>> {
        let Some(Link { input, .. }) = links.first() else { return Ok(None) };
        let level = |link: &Link<'a>| match link.operator {
            Self::MaxPool(operator) => {
                let &Link { input, result, is_read, .. } = link;
                Some(pool::Level { operator, input, result, is_read })
            }
            _ => None,
        };
        let (levels, target): (Vec<_>, _) =
            (links.iter().map_while(level).collect(), tuning.target(limits)?);
        let planned = || {
            let plan = pool::plan_pyramid(&levels, target, &tuning.pool)?;
            let Some((plan, made)) = plan else { return Ok(None) };
            let results: Vec<&View> = made.iter().map(|&i| links[i].result).collect();
            Ok(Some((plan.with_views(&[input], &results, target)?, made)))
        };
        match planned() {
            Err(Error::OverLimit { .. }) => Ok(None),
            plan => plan,
        }
    }
}
