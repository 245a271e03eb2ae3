// The widest sweeps: they run in continuous integration and by `deno task test:all`, and not with `deno task test`, which
// a person waits for. Of what tenants in the embedded store promise nothing is here but what fills the memory or the
// processors of a machine (`FILLING`); what a change breaks is found by what is left, or at the latest before it is merged.

/** Files and folders → why a change can wait for them. They hold for both runs of a file, or for one: `ON_SQLD` ends those. */
export const wideSweeps: Readonly<Record<string, string>> = {
  "tests/browser/console_connect_test.ts":
    "an MCP client's consent in a browser; tests/oauth goes every way of it by HTTP",
  "tests/browser/console_database_pages_test.ts":
    "every page of a database in both themes and on a phone; tests/console asks for each page",
  "tests/browser/console_pages_test.ts":
    "every page of a namespace in both themes and on a phone; tests/console asks for each page",
  "tests/browser/console_sql_test.ts": "the SQL editor in a browser; tests/console sends what it sends",
  "tests/browser/docs_test.ts":
    "every page of the documentation in both themes; tests/docs reads and runs each",
  "tests/browser/first_app_test.ts":
    "the guide's page in a browser; tests/docs runs the guide's other examples",
  "tests/deploy/suites_test.ts": "runs suites again over two instances; hosted_test.ts runs two instances",
  "tests/hrana/hrana_client_test.ts":
    "168 cases of one more client, beside sqld; tests/hrana holds what they are about",
  "tests/faults/branch_storm_test.ts": "races instances on sqld; tests/branches holds what a branch is",
  "tests/faults/feed_instances_test.ts":
    "two instances on sqld, one of which is killed; tests/changes holds what feed and webhooks are",
  "tests/faults/memory_test.ts": "fills the memory of whole services; engine_test.ts ends single children",
  "tests/faults/slow_reads_test.ts":
    "reads without end, for as long as it takes; engine_test.ts and gives_way_test.ts hold whom they stand aside for",
  "tests/security/approval_rows_test.ts": "100,000 rows; tests/writes holds approvals of few",
  "tests/faults/relay_branches_test.ts":
    "faults of a network to sqld, one by one; remote_faults_test.ts holds each",
  "tests/faults/relay_process_test.ts":
    "faults of a network to sqld, one by one; remote_faults_test.ts holds each",
  "tests/faults/relay_test.ts": "faults of a network to sqld, one by one; remote_faults_test.ts holds each",
  "tests/faults/relay_upkeep_test.ts":
    "faults of a network to sqld, one by one; remote_faults_test.ts holds each",
  "tests/faults/restore_instances_test.ts": "lets claims of instances on sqld run out",
  "tests/faults/sqld_rounds_test.ts":
    "kills in rounds; replay_faults_test.ts runs them on the embedded store",
  "tests/tenant/gate_engines_test.ts":
    "all of the corpus in a second build of SQLite; remote_gate_test.ts holds the gate",
  "tests/tenant/turso_faults_test.ts":
    "faults of a network, as Turso's servers show them; remote_faults_test.ts holds each",
  "tests/tenant/turso_store_test.ts": "the contract of stores a third time; sqld_store_test.ts passes it",
  "tests/tenant/wasm_gate_store_test.ts":
    "the contract of stores a fourth time; sqld_store_test.ts passes it",
  "tests/branches/merge_values_test.ts on sqld": "random rows; merge_test.ts merges on sqld",
  "tests/endpoints on sqld": "an endpoint ends in a statement, and tests/query runs those on sqld",
  "tests/branches/claim_test.ts on sqld": "claims are records of the KV; merge_test.ts copies there",
  "tests/branches/diff_test.ts on sqld": "merge_test.ts, which begins with what differs, merges on sqld",
  "tests/branches/merge_schema_test.ts on sqld":
    "changes of schemas; merge_test.ts merges on sqld, migrations_test.ts changes schemas there",
  "tests/migrations/rehearsal_test.ts on sqld": "runs on a copy; migrations_test.ts migrates on sqld",
  "tests/query/param_sets_like_batch_test.ts on sqld":
    "each way of a batch; param_sets_writes_test.ts writes sets in sqld",
  "tests/query/param_sets_stops_test.ts on sqld": "waits for time bounds, which the contract of stores holds",
  "tests/transfer/import_files_test.ts on sqld":
    "the same children read every file; import_test.ts imports into sqld",
  "tests/writes/preview_shapes_test.ts on sqld":
    "shapes of statements, one by one; propose_test.ts and replaced_rows_test.ts preview in sqld",
  "tests/hrana/pipeline_test.ts on sqld":
    "what a pipeline means is decided before a store; libsql_client_test.ts asks sqld",
  "tests/models on sqld": "random cases; the suites by hand run on sqld",
  "tests/money on sqld": "what a call costs is counted before and behind the store",
  "tests/transfer/export_test.ts on sqld":
    "the same children write every export; import_test.ts exports and imports on sqld",
  "tests/published on sqld": "an endpoint ends in a statement, and tests/query runs those on sqld",
  "tests/query/batch_stops_test.ts on sqld": "waits for time bounds, which the contract of stores holds",
  "tests/query/bounds_test.ts on sqld": "waits for time bounds, which the contract of stores holds",
  "tests/replay on sqld": "the contract of stores, which every run asks sqld, holds what a replay is",
  "tests/routes on sqld": "requests that are no statements are answered from the KV",
  "tests/schema on sqld": "reads the schema by statements, and tests/query runs those on sqld",
  "tests/security/restore_rules_test.ts on sqld":
    "rules are matched before a store is asked; snapshots_test.ts restores on sqld",
  "tests/security/sql_escape_test.ts on sqld":
    "all of the corpus over HTTP; remote_gate_test.ts holds the gate, write_rules_attack_test.ts attacks on sqld",
  "tests/writes/dry_run_trace_test.ts on sqld": "waits for time bounds, which the contract of stores holds",
};

/** Sweeps of the embedded store. */
export const FILLING: readonly string[] = [
  "tests/faults/memory_test.ts",
  "tests/faults/slow_reads_test.ts",
  "tests/security/approval_rows_test.ts",
];

/** Ends what holds for the run with tenants in sqld only. */
export const ON_SQLD = " on sqld";

/** Files of tests, and those that run on sqld too. */
export interface TestRuns {
  readonly files: readonly string[];
  readonly onSqld: readonly string[];
}

export interface Tiers extends TestRuns {
  /** Names of what of `wideSweeps` is not among them. */
  readonly leftOut: readonly string[];
}

/** The files without what is in `wideSweeps`. */
export function withoutSweeps({ files, onSqld }: TestRuns): Tiers {
  const swept = new Set<string>();
  const notSwept = (isOnSqld: boolean) => (path: string) => {
    const name = sweepOf(path, isOnSqld);
    if (name !== undefined) swept.add(name);
    return name === undefined;
  };
  const kept = { files: files.filter(notSwept(false)), onSqld: onSqld.filter(notSwept(true)) };
  return { ...kept, leftOut: [...swept].sort() };
}

function sweepOf(path: string, onSqld: boolean): string | undefined {
  return Object.keys(wideSweeps).find((name) => {
    const here = name.endsWith(ON_SQLD) ? name.slice(0, -ON_SQLD.length) : name;
    return (onSqld || here === name) && (path === here || path.startsWith(`${here}/`));
  });
}
