//! The comparison of two recordings.

use std::io;

use super::svg::Picture;
use super::{Input, Options, draw, name_of, sampled_event, stacks, titles};
use crate::out::message::note;
use crate::recording::Root;

impl Options {
    /// Returns the picture of `new`, colored by its difference from `base`.
    pub(super) fn difference(&self, base: &Input, new: &Input) -> io::Result<Picture> {
        let preferred = self.profile.source.off_cpu.event();
        let (base_event, event) = (sampled_event(base, preferred)?, sampled_event(new, preferred)?);
        let (base_profile, profile) = (&base.profiled.profile, &new.profiled.profile);
        let (base_name, name) = (name_of(base_profile, base_event), name_of(profile, event));
        if base_name != name {
            let text =
                format!("expected samples of the same event, found {base_name} and {name}: choose one by -e");
            return Err(io::Error::other(text));
        }
        // Without annotations: a function that is inlined in one recording only is the same
        // function.
        let folded = self.folded(event);
        let mut picture = draw(profile, event, &folded, titles::comparison(&base.path, &new.path, &name))?;
        let mut base_lines = stacks::lines(base_profile, &self.folded(base_event))?;
        let total: u128 = base_lines.iter().map(|line| u128::from(line.value)).sum();
        let mut notes = vec!["red: more than in the base, blue: less".to_owned()];
        if self.normalize && total > 0 {
            let new_total = picture.total();
            for line in &mut base_lines {
                line.value = scaled(line.value, new_total, total);
            }
            #[expect(clippy::cast_precision_loss, reason = "printed with two decimals")]
            let factor = new_total as f64 / total as f64;
            notes.push(format!("base times {factor:.2}"));
        }
        picture.lines = stacks::join(base_lines, picture.lines);
        let gone: u128 =
            picture.lines.iter().filter(|line| line.value == 0).map(|line| u128::from(line.base)).sum();
        let all: u128 = picture.lines.iter().map(|line| u128::from(line.base)).sum();
        if gone > 0 {
            // Functions of BASE only have no width. The swapped comparison shows them.
            #[expect(clippy::cast_precision_loss, reason = "printed with one decimal")]
            let percent = 100.0 * gone as f64 / all as f64;
            notes.push(format!("gone and not drawn: {percent:.1}% of the base"));
        }
        if gone == all && self.root() != Root::None {
            note(
                "no stack of the base is in the other recording: --root none compares threads of different names",
            );
        }
        notes.push(titles::counts_beside((profile, event), (base_profile, base_event)));
        picture.subtitle = stacks::text(&notes.join("; "));
        picture.is_difference = true;
        if self.counts {
            picture.count_samples();
        }
        Ok(picture)
    }
}

/// Scales a value of the sum `from` to the sum `to`, rounded.
fn scaled(value: u64, to: u128, from: u128) -> u64 {
    let product = u128::from(value).checked_mul(to).and_then(|product| product.checked_add(from / 2));
    let part = product.map_or(u128::MAX, |product| product / from);
    u64::try_from(part).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_values_have_the_other_sum() {
        assert_eq!([1, 2, 3].map(|value| scaled(value, 12, 6)), [2, 4, 6]);
        assert_eq!(scaled(1, 1, 2), 1);
        assert_eq!(scaled(1, 1, 3), 0);
        assert_eq!(scaled(u64::MAX, u128::from(u64::MAX), u128::from(u64::MAX)), u64::MAX);
        assert_eq!(scaled(u64::MAX, u128::MAX, 1), u64::MAX);
    }
}
