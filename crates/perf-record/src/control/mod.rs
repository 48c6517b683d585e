//! Control of a recording by another program: the protocol of `perf record --control`.

mod ack;
mod command;
mod error;
mod open;
mod reader;

pub use ack::ControlAck;
pub use command::ControlCommand;
pub use error::ControlError;
pub use reader::ControlReader;

/// The two ends of a control channel: commands come in lines, and each is acknowledged in order.
///
/// Benchmark harnesses use it to record only the part that they measure. They start the recorder
/// with disabled events, then write `enable` before that part and `disable` after it.
///
/// ```
/// use std::io::{Read, Write};
/// use std::process::Command;
///
/// use perf_record::{Control, ControlCommand};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("control-{}", std::process::id()));
/// # std::fs::create_dir(&folder)?;
/// # let (commands, acks) = (folder.join("ctl"), folder.join("ack"));
/// # assert!(Command::new("mkfifo").arg(&commands).arg(&acks).status()?.success());
/// let text = format!("fifo:{},{}", commands.display(), acks.display());
/// let Control { reader, mut ack, .. } = Control::open(&text)?;
/// # let file = |path: &std::path::Path| std::fs::OpenOptions::new().read(true).write(true).open(path);
/// # file(&commands)?.write_all(b"ping\nenable cycles\n")?;
/// for command in reader.take(2) {
///     match command? {
///         ControlCommand::Ping => println!("ping"),
///         ControlCommand::Enable(events) => println!("enable {events:?}"), // by EventSet::enable_events
///         other => println!("not handled: {other}"),
///     }
///     ack.send()?;
/// }
/// # let mut read = [0; 10];
/// # file(&acks)?.read_exact(&mut read)?;
/// # assert_eq!(&read, b"ack\n\0ack\n\0");
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Control {
    /// Reads the commands, blocking.
    pub reader: ControlReader,
    /// Sends the acknowledgements, which are dropped if the program did not ask for them.
    pub ack: ControlAck,
}
