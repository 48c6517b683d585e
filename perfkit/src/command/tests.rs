use std::sync::mpsc::channel;

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
fn command_that_cannot_be_started_exits_as_in_a_shell() {
    let start = |program: &str| command(&[program.into()]).unwrap().spawn().unwrap_err();
    assert_eq!(start_exit_code(&start("/no/such/command")), ExitCode::from(127));
    assert_eq!(start_exit_code(&start("/")), ExitCode::from(126));
    assert!(command(&[]).is_none());
}

#[test]
fn exit_of_a_command_is_noticed_before_it_is_waited_for() {
    let (exited, wait) = channel();
    let mut sleeps = command(&["sleep".into(), "1000".into()]).unwrap();
    let running = RunningCommand(sleeps.spawn().unwrap());
    running.on_exit(move || exited.send(()).unwrap()).unwrap();
    running.terminate().unwrap();
    wait.recv().unwrap();
    running.terminate().unwrap();
    assert_eq!(exit_number(running.wait().unwrap()), 143);
}
