// Files that are groups of their own, because each starts and ends whole services or waits for time to pass: what they
// take decides when they start. A file that takes more than ten seconds alone on a quiet machine belongs here.

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
  "tests/faults/sqld_rounds_test.ts": { seconds: 11, waits: true },
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
  "tests/security/approval_rows_test.ts": { seconds: 20 },
  "tests/deploy/suites_test.ts": { seconds: 18 },
  "tests/faults/start_test.ts": { seconds: 16 },
  "tests/tenant/wasm_gate_store_test.ts": { seconds: 10 },
  "tests/tenant/turso_store_test.ts": { seconds: 9 },
  "tests/tenant/sqld_store_test.ts": { seconds: 9 },
  "tests/faults/replay_faults_test.ts": { seconds: 8 },
  "tests/tenant/local_store_test.ts": { seconds: 7 },
};
