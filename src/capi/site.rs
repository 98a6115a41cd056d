//! `ft_site`: the cluster, partitions, QOS and TRES that jobs are priced with.

use std::collections::BTreeMap;
use std::ffi::c_char;

use crate::priority::{Index, JobTables, Partition, Qos};

use super::error::{Failure, Status};
use super::guard;
use super::handle::{self, Handle};
use super::tree::FT_NONE;
use super::view::{self, Out};

/// No limit: the longest time of a partition, or the time limit of a job.
pub const FT_UNLIMITED: u32 = 0xffff_ffff;

/// The largest PriorityJobFactor of a partition.
pub const FT_JOB_FACTOR_MAX: u32 = 65_533;

/// The tables that jobs refer to: the size of the cluster, its TRES, partitions and QOS.
///
/// Partitions and QOS have positions, from 0 up, in the order in which they were added.
/// Made by ft_site_new(); freed by ft_site_free().
pub struct SiteHandle {
    _opaque: [u8; 0],
}

impl Handle for SiteHandle {
    const TAG: u64 = 0x6674_5f73_6974_6503;
    const NAME: &'static str = "ft_site";
    type Model = SiteModel;
}

/// The value of an `ft_site`.
#[derive(Default)]
pub struct SiteModel {
    /// Without lists of jobs and without associations; priorities are not normalised yet.
    tables: JobTables,
    assoc_priorities: BTreeMap<u32, u32>,
}

impl SiteModel {
    /// Number of TRES: the length of a row of counts.
    pub(super) fn tres_len(&self) -> usize {
        self.tables.tres_names.len()
    }

    /// Priorities of associations by id, for those that were given one.
    pub(super) fn assoc_priorities(&self) -> &BTreeMap<u32, u32> {
        &self.assoc_priorities
    }

    /// The engine's tables, normalised; without associations and what jobs ask for.
    pub(super) fn tables(&self) -> JobTables {
        let mut tables = self.tables.clone();
        let largest = tables
            .partitions
            .iter()
            .map(|p| p.priority_job_factor)
            .max();
        for partition in &mut tables.partitions {
            let factor = u32::from(partition.priority_job_factor);
            partition.norm_priority = normalised(factor, u32::from(largest.unwrap_or(0)));
        }
        let largest = tables.qos.iter().map(|qos| qos.priority).max();
        for qos in &mut tables.qos {
            qos.norm_priority = normalised(qos.priority, largest.unwrap_or(0));
        }
        tables
    }
}

/// A priority over the largest one, 0..=1; 0 where all are 0.
fn normalised(priority: u32, largest: u32) -> f64 {
    if largest == 0 {
        return 0.0;
    }
    f64::from(priority) / f64::from(largest)
}

/// Makes a site without partitions and QOS.
///
/// `cpus`, `nodes`: size of the cluster, for the job size factor; 0 makes that factor 0.
/// `tres_names`: names of the TRES that jobs may request, as in PriorityWeightTRES ("cpu",
/// "mem", "gres/gpu"), in the order that counts of TRES will have; may be empty.
/// `site`: receives the site, which is yours to free.
///
/// Errors: FT_ERR_UTF8, FT_ERR_RANGE (two TRES with one name, or an empty one), FT_ERR_NULL,
/// FT_ERR_LENGTH, FT_ERR_ALIGN.
/// Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_site_new(
    cpus: u32,
    nodes: u32,
    tres_names: *const *const c_char,
    tres_names_len: usize,
    site: *mut *mut SiteHandle,
) -> i32 {
    guard::status("ft_site_new", || {
        let out = Out::new(site, "site")?;
        // SAFETY: the caller passes a readable array.
        let pointers = unsafe { view::slice(tres_names, tres_names_len, "tres_names")? };
        let mut names = Vec::with_capacity(pointers.len());
        for (number, pointer) in pointers.iter().enumerate() {
            // SAFETY: the caller passes terminated strings.
            let name = unsafe { view::string(*pointer, &format!("tres_names[{number}]"))? };
            names.push(name.to_owned());
        }
        refuse_bad_names(&names)?;
        let tables = JobTables {
            tres_names: names,
            cluster_cpus: cpus,
            cluster_nodes: nodes,
            ..JobTables::default()
        };
        let model = SiteModel {
            tables,
            ..SiteModel::default()
        };
        // SAFETY: the caller passes a writable pointer.
        unsafe { out.write(handle::new(model)) };
        Ok(())
    })
}

fn refuse_bad_names(names: &[String]) -> Result<(), Failure> {
    let mut seen = std::collections::BTreeSet::new();
    for (number, name) in names.iter().enumerate() {
        if name.is_empty() || !seen.insert(name.to_lowercase()) {
            return Err(Failure::new(
                Status::FT_ERR_RANGE,
                format!("tres_names[{number}]: {name:?} is empty or stands twice"),
            ));
        }
    }
    Ok(())
}

