//! Attaches BPF programs to perf events, reads their output and uses their maps.

#![deny(unsafe_code)]
