//! Compares the records that a plugin left with the expected ones, field by field.

use super::mismatch::{FACTOR, Mismatch, Mismatches, USAGE, of_power};
use super::model::Left;
use super::number::exact;
use super::price::AllBounds;
use super::records::{Assoc, Job, Leaf, Qos, Records, Usage};

/// The fields that differ from their expected values.
pub fn mismatches(left: &Left, after: &Records) -> Vec<Mismatch> {
    let mut found = Mismatches(vec![]);
    let must = &left.records;
    if must.times != after.times {
        found.add(
            "daemon 0 times",
            format!("{:?}", must.times),
            format!("{:?}", after.times),
        );
    }
    for (id, is) in &after.assocs {
        if let Some(must) = must
            .assocs
            .get(id)
            .filter(|must| !std::rc::Rc::ptr_eq(must, is))
        {
            found.assoc(*id, must, is);
        }
    }
    for (id, is) in &after.qos {
        if let Some(must) = must
            .qos
            .get(id)
            .filter(|must| !std::rc::Rc::ptr_eq(must, is))
        {
            found.qos(*id, must, is);
        }
    }
    for (id, is) in &after.jobs {
        if let Some(must) = must
            .jobs
            .get(id)
            .filter(|must| !std::rc::Rc::ptr_eq(must, is))
        {
            found.job(*id, must, is, &left.bounds);
        }
    }
    found.0
}

impl Mismatches {
    fn usage(&mut self, record: &str, must: &Usage, is: &Usage) {
        self.near(&format!("{record} usage_raw"), &must.raw, &is.raw, USAGE);
        self.near(&format!("{record} wall"), &must.wall, &is.wall, USAGE);
        for (at, (must, is)) in must.tres.iter().zip(&is.tres).enumerate() {
            self.near(&format!("{record} tres_raw[{at}]"), must, is, USAGE);
        }
    }

    fn assoc(&mut self, id: u32, must: &Assoc, is: &Assoc) {
        let name = |field: &str| format!("assoc {id} {field}");
        self.usage(&format!("assoc {id}"), &must.usage, &is.usage);
        match (&must.leaf, &is.leaf) {
            (Leaf::Apart(must), Leaf::Apart(is)) => {
                self.usage(&format!("assoc {id} leaf"), must, is);
            }
            (must, is) => self.equal(&name("leaf"), must, is),
        }
        self.equal(&name("run_secs"), &must.run_secs, &is.run_secs);
        self.near(
            &name("shares_norm"),
            &exact(must.shares_norm),
            &exact(is.shares_norm),
            1e-14,
        );
        self.number(
            &name("usage_norm"),
            &must.usage_norm,
            &is.usage_norm,
            FACTOR,
        );
        self.effective_usage(
            &name("usage_efctv"),
            [&must.usage_norm, &must.usage_efctv],
            &is.usage_efctv,
        );
        self.number(&name("level_fs"), &must.level_fs, &is.level_fs, FACTOR);
        let relative = of_power(&must.fs_factor);
        self.near(&name("fs_factor"), &must.fs_factor, &is.fs_factor, relative);
    }

    fn qos(&mut self, id: u32, must: &Qos, is: &Qos) {
        self.usage(&format!("qos {id}"), &must.usage, &is.usage);
        self.equal(&format!("qos {id} run_secs"), &must.run_secs, &is.run_secs);
        for (whose, is) in &is.used {
            // An account or user gets a counter of 0 at its first charge.
            let none = vec![0; is.len()];
            let must = must.used.get(whose).unwrap_or(&none);
            self.equal(&format!("qos {id} {whose}"), must, is);
        }
    }

    fn job(&mut self, id: u32, must: &Job, is: &Job, bounds: &AllBounds) {
        let name = |field: &str| format!("job {id} {field}");
        self.terms(&format!("job {id}"), &must.terms, &is.terms);
        self.equal(&name("end_time_exp"), &must.end_time_exp, &is.end_time_exp);
        self.equal(&name("billable_tres"), &must.billing, &is.billing);
        let exactly = [(must.priority, must.priority)];
        let array = must.array.iter().map(|priority| (*priority, *priority));
        let all = bounds.get(&id).cloned();
        let all = all.unwrap_or_else(|| exactly.into_iter().chain(array).collect());
        let is_all = [is.priority].into_iter().chain(is.array.iter().copied());
        for (at, is) in is_all.enumerate() {
            let (low, high) = all.get(at).copied().unwrap_or((0, 0));
            if !(low..=high).contains(&is) {
                let field = if at == 0 {
                    name("priority")
                } else {
                    name(&format!("array[{}]", at - 1))
                };
                self.add(field, format!("{low} to {high}"), is.to_string());
            }
        }
    }
}
