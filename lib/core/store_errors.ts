// The rows of the error table for what the databases and their engines answer.

/** A part of `errorTable`; see there for the members. */
export const storeErrors = {
  database_busy: {
    status: 503,
    message: "Try again shortly; the database is busy",
    retryable: true,
    retryAfterSec: 1,
  },
  database_corrupt: {
    status: 503,
    message:
      "Restore a snapshot (GET …/snapshots, then POST …/restore); the database file is damaged or missing",
    retryable: false,
    retryAfterSec: 60,
  },
  snapshot_corrupt: {
    status: 503,
    message: "Choose another snapshot; the file of this one is damaged and nothing has changed",
    retryable: false,
  },
  storage_full: {
    status: 503,
    message: "Try again later; storage is full and the write was not kept",
    retryable: true,
    retryAfterSec: 30,
  },
  not_ready: {
    status: 503,
    message: "Try again shortly; a part of the service does not answer",
    retryable: true,
    retryAfterSec: 2,
  },
  store_unavailable: {
    status: 503,
    message: "Try again shortly; the tenant store does not answer",
    retryable: true,
    retryAfterSec: 2,
  },
  store_over_quota: {
    status: 503,
    message: "Have the operator raise the plan of the tenant store; its quota is used up",
    retryable: true,
    retryAfterSec: 60,
  },
  outcome_unknown: {
    status: 503,
    message:
      "Read before you repeat; the answer of the engine was lost, so whether the write was kept is not known",
    retryable: false,
    retryAfterSec: 1,
  },
} as const;
