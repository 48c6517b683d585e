use std::error::Error as _;

use perf_abi::{Attr, Software};

use super::*;
use crate::AddError;
use crate::map::Area;
use crate::ring::Ring;

const REFUSED: Error = Error::System { call: Call::Mmap, errno: Errno::EPERM };

fn map_error() -> MapError {
    let ring = Ring::on(Arc::new(Area::anonymous(1).unwrap()), Attr::software(Software::DUMMY));
    MapError { error: REFUSED, event: Arc::clone(ring.event()) }
}

fn add_error() -> AddError {
    let ring = Ring::on(Arc::new(Area::anonymous(1).unwrap()), Attr::software(Software::DUMMY));
    AddError { error: REFUSED, ring: Box::new(ring) }
}

#[test]
fn boxed_error_is_reached_by_a_downcast() {
    let map: Box<dyn std::error::Error> = map_error().into();
    let map = map.downcast_ref::<MapError>().unwrap();
    assert_eq!(
        (map.errno(), map.raw_os_error(), map.call()),
        (Some(Errno::EPERM), Some(1), Some(Call::Mmap))
    );
    assert_eq!(map.error, REFUSED);
    let add: Box<dyn std::error::Error> = add_error().into();
    let add = add.downcast_ref::<AddError>().unwrap();
    assert_eq!(
        (add.errno(), add.raw_os_error(), add.call()),
        (Some(Errno::EPERM), Some(1), Some(Call::Mmap))
    );
    assert_eq!(add.error, REFUSED);
}

#[test]
fn chain_prints_the_text_once() {
    assert_eq!(map_error().to_string(), REFUSED.to_string());
    assert!(map_error().source().is_none());
    assert_eq!(add_error().to_string(), REFUSED.to_string());
    assert!(add_error().source().is_none());
}

#[test]
fn io_error_keeps_kind_text_and_error() {
    for error in [io::Error::from(map_error()), io::Error::from(add_error())] {
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(error.to_string(), REFUSED.to_string());
        assert_eq!(error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()), Some(&REFUSED));
    }
}

#[test]
fn os_error_keeps_the_errno() {
    for error in [map_error().to_os_error(), add_error().to_os_error()] {
        assert_eq!(error.raw_os_error(), Some(1));
    }
}

#[test]
fn debug_prints_the_text_as_display() {
    assert_eq!(format!("{:?}", map_error()), REFUSED.to_string());
    assert_eq!(format!("{:?}", add_error()), REFUSED.to_string());
}
