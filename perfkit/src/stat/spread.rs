//! Mean and spread of repeated measurements.

/// The mean of some values, and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) mean: f64,
    /// The standard error of the mean; 0 for a single value.
    pub(crate) error: f64,
}

impl Spread {
    /// Returns the spread of `values`, or `None` without values.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        #[allow(clippy::cast_precision_loss)] // the number of runs
        let count = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count;
        if values.len() == 1 {
            return Some(Self { mean, error: 0.0 });
        }
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
        Some(Self { mean, error: (variance / count).sqrt() })
    }

    /// Returns the standard error in percent of the mean; 0 if the mean is 0.
    pub(crate) fn percent(self) -> f64 {
        if self.mean == 0.0 { 0.0 } else { 100.0 * self.error / self.mean.abs() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_is_the_standard_error_of_the_mean() {
        let spread = Spread::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert!((spread.mean - 5.0).abs() < 1e-12);
        // sum of squares 32, over 7, over 8
        assert!((spread.error - (32.0_f64 / 7.0 / 8.0).sqrt()).abs() < 1e-12);
        assert!((spread.percent() - 100.0 * spread.error / 5.0).abs() < 1e-12);
    }

    #[test]
    fn single_value_has_no_spread_and_nothing_has_no_mean() {
        assert_eq!(Spread::of(&[7.0]), Some(Spread { mean: 7.0, error: 0.0 }));
        assert_eq!(Spread::of(&[]), None);
        assert!(Spread::of(&[0.0, 0.0]).unwrap().percent().abs() < 1e-12);
    }
}
