//! One pass: usage, ranks, priorities. Knows no host, no clock, no files.
