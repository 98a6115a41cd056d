//! The few functions that `compat=slurm` uses from a C library.

use std::hint::black_box;

use super::quirks::Quirks;
use crate::compat::Compat;
use crate::extended::Extended;

/// `logl` and `pow` of the host whose numbers must be reproduced.
///
/// Stock `priority/multifactor` calls `pow` for classic factors, and both for `DEPTH_OBLIVIOUS`.
/// Documented mode uses neither: its factors are the same on every machine.
///
/// ```
/// use fairtree::fairshare::HostMath;
/// // A host with x87 arithmetic would pass its own `logl` here.
/// let host = HostMath { pow: f64::powf, ..HostMath::default() };
/// ```
#[derive(Clone, Copy, Debug)]
pub struct HostMath {
    /// `logl`, for positive finite numbers. The error of the default is below one unit of the 64th
    /// bit, near 1 below 2^-100. The result is used only in an exponent that is rounded to an
    /// `f64`, so effective usage nearly always equals stock's to the last bit (in all but 4 of
    /// 900,000 associations of random trees), and is otherwise within 2^-48 of it.
    pub logl: fn(Extended) -> Extended,
    /// `pow` of `f64`. The default is that of the C library with which this program runs: with
    /// glibc on x86-64, the one that slurmctld calls.
    pub pow: fn(f64, f64) -> f64,
}

impl Default for HostMath {
    fn default() -> HostMath {
        HostMath {
            logl: Extended::ln,
            // Hidden from the optimiser, which would replace powers of 2 by calls of `exp2`.
            pow: |base, exponent| f64::powf(black_box(base), exponent),
        }
    }
}

/// `2^exponent` as an `f64`.
#[derive(Clone, Copy)]
pub(super) struct PowerOfTwo {
    /// The host's `pow`; `None`: a function that is the same on every machine.
    pow: Option<fn(f64, f64) -> f64>,
}

impl PowerOfTwo {
    pub(super) fn of(self, exponent: Extended) -> f64 {
        match self.pow {
            None => exponent.exp2().to_f64(),
            Some(pow) => pow(2.0, exponent.to_f64()),
        }
    }
}

impl HostMath {
    pub(super) fn power(self, compat: Compat) -> PowerOfTwo {
        PowerOfTwo {
            pow: Quirks::of(compat).host_math.then_some(self.pow),
        }
    }
}
