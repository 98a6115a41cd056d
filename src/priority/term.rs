//! The terms of a priority: one table, in Slurm's order of additions.

use super::{Factors, Priced};
use crate::config::Config;

/// A term of the sum that gives a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// A factor times its weight.
    Factor(Factor),
    /// Site factor, added without a weight.
    Site,
    /// Nice value, subtracted without a weight.
    Nice,
}

impl Term {
    /// All terms, in Slurm's order of additions.
    pub const ALL: [Term; 9] = [
        Term::Factor(Factor::Age),
        Term::Factor(Factor::Assoc),
        Term::Factor(Factor::Fairshare),
        Term::Factor(Factor::JobSize),
        Term::Factor(Factor::Partition),
        Term::Factor(Factor::Qos),
        Term::Factor(Factor::Tres),
        Term::Site,
        Term::Nice,
    ];

    /// Its name in reports and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Term::Factor(factor) => factor.name(),
            Term::Site => "site",
            Term::Nice => "nice",
        }
    }

    /// The heading of sprio's column.
    pub const fn heading(self) -> &'static str {
        match self {
            Term::Factor(factor) => factor.heading(),
            Term::Site => "SITE",
            Term::Nice => "NICE",
        }
    }
}

/// Generates [`Factor`] and its properties from one line per factor. The field of a factor has the
/// same name in [`Factors`], [`Priced`] and [`Weights`].
macro_rules! factors {
    ($(
        #[doc = $doc:literal]
        $factor:ident: $field:ident, $letter:literal, $heading:literal, $key:literal, $weight:ident;
    )*) => {
        /// A factor that has a weight.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Factor {
            $(#[doc = $doc] $factor,)*
            /// Trackable resources, each with its own factor and weight.
            Tres,
        }

        impl Factor {
            /// All factors, in Slurm's order of additions, which is that of [`Factor::index`].
            pub const ALL: [Factor; 7] = [$(Factor::$factor,)* Factor::Tres];

            /// Factors with one weight: all except [`Factor::Tres`].
            pub const WITH_ONE_WEIGHT: [Factor; 6] = [$(Factor::$factor,)*];

            /// Its name in reports and JSON.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Factor::$factor => stringify!($field),)*
                    Factor::Tres => "tres",
                }
            }

            /// The heading of sprio's column.
            pub const fn heading(self) -> &'static str {
                match self {
                    $(Factor::$factor => $heading,)*
                    Factor::Tres => "TRES",
                }
            }

            /// The capital letter of sprio's column in its `-o` format.
            pub const fn letter(self) -> char {
                match self {
                    $(Factor::$factor => $letter,)*
                    Factor::Tres => 'T',
                }
            }

            /// slurm.conf's key of the weight.
            pub const fn weight_key(self) -> &'static str {
                match self {
                    $(Factor::$factor => $key,)*
                    Factor::Tres => "PriorityWeightTRES",
                }
            }

            /// The weight; `None` for [`Factor::Tres`], because each TRES has its own.
            pub fn weight(self, config: &Config) -> Option<u32> {
                match self {
                    $(Factor::$factor => Some(config.$weight),)*
                    Factor::Tres => None,
                }
            }

            /// [`Factor::weight`], mutable.
            pub fn weight_mut(self, config: &mut Config) -> Option<&mut u32> {
                match self {
                    $(Factor::$factor => Some(&mut config.$weight),)*
                    Factor::Tres => None,
                }
            }
        }

        impl Factors {
            /// A factor; `None` for [`Factor::Tres`], because each TRES has its own.
            pub fn of(&self, factor: Factor) -> Option<f64> {
                match factor {
                    $(Factor::$factor => Some(self.$field),)*
                    Factor::Tres => None,
                }
            }
        }

        impl Priced {
            /// The weighted factor; for [`Factor::Tres`], the sum over all TRES.
            pub fn points(&self, factor: Factor) -> f64 {
                match factor {
                    $(Factor::$factor => self.$field,)*
                    Factor::Tres => self.tres,
                }
            }
        }

        /// The weights as f64, which can hold every 32-bit number.
        #[derive(Clone, Copy, Debug)]
        pub(super) struct Weights {
            $(pub(super) $field: f64,)*
        }

        impl Weights {
            pub(super) fn of(config: &Config) -> Weights {
                Weights {
                    $($field: f64::from(config.$weight),)*
                }
            }
        }
    };
}

