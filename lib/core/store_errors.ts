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
    retryAfterSec: 60,
  },
  snapshot_corrupt: {
    status: 503,
    message: "Choose another snapshot; the file of this one is damaged and nothing has changed",
  },
  archive_off: { status: 409, message: "Choose a snapshot; this service archives no moments (ARCHIVE_URL)" },
  archive_too_early: {
    status: 404,
    message: "Choose a later moment or a snapshot; the archive of this database begins later",
  },
  archive_gap: {
    status: 404,
    message: "Choose another moment; what was written around this one is not in the archive",
  },
  archive_damaged: {
    status: 503,
    message:
      "Choose another moment or a snapshot; a part of the archive is lost or altered and nothing has changed",
  },
  archive_unavailable: {
    status: 503,
    message: "Try again shortly; the archive does not answer and nothing has changed",
    retryable: true,
    retryAfterSec: 10,
  },
  backup_failed: {
    status: 503,
    message: "Try again shortly; the backup could not be made and nothing has changed",
    retryable: true,
    retryAfterSec: 10,
  },
  backup_elsewhere: {
    status: 501,
    message: "Back up the KV server itself; this service keeps its control plane there (KV_URL, Deno Deploy)",
  },
  storage_full: {
    status: 503,
    message: "Try again later; storage is full or cannot be written, and a write is not kept",
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
    retryAfterSec: 1,
  },
} as const;
