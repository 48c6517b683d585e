use super::*;

#[test]
fn exit_status_of_a_command_is_passed_on() {
    assert_eq!(exit_number(ExitStatus::from_raw(0)), 0);
    assert_eq!(exit_number(ExitStatus::from_raw(3 << 8)), 3);
}

#[test]
fn killed_command_exits_with_128_and_the_signal() {
    assert_eq!(exit_number(ExitStatus::from_raw(9)), 137);
    assert_eq!(exit_number(ExitStatus::from_raw(15)), 143);
}

#[test]
fn missing_command_is_not_started() {
    let error = HeldCommand::spawn(&["/no/such/command".into()]).unwrap_err();
    assert_eq!(error.exit_code(), ExitCode::from(127));
    assert!(error.to_string().starts_with("cannot execute `/no/such/command`: "), "{error}");
    assert_eq!(
        HeldCommand::spawn(&["no-such-command-in-the-path".into()]).unwrap_err().exit_code(),
        ExitCode::from(127)
    );
}

#[test]
fn file_that_is_not_executable_is_not_started() {
    for path in ["/", "/proc/self/status"] {
        let error = HeldCommand::spawn(&[path.into()]).unwrap_err();
        assert_eq!(error.exit_code(), ExitCode::from(126), "{error}");
    }
}

#[test]
fn command_is_searched_in_the_path() {
    assert!(lookup::check("sh".as_ref()).is_ok());
    assert!(lookup::check("".as_ref()).is_err());
}
