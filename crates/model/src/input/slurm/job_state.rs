//! The words of `JobState`: squeue(1), JOB STATE CODES.

/// Phase of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobPhase {
    /// It is waiting, held or not.
    Pending,
    /// It has nodes: it runs, is suspended or stopped, or its nodes are made ready.
    Running,
    /// It has ended, or another cluster runs it. Its nodes are free, or will be within seconds.
    Ended,
}

impl JobPhase {
    /// The phase by the word of `JobState`, in capitals; `None` for another word.
    pub fn of(state: &str) -> Option<JobPhase> {
        Some(match state {
            "PENDING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD" | "SPECIAL_EXIT"
            | "RESV_DEL_HOLD" => JobPhase::Pending,
            "RUNNING" | "SUSPENDED" | "STOPPED" | "CONFIGURING" | "RESIZING" | "SIGNALING" => {
                JobPhase::Running
            }
            "BOOT_FAIL" | "CANCELLED" | "COMPLETED" | "COMPLETING" | "DEADLINE" | "FAILED"
            | "NODE_FAIL" | "OUT_OF_MEMORY" | "PREEMPTED" | "REVOKED" | "STAGE_OUT" | "TIMEOUT" => {
                JobPhase::Ended
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // All words of squeue(1) of Slurm 22.05 and 24.11. A job that stages out has ended: slurmctld starts that
    // when it deallocates the nodes.
    #[test]
    fn each_state_has_its_phase() {
        let words = |text: &'static str| text.split(' ');
        for (phase, states) in [
            (
                JobPhase::Pending,
                "PENDING REQUEUED REQUEUE_FED REQUEUE_HOLD SPECIAL_EXIT RESV_DEL_HOLD",
            ),
            (
                JobPhase::Running,
                "RUNNING SUSPENDED STOPPED CONFIGURING RESIZING SIGNALING",
            ),
            (
                JobPhase::Ended,
                "BOOT_FAIL CANCELLED COMPLETED COMPLETING DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PREEMPTED \
                 REVOKED STAGE_OUT TIMEOUT",
            ),
        ] {
            for state in words(states) {
                assert_eq!(JobPhase::of(state), Some(phase), "{state}");
            }
        }
        assert_eq!(JobPhase::of("RUNING"), None);
    }
}
