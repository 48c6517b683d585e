//! Mean and spread of repeated measurements.

/// The mean of some values and its standard error, by Welford's method, which does not keep the
/// values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spread {
    count: f64,
    mean: f64,
    /// Sum of the squares of the differences from the mean.
    squares: f64,
}

impl Spread {
    pub(super) fn add(&mut self, value: f64) {
        self.count += 1.0;
        let before = value - self.mean;
        self.mean += before / self.count;
        self.squares += before * (value - self.mean);
    }

    /// Returns the mean, or `None` without values.
    pub(super) fn mean(self) -> Option<f64> {
        (self.count > 0.0).then_some(self.mean)
    }

    /// Returns the standard error of the mean, in percent of it; 0 if the mean is 0 or there are
    /// fewer than two values.
    pub(super) fn percent(self) -> f64 {
        if self.count < 2.0 || self.mean == 0.0 {
            return 0.0;
        }
        let variance = self.squares / (self.count - 1.0);
        100.0 * (variance / self.count).sqrt() / self.mean.abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(values: &[f64]) -> Spread {
        let mut spread = Spread::default();
        for value in values {
            spread.add(*value);
        }
        spread
    }

    #[test]
    fn spread_is_the_standard_error_of_the_mean() {
        let spread = spread(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert!((spread.mean().unwrap() - 5.0).abs() < 1e-12);
        // sum of squares 32, over 7, over 8
        let error = (32.0_f64 / 7.0 / 8.0).sqrt();
        assert!((spread.percent() - 100.0 * error / 5.0).abs() < 1e-9);
    }

    #[test]
    fn single_value_has_no_spread_and_nothing_has_no_mean() {
        assert_eq!((spread(&[7.0]).mean(), spread(&[7.0]).percent()), (Some(7.0), 0.0));
        assert_eq!((spread(&[]).mean(), spread(&[]).percent()), (None, 0.0));
        assert!(spread(&[0.0, 0.0]).percent().abs() < 1e-12);
    }
}
