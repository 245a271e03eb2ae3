// Tools that only read: the schema, rows, the log.
import { z } from "zod";
import { PLAIN_ROWS } from "../../../lib/sql/words/row_form.ts";
import { foldName } from "../../../lib/sql/words/names.ts";
import { diffBranch, listBranches } from "../../../lib/services/branches/manage_branches.ts";
import { endpointFacts } from "../../../lib/services/endpoints/endpoint_facts.ts";
import { reachableDatabases } from "../../../lib/access/reachable_databases.ts";
import { typedText } from "../../../lib/services/query/page_text.ts";
import { readPage } from "../../../lib/services/query/read_page.ts";
import { readQueryLog } from "../../../lib/services/query/read_query_log.ts";
import { describeSchema } from "../../../lib/services/schema/describe_schema.ts";
import { examineSchema } from "../../../lib/services/schema/doctor/examine_schema.ts";
import { searchSchema } from "../../../lib/services/schema/search_schema.ts";
import { listSnapshots } from "../../../lib/services/snapshots/manage_snapshots.ts";
import { nearMatches } from "../../../lib/sql/hints/hints.ts";
import { contentAnswer } from "./answer.ts";
import { terse } from "./fitted.ts";
import { branchesOf, statementsOf } from "./call_contexts.ts";
import { rowsAnswer } from "./rows_answer.ts";
import { toolCall, toolWords } from "./tool_words.ts";
import { hints, type Tool, tool, visitTool } from "./tool.ts";
import { lowerRole } from "../../../lib/core/role.ts";
import { branchRef, statement } from "./arguments.ts";

const reads = { role: "read", hints: hints.reads } as const;

