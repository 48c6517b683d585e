use crate::bytes::Bytes;
use crate::list::Read;
use crate::{FileAttr, List, Result};

/// An event with its name, from [`Feature::EVENT_DESC`](crate::format::Feature::EVENT_DESC).
#[derive(Clone, Copy, Debug)]
pub struct EventDesc<'a> {
    /// Its attr and ids.
    pub event: FileAttr<'a>,
    /// Its name, such as `cycles:u`.
    pub name: &'a [u8],
}

impl<'a> EventDesc<'a> {
    pub(super) fn list(bytes: &mut Bytes<'a>) -> Result<List<'a, Self>> {
        let count = bytes.u32("events")?;
        let attr_size = bytes.u32("size of an attr")?;
        bytes.set_context(attr_size);
        List::take(bytes, count.into(), "events")
    }
}

impl<'a> Read<'a> for EventDesc<'a> {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        let attr = bytes.take(bytes.context().into(), "attr")?;
        let ids = bytes.u32("number of ids")?;
        let name = bytes.string("name of an event")?;
        let ids = List::take(bytes, ids.into(), "ids")?;
        Ok(Self { event: FileAttr::new(attr, ids, bytes.order()), name })
    }
}
