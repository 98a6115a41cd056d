//! The usage of one owner in each of the steps of a history.

/// Amounts by step, from the first to the last that has one: at most as many as a history has steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    first: i64,
    amounts: Vec<f64>,
}

impl Steps {
    /// The amount of a step, to be changed.
    pub fn at(&mut self, step: i64) -> &mut f64 {
        if self.amounts.is_empty() {
            self.first = step;
        }
        if step < self.first {
            let before = std::iter::repeat_n(0.0, count(step, self.first));
            self.amounts.splice(..0, before);
            self.first = step;
        }
        let at = count(self.first, step);
        if at >= self.amounts.len() {
            self.amounts.resize(at + 1, 0.0);
        }
        &mut self.amounts[at]
    }

    /// The amount of a step; 0 where none was set.
    pub fn get(&self, step: i64) -> f64 {
        match step >= self.first {
            true => self.amounts.get(count(self.first, step)).copied(),
            false => None,
        }
        .unwrap_or(0.0)
    }

    /// Steps and amounts, in order.
    pub fn iter(&self) -> impl Iterator<Item = (i64, f64)> {
        (self.first..).zip(self.amounts.iter().copied())
    }
}

/// How many steps there are from one up to another.
fn count(from: i64, to: i64) -> usize {
    usize::try_from(to - from).expect("the later one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_kept_in_any_order() {
        let mut steps = Steps::default();
        for (step, amount) in [(7, 1.0), (5, 2.0), (9, 4.0), (7, 8.0), (-3, 16.0)] {
            *steps.at(step) += amount;
        }
        let found: Vec<_> = steps.iter().filter(|(_, amount)| *amount > 0.0).collect();
        assert_eq!(found, [(-3, 16.0), (5, 2.0), (7, 9.0), (9, 4.0)]);
        assert_eq!(
            [-4, -3, 6, 9, 10].map(|at| steps.get(at)),
            [0.0, 16.0, 0.0, 4.0, 0.0]
        );
        assert_eq!(Steps::default().get(0), 0.0);
    }
}
