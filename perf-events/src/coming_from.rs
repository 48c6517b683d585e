//! Tables for those who port a program from another library.
