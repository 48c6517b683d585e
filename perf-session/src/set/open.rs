use perf_sys::RingSet;

use super::hotplug::Hotplug;
use super::opened::Opened;
use super::packages::Packages;
use super::plan::Plan;
use super::rings::Rings;
use super::{EventSet, EventSetError, EventSetOptions};

/// Opens all events of a plan, disabled, and maps their rings.
pub(super) fn open(options: EventSetOptions, plan: Plan) -> Result<EventSet, EventSetError> {
    let set = options.ring_pages.is_some().then(RingSet::new).transpose()?;
    let (mut opened, mut hotplug) = (Opened::new(options, plan), Hotplug::new());
    while let Err(error) = open_events(&mut opened, &mut hotplug) {
        if !opened.split_weak(&error) {
            return Err(error);
        }
    }
    opened.check_all_opened(&hotplug.offline)?;
    let mut rings = Rings::new(set);
    rings.add(&opened, 0)?;
    opened.packages = Packages::read(&opened)?;
    Ok(EventSet { rings, hotplug, opened, opener: rustix::thread::gettid(), has_spawned: false })
}

fn open_events(opened: &mut Opened, hotplug: &mut Hotplug) -> Result<(), EventSetError> {
    let units = opened.open_target_tasks()?;
    opened.units.extend(units);
    hotplug.open_cpus(opened)
}
