// Which tests run once more with their tenants in sqld: every file that starts the app or the service, apart from those
// below. What differs between the stores inside of a test asks `isEmbedded()` and stands in the documentation's table.
import { testFiles } from "./test_files.ts";

/** Files and folders that are left out → why. */
export const leftOut: Readonly<Record<string, string>> = {
  "tests/security/sql_bypass_test.ts": "is about the connections inside of an engine child",
  "tests/faults/start_test.ts": "is about DATA_DIR and its lock",
  "tests/faults/damaged_files_test.ts": "is about the files of the embedded store",
  "tests/faults/full_disk_test.ts": "is about DATA_DIR on a disk without room",
  "tests/faults/read_only_disk_test.ts": "is about the files of the embedded store",
  "tests/faults/log_spool_faults_test.ts": "is about the spool of the embedded store",
  "tests/faults/new_files_faults_test.ts": "is about the files of the embedded store",
  "tests/faults/replay_faults_test.ts": "kills engine children; sqld_rounds_test.ts kills sqld",
  "tests/faults/writes_faults_test.ts": "kills engine children",
  "tests/faults/still_children_test.ts": "suspends engine children",
  "tests/faults/migration_faults_test.ts": "kills engine children",
  "tests/backup": "is about the KV and about files of the embedded store",
  "tests/cli": "is about folders and words; the files that they send run on both elsewhere",
  "tests/hrana/hrana_client_test.ts": "starts an sqld beside the service",
  "tests/faults/copy_faults_test.ts": "starts an sqld of its own",
  "tests/faults/feed_instances_test.ts": "starts an sqld of its own",
  "tests/faults/sqld_faults_test.ts": "starts an sqld of its own",
  "tests/faults/sqld_rounds_test.ts": "starts an sqld of its own",
  "tests/faults/branch_storm_test.ts": "starts an sqld of its own",
  "tests/faults/relay_test.ts": "starts an sqld of its own",
  "tests/faults/relay_process_test.ts": "starts an sqld of its own",
  "tests/faults/relay_upkeep_test.ts": "starts an sqld of its own",
  "tests/faults/relay_branches_test.ts": "starts an sqld of its own",
  "tests/faults/restore_instances_test.ts": "starts an sqld of its own",
  "tests/faults/sqld_operations_test.ts": "starts sqlds of its own",
  "tests/faults/archive_kills_test.ts": "is about the archive of the embedded store",
  "tests/snapshots/moments_test.ts": "is about the archive of the embedded store",
  "tests/faults/transfer_faults_test.ts":
    "kills the children of transfers, which are the same for every store",
  "tests/faults/transfer_kills_test.ts": "is about the files of the embedded store",
  "tests/docs": "is about pages; each example runs on a service of its own",
  "tests/console": "is about pages; their services run on both elsewhere",
  "tests/browser": "is about pages; its tenants are embedded wherever it runs",
  "tests/faults/memory_test.ts": "bounds what engine children take",
  "tests/faults/program_files_test.ts": "is about the files that engine children load",
  "tests/faults/slow_reads_test.ts": "is about the lanes of engine children",
  "tests/faults/kv_answers_test.ts": "is about the KV; its tenants are embedded wherever it runs",
  "tests/faults/still_crons_test.ts": "is about backups; its tenants are embedded wherever it runs",
  "tests/faults/slow_heads_test.ts": "is about connections, which end before a tenant is asked",
  "tests/faults/slow_answers_test.ts": "is about answers; its tenants are embedded wherever it runs",
  "tests/store/lifetimes_test.ts": "is about records of the KV",
  "tests/routes/auth_test.ts": "is answered before a tenant is asked",
  "tests/routes/methods_test.ts": "is answered before a tenant is asked",
  "tests/routes/secrets_test.ts": "is about headers of answers, which the routes give them",
  "tests/routes/security_table_test.ts": "is about who is let in, which no tenant is asked for",
  "tests/routes/tokens_test.ts": "is about records of the KV",
  "tests/faults/token_uses_test.ts": "is about records of the KV",
  "tests/oauth": "is about tokens and pages; the tools behind them run on both elsewhere",
  "tests/faults/oauth_test.ts": "is about records of the KV",
  "tests/published/captcha_test.ts": "is judged before a tenant is asked",
  "tests/published/methods_test.ts": "is answered before a tenant is asked",
  "tests/published/rate_test.ts": "is counted in the KV before a tenant is asked",
  "tests/endpoints/client_test.ts": "type-checks a generated text",
  "tests/endpoints/openapi_test.ts": "is about a generated text",
  "tests/deploy": "starts an sqld of its own",
  "tests/metrics": "is about figures of the embedded store; those of sqld are taken from one of its own",
  "tests/tenant/rows_written_test.ts": "puts the embedded store beside an sqld of its own",
  "tests/transactions/ends_test.ts": "is about the lanes of the embedded store",
  "tests/transactions/kills_test.ts": "kills engine children",
  "tests/tenant/turso_http_test.ts": "starts an sqld of its own",
  "tests/people": "people and their sessions are records of the KV",
  "tests/handoff": "tokens are records of the KV",
  "tests/sessions": "sessions are records of the KV, proved by a key that is one too",
  "tests/sql": "is about texts, which are understood before a tenant is asked",
  "tests/branches/branch_bound_test.ts": "branches are counted in the KV; merge_test.ts makes them in sqld",
  "tests/changes/streams_test.ts":
    "who follows is decided before a tenant is asked; feed_test.ts reads the changes of sqld",
  "tests/changes/webhook_bounds_test.ts":
    "messages are records of the KV; feed_instances_test.ts sends some out of sqld",
  "tests/changes/webhook_kills_test.ts":
    "how far a webhook has come stands in the KV; feed_instances_test.ts kills a sender on sqld",
  "tests/changes/webhooks_test.ts":
    "messages are records of the KV; feed_instances_test.ts sends some out of sqld",
  "tests/endpoints/account_documents_test.ts": "is about generated texts",
  "tests/endpoints/discovery_test.ts": "is about a generated text",
  "tests/faults/clock_jumps_test.ts": "what is spent, and when, are records of the KV",
  "tests/faults/http_faults_test.ts":
    "what comes by HTTP is read before a tenant is asked; the contract of stores has callers who leave",
  "tests/hrana/guards_test.ts":
    "what guards the door stands before a store; sql_escape_test.ts runs its corpus in sqld",
  "tests/hrana/socket_bounds_test.ts": "what bounds a socket stands before a store",
  "tests/hrana/socket_service_test.ts":
    "is about a socket's process; libsql_client_test.ts has sockets to sqld",
  "tests/published/lock_out_test.ts": "guesses are counted in the KV",
  "tests/query/dialect_hints_test.ts": "hints are chosen by the texts of statements",
  "tests/query/long_texts_test.ts":
    "is about texts, which are understood or refused before a tenant is asked",
  "tests/query/input_test.ts": "what a call may be is read before a tenant is asked",
  "tests/security/published_attacks_test.ts": "attacks a door that stands before a store",
  "tests/security/published_failures_test.ts": "attacks a door that stands before a store",
  "tests/transfer/long_files_test.ts":
    "an upload is read by the children of transfers, which are the same for every store",
  "tests/transfer/places_test.ts": "places of transfers are a process's, whatever store is behind them",
  "tests/branches/merge_approval_test.ts":
    "who approves a merge is decided before a store is asked; merge_test.ts merges on sqld",
  "tests/branches/merge_rules_test.ts":
    "which rules a merge meets is decided before a store is asked; merge_test.ts merges on sqld",
  "tests/migrations/migration_rules_test.ts":
    "which rules files meet is decided before a store is asked; migrations_test.ts migrates on sqld",
  "tests/writes/rule_warnings_test.ts": "what a rule says of itself is decided before a store is asked",
  "tests/writes/rules_test.ts":
    "rules are matched before a store is asked; write_rules_attack_test.ts meets them on sqld",
  "tests/writes/approval_bounds_test.ts":
    "approvals that wait are counted in the KV; approvals_test.ts redeems in sqld",
  "tests/writes/approval_outcome_test.ts": "is about failures of the KV; approvals_test.ts redeems in sqld",
  "tests/writes/approval_people_test.ts":
    "who decides is a record of the KV; approvals_test.ts redeems in sqld",
  "tests/ask": "a question ends in one read, judged before a tenant is asked; tests/query reads in sqld",
  "tests/branches/seen_by_person_test.ts": "who may see a branch is decided before a store is asked",
  "tests/endpoints/answers_as_documented_test.ts":
    "what is documented of answers is the routes'; documented_requests_test.ts makes each request in sqld",
  "tests/endpoints/auth_spec_test.ts": "specifications are judged by their texts and the schema",
  "tests/endpoints/doctor_test.ts":
    "reads specifications; tests/schema/doctor_test.ts examines databases in sqld",
  "tests/endpoints/endpoint_examples_test.ts": "specifications are judged by their texts and the schema",
  "tests/endpoints/manage_test.ts": "endpoints and their revisions are records of the KV",
  "tests/endpoints/scaffold_test.ts":
    "is about generated specifications; scaffold_app_test.ts runs such endpoints in sqld",
  "tests/endpoints/validator_test.ts": "specifications are judged by their texts and the schema",
  "tests/hrana/money_test.ts": "prices are of figures, which tests/money takes from sqld",
  "tests/hrana/socket_test.ts":
    "what a socket means is decided before a store; libsql_client_test.ts has sockets to sqld",
  "tests/mcp": "a tool does what a route does, and the suites of the routes run in sqld",
  "tests/money/limits_test.ts": "balances, caps and credits are records of the KV",
  "tests/published/account_mail_test.ts":
    "links and mails are records of the KV; link_once_test.ts uses links up in sqld",
  "tests/published/ask_refusals_test.ts": "is about questions, which are refused before a tenant is asked",
  "tests/published/input_test.ts":
    "what callers send is decoded before a tenant is asked; tests/query/values_test.ts binds values in sqld",
  "tests/published/input_types_test.ts":
    "what callers send is decoded before a tenant is asked; tests/query/values_test.ts binds values in sqld",
  "tests/published/integer_strings_test.ts":
    "the form of answers is given behind the store; tests/query/integer_strings_test.ts gives it to those of sqld",
  "tests/published/named_inputs_test.ts": "names become places in a text before a tenant is asked",
  "tests/published/serve_test.ts":
    "what stands before a published statement; statements_test.ts and lists_test.ts run such in sqld",
  "tests/published/unheard_test.ts":
    "is about headers and addresses, which are read before a tenant is asked",
  "tests/query/latency_test.ts": "counts rows of the log, which query_log_test.ts reads in sqld",
  "tests/query/stage_order_test.ts": "the stages are those before every store",
  "tests/query/way_out_test.ts":
    "texts are refused before a tenant is asked; foreign_keys_off_test.ts and full_text_commands_test.ts run in sqld",
  "tests/replay/shaping_headers_test.ts": "is about the hash of a request, which no tenant is asked for",
  "tests/routes/address_options_test.ts": "is about addresses, which are read before a tenant is asked",
  "tests/routes/envelope_test.ts": "is about the form of answers, which the routes give them",
  "tests/routes/namespaces_test.ts": "namespaces are records of the KV",
  "tests/routes/response_padding_test.ts": "is about heads of answers, which the routes give them",
  "tests/routes/scopes_test.ts": "who reaches which database is decided before a tenant is asked",
  "tests/routes/search_test.ts":
    "is about ranking; describe_test.ts reads the same schema and what is said of it from sqld",
  "tests/routes/security_people_test.ts": "is about who is let in, which no tenant is asked for",
  "tests/security/approval_attack_test.ts":
    "who may redeem what is decided before a store is asked; approval_rows_test.ts looks again in sqld",
  "tests/schema/doctor_suggestions_test.ts":
    "is about generated statements, one by one; doctor_test.ts runs all of them in sqld",
  "tests/schema/search_test.ts": "is about ranking",
  "tests/branches/branch_life_test.ts":
    "when a branch ends is a record of the KV; merge_test.ts makes branches in sqld, branch_storm_test.ts ends them there",
  "tests/endpoints/stats_test.ts":
    "calls are counted in the KV; query_log_test.ts reads rows of the log in sqld",
  "tests/models/rules_test.ts":
    "rules are matched before a store is asked; write_rules_attack_test.ts meets them on sqld",
  "tests/replay/early_answers_test.ts":
    "where a repetition is answered is decided before a store; idempotency_test.ts repeats in sqld",
  "tests/replay/idempotency_scope_test.ts":
    "what a key names is decided before a store; idempotency_test.ts repeats in sqld",
  "tests/routes/audit_test.ts": "acts are records of the KV; query_log_test.ts reads the audit trail of sqld",
  "tests/writes/approval_page_test.ts":
    "approvals are records of the KV; approvals_test.ts redeems in sqld, replaced_rows_test.ts looks at rows there",
  "tests/writes/approval_repeat_test.ts":
    "approvals are records of the KV; approvals_test.ts redeems in sqld",
  "tests/writes/execution_tokens_test.ts": "tokens are records of the KV; propose_test.ts applies in sqld",
};

