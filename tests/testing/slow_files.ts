// What takes long, and about how long: it decides what starts first, so that no long group is left for the end.
// Files are groups of their own where each starts and ends whole services or waits for time to pass. A file that takes more than ten seconds alone on a quiet machine belongs here.

interface SlowFile {
  /** About, on two processors. */
  readonly seconds: number;
  /** More than half of that is waiting. */
  readonly waits?: boolean;
}

export const slowFiles: Readonly<Record<string, SlowFile>> = {
  "tests/faults/writes_faults_test.ts": { seconds: 65, waits: true },
  "tests/faults/relay_test.ts": { seconds: 64, waits: true },
  "tests/faults/sqld_faults_test.ts": { seconds: 60, waits: true },
  "tests/deploy/hosted_test.ts": { seconds: 53, waits: true },
  "tests/faults/slow_heads_test.ts": { seconds: 35, waits: true },
  "tests/faults/full_disk_test.ts": { seconds: 29, waits: true },
  "tests/tenant/remote_branches_test.ts": { seconds: 26, waits: true },
  "tests/faults/restore_instances_test.ts": { seconds: 24, waits: true },
  "tests/tenant/turso_faults_test.ts": { seconds: 23, waits: true },
  "tests/tenant/remote_faults_test.ts": { seconds: 23, waits: true },
  "tests/faults/relay_upkeep_test.ts": { seconds: 20, waits: true },
  "tests/faults/branch_storm_test.ts": { seconds: 16, waits: true },
  "tests/transactions/kills_test.ts": { seconds: 15, waits: true },
  "tests/transactions/remote_test.ts": { seconds: 12, waits: true },
  "tests/faults/sqld_rounds_test.ts": { seconds: 11, waits: true },
  "tests/faults/archive_kills_test.ts": { seconds: 9, waits: true },
  "tests/tenant/archive_away_test.ts": { seconds: 7, waits: true },
  "tests/changes/streams_test.ts": { seconds: 8, waits: true },
  "tests/changes/webhooks_test.ts": { seconds: 8, waits: true },
  "tests/changes/webhook_kills_test.ts": { seconds: 6, waits: true },
  "tests/faults/feed_instances_test.ts": { seconds: 26, waits: true },
  "tests/faults/copy_faults_test.ts": { seconds: 13, waits: true },
  "tests/faults/kv_answers_test.ts": { seconds: 8, waits: true },
  "tests/faults/relay_process_test.ts": { seconds: 8, waits: true },
  "tests/browser/console_pages_test.ts": { seconds: 39 },
  "tests/browser/docs_test.ts": { seconds: 32 },
  "tests/browser/console_database_pages_test.ts": { seconds: 22 },
  "tests/browser/console_sql_test.ts": { seconds: 17 },
  "tests/browser/console_approval_test.ts": { seconds: 14 },
  "tests/faults/engine_test.ts": { seconds: 39 },
  "tests/faults/memory_test.ts": { seconds: 33 },
  "tests/faults/damaged_files_test.ts": { seconds: 29 },
  "tests/faults/slow_reads_test.ts": { seconds: 25 },
  "tests/security/approval_rows_test.ts": { seconds: 20 },
  "tests/deploy/suites_test.ts": { seconds: 18 },
  "tests/faults/start_test.ts": { seconds: 16 },
  "tests/tenant/wasm_gate_store_test.ts": { seconds: 10 },
  "tests/tenant/turso_store_test.ts": { seconds: 9 },
  "tests/tenant/sqld_store_test.ts": { seconds: 9 },
  "tests/faults/replay_faults_test.ts": { seconds: 8 },
  "tests/tenant/local_store_test.ts": { seconds: 7 },
};

/** Folders whose other files together take longer than most, with ` on sqld` behind those that run there: seconds. */
export const slowFolders: Readonly<Record<string, number>> = {
  "tests/faults": 100,
  "tests/branches on sqld": 45,
  "tests/published": 50,
  "tests/query on sqld": 33,
  "tests/writes on sqld": 33,
  "tests/query": 25,
  "tests/replay": 24,
  "tests/docs": 24,
  "tests/branches": 22,
  "tests/published on sqld": 22,
  "tests/endpoints on sqld": 20,
  "tests/models on sqld": 19,
  "tests/tenant": 17,
  "tests/people on sqld": 15,
  "tests/writes": 15,
  "tests/money": 14,
  "tests/replay on sqld": 14,
  "tests/schema on sqld": 13,
  "tests/security": 13,
  "tests/routes": 11,
  "tests/schema": 10,
};
