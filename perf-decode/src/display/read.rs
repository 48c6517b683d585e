use core::fmt;

use crate::{Count, ReadValues};

impl fmt::Display for ReadValues<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gap = "";
        for Count { value, id, lost } in self {
            write!(f, "{gap}{value}")?;
            gap = ", ";
            if let Some(id) = id {
                write!(f, " id {id}")?;
            }
            if let Some(lost) = lost {
                write!(f, " lost {lost}")?;
            }
        }
        if let Some(enabled) = self.time_enabled() {
            write!(f, " enabled {enabled}")?;
        }
        if let Some(running) = self.time_running() {
            write!(f, " running {running}")?;
        }
        Ok(())
    }
}
