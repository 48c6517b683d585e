//! The functions of the running kernel: of its text from a copy if there is one, of the rest from
//! the list that the kernel generates.

use std::cell::OnceCell;
use std::path::Path;

use super::kallsyms::{Kallsyms, KallsymsError, KernelFunction};
use super::kernel_text::KernelText;
use crate::BuildId;
use crate::system::System;

pub(super) struct KernelNames {
    /// The functions of the text with its address, and the first lines of the list.
    text: Option<(KernelText, u64, Kallsyms)>,
    /// Read when it is needed.
    list: OnceCell<Option<Kallsyms>>,
    system: System,
}

impl KernelNames {
    /// Reads the names of the running kernel. With its build id and a folder for a copy, only the
    /// first lines of the list are generated, or the copy is written for the next time.
    ///
    /// # Errors
    ///
    /// Returns the error of [`Kallsyms::of_this_kernel`].
    pub(super) fn of_system(system: &System, copy: Option<(&Path, BuildId)>) -> Result<Self, KallsymsError> {
        let Some((folder, id)) = copy else {
            return Ok(Self::of_list(Kallsyms::of_system(system)?, system));
        };
        let head = Kallsyms::read_head(&system.kallsyms(), b"_text").ok();
        let head = head.and_then(|head| Some((head.address_of(b"_text")?, head)));
        let has_start = head.is_some();
        if let Some((start, head)) = head
            && let Some(text) = KernelText::read(folder, id)
            && is_of(&head, &text, start)
        {
            let text = Some((text, start, head));
            return Ok(Self { text, list: OnceCell::new(), system: system.clone() });
        }
        let list = Kallsyms::of_system(system)?;
        // A copy is of no use where the first lines lack the address of the text.
        if let Some(text) = KernelText::new(&list, id).filter(|_| has_start) {
            // Without a copy, the next run takes as long as this one.
            let _ = text.write(folder);
        }
        Ok(Self::of_list(list, system))
    }

    /// Uses the list of another kernel.
    pub(super) fn of_list(list: Kallsyms, system: &System) -> Self {
        Self { text: None, list: Some(list).into(), system: system.clone() }
    }

    /// Returns the function at an address: [`Kallsyms::find`].
    pub(super) fn find(&self, address: u64) -> Option<KernelFunction<'_>> {
        let in_text = self.text.as_ref().and_then(|(text, start, _)| text.find(*start, address));
        in_text.or_else(|| self.list()?.find(address))
    }

    /// Returns the address of the first function of this name: [`Kallsyms::address_of`].
    pub(super) fn address_of(&self, name: &[u8]) -> Option<u64> {
        let in_head = self.text.as_ref().and_then(|(_, _, head)| head.address_of(name));
        in_head.or_else(|| self.list()?.address_of(name))
    }

    fn list(&self) -> Option<&Kallsyms> {
        self.list.get_or_init(|| Kallsyms::of_system(&self.system).ok()).as_ref()
    }
}

/// Returns true if the first functions of the list are in the copy. Their build id says so already,
/// but a name that may be wrong is worse than a slow one.
fn is_of(head: &Kallsyms, text: &KernelText, start: u64) -> bool {
    let last = head.iter().last().map(|function| function.address);
    // The lines of the last address may continue after the head.
    let mut known = head.iter().map(|function| function.address);
    known.all(|address| {
        // The copy has the functions of the text only.
        let in_text = text.find(start, address).filter(|_| Some(address) != last);
        in_text.is_none_or(|found| head.find(address) == Some(found))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    /// A made system, and a folder for the copy.
    struct Made(PathBuf);

    impl Made {
        fn new(name: &str, list: &str) -> Self {
            let made =
                Self(std::env::temp_dir().join(format!("perf-symbols-kernel-{name}-{}", std::process::id())));
            let _ = fs::remove_dir_all(&made.0);
            fs::create_dir_all(made.0.join("proc")).expect("a folder");
            made.write(list);
            made
        }

        fn write(&self, list: &str) {
            fs::write(self.0.join("proc/kallsyms"), list).expect("a list");
        }

        fn names(&self, id: u8) -> Result<KernelNames, KallsymsError> {
            let id = BuildId::new(&[id; 20]).expect("an id");
            KernelNames::of_system(&System::at(&self.0), Some((&self.0.join("cache"), id)))
        }
    }

    impl Drop for Made {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const FIRST: &str =
        "0 A percpu\n1000 T _text\n1000 T _stext\n1010 t inner\n2000 T _etext\n9000 t f\t[m]\n";
    /// Another boot, with another module.
    const SECOND: &str =
        "0 A percpu\n5000 T _text\n5000 T _stext\n5010 t inner\n6000 T _etext\n9100 t g\t[n]\n";

    #[test]
    fn names_of_a_second_boot_are_those_of_its_list() {
        let made = Made::new("boots", FIRST);
        assert!(made.names(1).expect("a list").text.is_none());
        made.write(SECOND);
        let names = made.names(1).expect("names");
        let name = |address| names.find(address).map(|found| found.name.to_vec());
        assert_eq!(name(0x5fff).as_deref(), Some(&b"inner"[..]));
        assert_eq!([names.address_of(b"_text"), names.address_of(b"_stext")], [Some(0x5000); 2]);
        assert!(names.text.is_some() && names.list.get().is_none(), "the list was not needed");
        assert_eq!(name(0x9100).as_deref(), Some(&b"g"[..]));
        assert_eq!([name(0x4fff), name(0)], [None, None]);
        assert!(names.list.get().is_some());
    }

    #[test]
    fn copy_that_differs_from_the_list_is_replaced() {
        let made = Made::new("differs", FIRST);
        made.names(1).expect("a list");
        // The same build id, but other functions.
        made.write(&SECOND.replace("_stext", "stext_"));
        let names = made.names(1).expect("a list");
        assert!(names.text.is_none());
        assert_eq!(names.find(0x5000).map(|found| found.name.to_vec()).as_deref(), Some(&b"stext_"[..]));
        assert!(made.names(1).expect("names").text.is_some());
        assert!(made.names(2).expect("a list").text.is_none());
    }

    #[test]
    fn hidden_addresses_are_an_error_with_a_copy_too() {
        let made = Made::new("hidden", FIRST);
        made.names(1).expect("a list");
        made.write("0 T _text\n0 T _stext\n0 t inner\n0 T _etext\n");
        assert!(matches!(made.names(1), Err(KallsymsError::Hidden { .. })));
    }

    #[test]
    fn names_by_a_copy_are_those_of_this_kernel() {
        let list = match Kallsyms::of_this_kernel() {
            Ok(list) => list,
            Err(reason) => return println!("skipped: {reason}"),
        };
        let text = list.iter().map(|function| String::from_utf8_lossy(function.name).into_owned());
        assert!(text.count() > 1000);
        let made = Made::new("live", "");
        fs::copy("/proc/kallsyms", made.0.join("proc/kallsyms")).expect("a copy");
        made.names(1).expect("a list");
        let names = made.names(1).expect("names");
        assert!(names.text.is_some());
        for function in list.iter() {
            let last = function.address + 1;
            assert_eq!(names.find(function.address), list.find(function.address));
            assert_eq!(names.find(last), list.find(last));
        }
    }
}