const STARTS = /\/testing\/start_(?:app|service)\.ts$/;
const IMPORT = /^(?:import (?!type)|export|\}).* from "(\.[^"]+\.ts)";$/gm;
const tests = new URL("..", import.meta.url);

/** Paths from the top of the repository. */
export async function suitesOnSqld(): Promise<string[]> {
  for (const path of Object.keys(leftOut)) await Deno.stat(new URL(`../${path}`, tests));
  const found: string[] = [];
  const known = new Map<string, Promise<boolean>>();
  for (const path of await testFiles()) {
    const isLeftOut = Object.keys(leftOut).some((one) => path === one || path.startsWith(`${one}/`));
    if (!isLeftOut && await starts(new URL(`../${path}`, tests), known)) found.push(path);
  }
  return found;
}

/** It imports one of the two, itself or through files of the tests. There are no import cycles. */
function starts(url: URL, known: Map<string, Promise<boolean>>): Promise<boolean> {
  const look = async () => {
    for (const [, specifier = ""] of (await Deno.readTextFile(url)).matchAll(IMPORT)) {
      const target = new URL(specifier, url);
      if (STARTS.test(target.pathname)) return true;
      if (target.href.startsWith(tests.href) && await starts(target, known)) return true;
    }
    return false;
  };
  const found = known.get(url.href) ?? look();
  known.set(url.href, found);
  return found;
}
