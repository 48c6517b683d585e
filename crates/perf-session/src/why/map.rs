//! Failed mappings.

use std::sync::Arc;

use perf_ring::sys::Error as SysError;
use perf_ring::{Attr, AttrFlags, Call, Errno, Error, Event, Refused};

use super::{Cause, Diagnosis, Evidence, argument};
use crate::system::{MemlockLimit, System, sysctl_file};

/// Explains why a ring of `data_pages` data pages was not mapped: the limits of locked memory with
/// their values, a number of pages that is not a power of two, an inherited event on any CPU.
///
/// ```
/// use perf_session::ring::{Attr, Event, Ring, Software, Target};
/// use perf_session::{System, explain_map};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let Ok(event) = Event::open(&Attr::software(Software::DUMMY), Target::calling_thread()) else {
/// #     return Ok(());
/// # };
/// let pages = 1 << 16;
/// if let Err(failed) = Ring::map(event, pages) {
///     println!("{}", explain_map(&System::new(), &failed, pages));
/// }
/// # Ok(())
/// # }
/// ```
pub fn explain_map(system: &System, failed: &Refused<Arc<Event>>, data_pages: usize) -> Diagnosis {
    explain_mapping(system, &failed.error, failed.value.attr(), data_pages)
}

/// Explains a failed mapping of `data_pages` data pages, 0 if that is unknown.
pub(crate) fn explain_mapping(system: &System, error: &Error, attr: &Attr, data_pages: usize) -> Diagnosis {
    reason(system, error, attr, data_pages).with_errno(error.errno())
}

fn reason(system: &System, error: &Error, attr: &Attr, data_pages: usize) -> Diagnosis {
    let Error::Sys(SysError::System { call: Call::Mmap, errno }) = error else {
        return argument::explain(error);
    };
    match *errno {
        Errno::EPERM | Errno::EAGAIN => locked_memory(system, error, data_pages),
        Errno::ENOMEM => Diagnosis::new(
            Cause::Memory,
            "no memory for the ring, or the process has vm.max_map_count mappings",
            "map fewer pages",
        )
        .with(size(data_pages))
        .with(maps(system)),
        Errno::EINVAL if attr.flags.contains(AttrFlags::INHERIT) => Diagnosis::new(
            Cause::AttrField,
            "an inherited event on any CPU has no ring",
            "open the event on each CPU, or without inheritance",
        )
        .with(Evidence::new("attr.flags", attr.flags)),
        Errno::EINVAL => Diagnosis::new(
            Cause::State,
            "the event has a mapping of another size",
            "map a ring of the same size, or drop the other mapping first",
        )
        .with(size(data_pages)),
        Errno::EBUSY => Diagnosis::new(
            Cause::State,
            "the records of the event go to the ring of another event",
            "read them there, or end the redirection first",
        ),
        Errno::ENODEV => Diagnosis::new(Cause::State, "the PMU of the event is gone", "open the event again"),
        Errno::EOPNOTSUPP => Diagnosis::new(
            Cause::PmuFeature,
            "the PMU of the event has no AUX area",
            "map an AUX area for an event of a trace unit only",
        ),
        _ => argument::unknown(error, []),
    }
}

fn maps(system: &System) -> Evidence {
    const MAX_MAP_COUNT: &str = "vm.max_map_count";
    Evidence::of_file(&sysctl_file(MAX_MAP_COUNT), system.sysctl(MAX_MAP_COUNT).as_ref())
}

fn locked_memory(system: &System, error: &Error, data_pages: usize) -> Diagnosis {
    let budget = match MemlockLimit::read(system) {
        Ok(budget) => budget,
        Err(error) => {
            return over_the_limit("map fewer pages").with(size(data_pages)).with(Evidence::of_error(&error));
        }
    };
    if budget.is_unlimited() {
        let why = Evidence::new("the limits of locked memory", "do not apply (CAP_IPC_LOCK or level -1)");
        return argument::unknown(error, []).with(size(data_pages)).with(why);
    }
    let most = data_pages.checked_sub(1).unwrap_or(usize::MAX >> 1);
    let fewer = match budget.data_pages(1, most) {
        Some(pages) => {
            format!("map at most {pages} data pages, or fewer if other processes of the user have rings")
        }
        None => "unmap other rings".to_owned(),
    };
    budget.evidence().into_iter().fold(over_the_limit(&fewer).with(size(data_pages)), Diagnosis::with)
}

fn over_the_limit(fewer: &str) -> Diagnosis {
    let text = "the ring needs more memory than this user may lock";
    let remedy =
        format!("{fewer}; or raise kernel.perf_event_mlock_kb or `ulimit -l`, or run with CAP_IPC_LOCK");
    Diagnosis::new(Cause::MemlockLimit, text, remedy)
}

/// Returns the size of the ring as evidence.
fn size(data_pages: usize) -> Evidence {
    match data_pages {
        0 => Evidence::new("the ring", "an unknown number of data pages"),
        pages => Evidence::new("the ring", format_args!("{pages} data pages")),
    }
}