/** In the order in which they are listed. */
export const readTools: readonly Tool[] = [
  visitTool({
    ...reads,
    name: "list_databases",
    title: "List databases",
    description:
      "The databases that this connection reaches, and your role in each: what the argument database takes.",
    input: {
      prefix: z.string().max(64).optional().describe("Only those whose names begin so, where there are many"),
    },
    run: async ({ visit: { deps, caller, narrowing } }, { prefix }) => {
      const { target, readOnly } = narrowing;
      const bound = readOnly ? "read" : "admin";
      if (target !== null) {
        const { databaseSlug, role } = target;
        return contentAnswer({ databases: [{ database: databaseSlug, role: lowerRole(role, bound) }] });
      }
      const { databases, more } = await reachableDatabases(deps, caller, prefix);
      const bounded = databases.map((one) => ({ ...one, role: lowerRole(one.role, bound) }));
      return contentAnswer({ databases: bounded, ...(more ? { more } : {}) });
    },
  }),
  tool({
    ...reads,
    name: "describe_database",
    title: "Describe a database",
    description:
      "Tables with columns, types, keys and stored descriptions. Call it before you write SQL; name tables where there are many.",
    database: "any",
    input: { tables: z.array(z.string().max(1000)).min(1).max(100).optional().describe("Only these tables") },
    run: async (call, { tables }) => {
      const schema = await describeSchema(statementsOf(call));
      if (tables === undefined) return contentAnswer(terse(schema));
      const wanted = new Set(tables.map(foldName));
      const found = schema.tables.filter(({ table }) => wanted.has(foldName(table)));
      const names = new Set(found.map(({ table }) => foldName(table)));
      const unknown = tables.filter((name) => !names.has(foldName(name)));
      const all = schema.tables.map(({ table }) => table);
      const near = [...new Set(unknown.flatMap((name) => nearMatches(name, all)))];
      const meant = near.length > 0 ? `Did you mean ${near.join(" or ")}? ` : "";
      const hint = unknown.length > 0
        ? `${meant}search_schema finds tables by words; without tables all are told`
        : "";
      return contentAnswer(terse({ ...schema, tables: found, unknown, hint }));
    },
  }),
  tool({
    ...reads,
    name: "search_schema",
    title: "Search the schema",
    description: "Finds tables and columns by a question or words, in names and descriptions, best first.",
    database: "any",
    input: {
      query: z.string().min(1).max(500),
      limit: z.int().min(1).max(50).default(10),
    },
    run: async (call, { query, limit }) => {
      const ctx = { ...statementsOf(call), rankings: call.visit.deps.schemas.rankings };
      const { hint, ...found } = await searchSchema(ctx, { q: query, limit });
      return contentAnswer(terse({ ...found, hint: toolWords(hint ?? "") }));
    },
  }),
  tool({
    ...reads,
    name: "query",
    title: "Run a query",
    description:
      "Runs one SQL statement that only reads (SELECT, EXPLAIN, some PRAGMA), SQLite dialect, whatever your role. Put values in params, never into the text. more is true where rows were left out.",
    database: "any",
    input: { ...statement, maxRows: z.int().min(1).max(1000).default(100) },
    run: async (call, input) =>
      rowsAnswer(await readPage(statementsOf(call), { ...input, signal: () => call.signal })),
  }),
  tool({
    ...reads,
    name: "doctor",
    title: "Examine the schema",
    description: "What is wrong or unclear in the schema, each finding with SQL or a call that mends it.",
    database: "any",
    input: {},
    run: async (call) => {
      const { target, visit: { deps } } = call;
      const { namespaceSlug, databaseSlug } = target;
      const { findings, ...examined } = await examineSchema(statementsOf(call), {
        address: { namespaceSlug, databasePath: databaseSlug },
        endpoints: () => endpointFacts({ control: deps.control, query: deps.query, target }),
        memory: deps.schemas.probes,
      });
      const mended = findings.map((one) => ({ ...one, suggestion: toolCall(one.suggestion) }));
      return contentAnswer({ findings: mended, ...examined });
    },
  }),
  tool({
    ...reads,
    name: "query_log",
    title: "Read the query log",
    description:
      "The last statements that ran here, newest first, with their outcome and cost, without values. For others, such as the slowest, query its table: SELECT sql, duration_ms FROM _service_meta_query_log ORDER BY duration_ms DESC.",
    database: "any",
    input: {
      limit: z.int().min(1).max(100).default(20),
      status: z.enum(["ok", "error"]).optional(),
    },
    run: async (call, { limit, status = null }) => {
      const all = { sinceMs: null, untilMs: null, tokenId: null, cursor: null };
      const { entries } = await readQueryLog(statementsOf(call), { ...all, status, pageSize: limit });
      return contentAnswer({
        entries: entries.map(({ namespaceId: _, dbId: __, sql, ...entry }) => ({
          ...entry,
          sql: typedText(sql),
        })),
      });
    },
  }),
  tool({
    ...reads,
    name: "list_branches",
    title: "List branches",
    description: "The branches of a database: copies for a while, each reached as database <slug>@<ref>.",
    database: "trunk",
    input: {},
    run: async (call) => contentAnswer({ branches: await listBranches(branchesOf(call)) }),
  }),
  tool({
    ...reads,
    name: "diff_branch",
    title: "Compare a branch",
    description: "What a branch has changed since it was made: schema as SQL, and rows by table.",
    database: "trunk",
    input: { branchRef },
    run: async (call, { branchRef: ref }) => {
      const ctx = { ...branchesOf(call), meter: call.visit.deps.query.meter };
      return contentAnswer(await diffBranch(ctx, { ref, rowForm: PLAIN_ROWS }));
    },
  }),
  tool({
    ...reads,
    name: "list_snapshots",
    title: "List snapshots",
    description:
      "States that the database can be brought back to, newest first. A destructive write takes one first, and its answer names it: the state before that write.",
    database: "any",
    input: {},
    // By the word by which other tools take it.
    run: async (call) => {
      const found = await listSnapshots(branchesOf(call));
      return contentAnswer({ snapshots: found.map(({ label, ...more }) => ({ snapshot: label, ...more })) });
    },
  }),
];
