// Problems of a store that still answers.

/**
 * - `admin_refused`, `admin_unreachable`: databases work, but none can be made, copied or removed: the secret is refused,
 *   or nobody answers there.
 * - `near_open_max`: the server has nearly as many databases as it can have open.
 * - `restart_needed`: the program's files have changed under the running service, so that no engine child may start.
 * - `archive_away`: the archive does not answer, and waits on the disk. `archive_taken`: another service archives there.
 * - `backup_late`: of the KV: its changes are in no backup of the archive for too long. `damaged`: a part of its file is.
 */
export type StoreStrain =
  | "admin_refused"
  | "admin_unreachable"
  | "near_open_max"
  | "restart_needed"
  | "archive_away"
  | "archive_taken"
  | "backup_late"
  | "damaged";