factors! {
    /// Waiting time of the job.
    Age: age, 'A', "AGE", "PriorityWeightAge", priority_weight_age;
    /// Priority of the association.
    Assoc: assoc, 'B', "ASSOC", "PriorityWeightAssoc", priority_weight_assoc;
    /// Fair share of the association.
    Fairshare: fairshare, 'F', "FAIRSHARE", "PriorityWeightFairshare", priority_weight_fairshare;
    /// Size of the job.
    JobSize: job_size, 'J', "JOBSIZE", "PriorityWeightJobSize", priority_weight_job_size;
    /// Priority of the partition.
    Partition: partition, 'P', "PARTITION", "PriorityWeightPartition", priority_weight_partition;
    /// Priority of the QOS.
    Qos: qos, 'Q', "QOS", "PriorityWeightQOS", priority_weight_qos;
}

impl Factor {
    /// Position in [`Factor::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl Priced {
    /// Contribution of a term to the priority. For a nice value, its negative (0, never -0, for 0).
    pub fn added(&self, term: Term) -> f64 {
        match term {
            Term::Factor(factor) => self.points(factor),
            Term::Site => f64::from(self.site),
            Term::Nice => 0.0 - f64::from(self.nice),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{NOW, config, job, tables};
    use super::super::{Job, Pricer};
    use super::*;
    use crate::config::SlurmConfReader;

    #[test]
    fn the_terms_add_up() {
        let job = Job {
            nice: 30,
            site_factor: 5,
            ..job()
        };
        let priced = Pricer::new(&config(), &tables(), NOW).unwrap().price(&job);
        let sum: f64 = Term::ALL.map(|term| priced.added(term)).iter().sum();
        assert_eq!(sum, priced.sum());
        assert_eq!(priced.added(Term::Nice), -30.0);
    }

    // slurm.conf(5) lists the keys, and sprio(1) the letters; the parser of slurm.conf has its own
    // list of keys.
    #[test]
    fn a_key_sets_its_weight() {
        for factor in Factor::WITH_ONE_WEIGHT {
            let key = factor.weight_key();
            let mut reader = SlurmConfReader::new();
            reader.read(&format!("{key}=77\n"), "slurm.conf");
            let config = reader.finish().unwrap();
            for other in Factor::ALL {
                let expected =
                    (other != Factor::Tres).then_some(if other == factor { 77 } else { 0 });
                assert_eq!(other.weight(&config), expected, "{key}");
            }
        }
    }

    #[test]
    fn a_factor_times_its_weight_is_its_points() {
        let (mut config, tables) = (config(), tables());
        for factor in Factor::WITH_ONE_WEIGHT {
            *factor.weight_mut(&mut config).unwrap() = 8;
        }
        let pricer = Pricer::new(&config, &tables, NOW).unwrap();
        let (factors, priced) = (pricer.factors(&job()), pricer.price(&job()));
        for factor in Factor::WITH_ONE_WEIGHT {
            assert_eq!(8.0 * factors.of(factor).unwrap(), priced.points(factor));
        }
        assert_eq!(factors.of(Factor::Tres), None);
    }

    #[test]
    fn positions_are_those_of_all() {
        for (at, factor) in Factor::ALL.into_iter().enumerate() {
            assert_eq!(factor.index(), at);
            assert_eq!(Term::ALL[at], Term::Factor(factor));
        }
        assert!(Term::ALL.is_sorted());
    }
}