/// Frees a site. NULL is allowed; freeing a site twice is an error.
///
/// Threads: no other thread may use the site.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ft_site_free(site: *mut SiteHandle) {
    guard::value("ft_site_free", (), || {
        // SAFETY: the caller passes NULL or a handle of its own and does not use it again.
        unsafe { handle::free(site) };
    });
}

/// Adds a partition.
///
/// `priority_job_factor`: PriorityJobFactor of the partition, 0..FT_JOB_FACTOR_MAX.
/// `max_time_mins`: MaxTime in minutes, or FT_UNLIMITED.
/// `tres`: how much of each TRES the partition has, in the order of the names given to
/// ft_site_new(); or (NULL, 0), if that is not known: its jobs then have no TRES factors.
/// `position`: receives the position of the partition; may be NULL.
///
/// Errors: FT_ERR_RANGE, FT_ERR_LENGTH, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED. The site is then unchanged.
/// Threads: one at a time per site.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_site_add_partition(
    site: *mut SiteHandle,
    priority_job_factor: u32,
    max_time_mins: u32,
    tres: *const u64,
    tres_len: usize,
    position: *mut u32,
) -> i32 {
    guard::status("ft_site_add_partition", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and a readable array.
        let (mut handle, tres) = unsafe {
            (
                handle::exclusive(site, "site")?,
                view::slice(tres, tres_len, "tres")?,
            )
        };
        let out = Out::optional(position, "position")?;
        let factor = u16::try_from(priority_job_factor).ok();
        let factor = factor.filter(|factor| u32::from(*factor) <= FT_JOB_FACTOR_MAX);
        let priority_job_factor = factor.ok_or_else(|| {
            Failure::new(
                Status::FT_ERR_RANGE,
                format!("priority_job_factor is {priority_job_factor}, allowed are 0..{FT_JOB_FACTOR_MAX}"),
            )
        })?;
        let tables = &handle.get().tables;
        if !tres.is_empty() {
            view::expect_len(tres.len(), tables.tres_names.len(), "TRES", "tres")?;
        }
        let partition = Partition {
            priority_job_factor,
            norm_priority: 0.0,
            max_time_mins: (max_time_mins != FT_UNLIMITED).then_some(max_time_mins),
            tres: (!tres.is_empty()).then(|| Index::new(tables.tres_counts.len())),
        };
        let number = next_position(tables.partitions.len())?;
        handle.edit(|model| {
            model.tables.partitions.push(partition);
            model.tables.tres_counts.extend_from_slice(tres);
        });
        if let Some(out) = out {
            // SAFETY: the caller passes a writable pointer.
            unsafe { out.write(number) };
        }
        Ok(())
    })
}

/// Adds a QOS.
///
/// `priority`: Priority of the QOS.
/// `position`: receives the position of the QOS; may be NULL.
///
/// Errors: FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED. The site is then
/// unchanged.
/// Threads: one at a time per site.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_site_add_qos(
    site: *mut SiteHandle,
    priority: u32,
    position: *mut u32,
) -> i32 {
    guard::status("ft_site_add_qos", || {
        // SAFETY: the caller passes a live handle that no other thread uses.
        let mut handle = unsafe { handle::exclusive(site, "site")? };
        let out = Out::optional(position, "position")?;
        let number = next_position(handle.get().tables.qos.len())?;
        handle.edit(|model| {
            model.tables.qos.push(Qos {
                priority,
                norm_priority: 0.0,
            });
        });
        if let Some(out) = out {
            // SAFETY: the caller passes a writable pointer.
            unsafe { out.write(number) };
        }
        Ok(())
    })
}

fn next_position(len: usize) -> Result<u32, Failure> {
    u32::try_from(len)
        .ok()
        .filter(|number| *number != FT_NONE)
        .ok_or_else(|| Failure::new(Status::FT_ERR_LENGTH, "the table is full"))
}

/// Sets the priority of associations, for PriorityWeightAssoc; others have 0.
///
/// `ids`: associations, in the tree or not (yet). `priorities`: one per id.
///
/// Errors: FT_ERR_LENGTH (the two lengths differ), FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
/// FT_ERR_POISONED. The site is then unchanged.
/// Threads: one at a time per site.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_site_set_assoc_priorities(
    site: *mut SiteHandle,
    ids: *const u32,
    ids_len: usize,
    priorities: *const u32,
    priorities_len: usize,
) -> i32 {
    guard::status("ft_site_set_assoc_priorities", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and readable arrays.
        let (mut handle, ids, priorities) = unsafe {
            (
                handle::exclusive(site, "site")?,
                view::slice(ids, ids_len, "ids")?,
                view::slice(priorities, priorities_len, "priorities")?,
            )
        };
        view::expect_len(priorities.len(), ids.len(), "ids", "priorities")?;
        let pairs = ids.iter().copied().zip(priorities.iter().copied());
        handle.edit(|model| model.assoc_priorities.extend(pairs));
        Ok(())
    })
}
