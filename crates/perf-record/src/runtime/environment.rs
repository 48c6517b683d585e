//! The variables by which the runtimes of a new command write the names of their functions.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::process::Command;

/// Environment variable that [`name_functions`] has set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Variable {
    /// Name of the variable.
    pub name: &'static str,
    /// Its value, with what it had before.
    pub value: OsString,
}

/// How a variable changes.
enum Change {
    /// Set unless the user has set it.
    Set(&'static str),
    /// Options that are added to the user's.
    Add(&'static str),
}

const CHANGES: [(&str, Change); 4] = [
    // Python 3.12 and newer. Others ignore it.
    ("PYTHONPERFSUPPORT", Change::Set("1")),
    // The second option gives interpreted functions separate frames.
    ("NODE_OPTIONS", Change::Add("--perf-basic-prof --interpreted-frames-native-stack")),
    // The map is written at exit from Java 17 on. An older JVM would refuse to start without the
    // first option.
    (
        "JAVA_TOOL_OPTIONS",
        Change::Add(
            "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer",
        ),
    ),
    ("DOTNET_PerfMapEnabled", Change::Set("1")),
];

/// Sets the variables by which Python (3.12 and newer), Node.js, Java (17 and newer) and .NET name
/// their functions for profilers, for the command and all that it starts. Returns what was set.
///
/// The options of Node.js and Java are added to those that the command has, and a variable that the
/// user has set stays. The runtimes write `/tmp/perf-PID.map`, which remains after the exit. Costs:
/// Python and Node.js run some percent slower; Java prints a line to standard error, and names only
/// what is compiled when it exits normally.
///
/// Ruby and `LuaJIT` have no variable that does not change how the program runs.
///
/// ```
/// use std::process::Command;
///
/// let mut command = Command::new("python3");
/// for variable in perf_record::runtime::name_functions(&mut command) {
///     println!("{variable}"); // PYTHONPERFSUPPORT=1
/// }
/// ```
///
/// # References
///
/// - [Python support for the perf profiler](https://docs.python.org/3/howto/perf_profiling.html)
/// - [Node.js: `--perf-basic-prof`](https://nodejs.org/api/cli.html#node_optionsoptions)
/// - [.NET: `DOTNET_PerfMapEnabled`][net]
///
/// [net]: https://learn.microsoft.com/dotnet/core/runtime-config/debugging-profiling
pub fn name_functions(command: &mut Command) -> Vec<Variable> {
    let mut set = Vec::new();
    for (name, change) in CHANGES {
        let before = variable(command, name);
        let value = match (change, before) {
            (Change::Set(_), Some(_)) => continue,
            (Change::Set(value) | Change::Add(value), None) => OsString::from(value),
            (Change::Add(options), Some(mut value)) => {
                value.push(" ");
                value.push(options);
                value
            }
        };
        command.env(name, &value);
        set.push(Variable { name, value });
    }
    set
}

/// Returns the value that the command will see, `None` for an empty one.
fn variable(command: &Command, name: &str) -> Option<OsString> {
    let own = command.get_envs().find(|(key, _)| *key == name);
    let value = match own {
        Some((_, value)) => value.map(OsStr::to_owned),
        None => env::var_os(name),
    };
    value.filter(|value| !value.is_empty())
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value.to_string_lossy();
        let quote = if value.contains(' ') { "'" } else { "" };
        write!(f, "{}={quote}{value}{quote}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_reach_the_command() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $PYTHONPERFSUPPORT; echo $NODE_OPTIONS; echo $DOTNET_PerfMapEnabled"]);
        command
            .env_remove("PYTHONPERFSUPPORT")
            .env_remove("NODE_OPTIONS")
            .env_remove("DOTNET_PerfMapEnabled");
        assert_eq!(name_functions(&mut command).len(), 4);
        let output = command.output().unwrap().stdout;
        assert_eq!(
            String::from_utf8_lossy(&output),
            "1\n--perf-basic-prof --interpreted-frames-native-stack\n1\n"
        );
    }

    #[test]
    fn values_of_the_user_stay() {
        let mut command = Command::new("true");
        command
            .env("PYTHONPERFSUPPORT", "0")
            .env("NODE_OPTIONS", "--inspect")
            .env("DOTNET_PerfMapEnabled", "");
        let set: Vec<_> = name_functions(&mut command).iter().map(ToString::to_string).collect();
        assert!(!set.iter().any(|variable| variable.starts_with("PYTHON")), "{set:?}");
        let node = "NODE_OPTIONS='--inspect --perf-basic-prof --interpreted-frames-native-stack'";
        assert!(set.iter().any(|variable| variable == node), "{set:?}");
        assert!(set.iter().any(|variable| variable == "DOTNET_PerfMapEnabled=1"), "{set:?}");
    }
}
