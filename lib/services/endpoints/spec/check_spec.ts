// The validator of endpoint specifications: it compiles the statement and names everything that is wrong at once.
import { type EndpointSpec, endpointSpec } from "../../../core/endpoint_spec.ts";
import { AppError, type Issue } from "../../../core/errors.ts";
import { MAX_PARAMETERS } from "../../../core/limits.ts";
import { classify } from "../../../query/classify.ts";
import { failureError } from "../../../query/failure_error.ts";
import type { QueryContext } from "../../../query/query_call.ts";
import { returnsRows } from "../../../sql/result_columns.ts";
import { unknownValue } from "../../../sql/sql_value.ts";
import type { StatementFacts } from "../../../sql/statement_facts.ts";
import type { DatabaseRecord } from "../../../store/records.ts";
import { trunkTarget } from "../../databases/database_record.ts";
import type { StatementsContext } from "../../query/run_statements.ts";
import { authIssues } from "./auth_issues.ts";
import { bindInputs } from "./bind_inputs.ts";
import { fieldIssues } from "./field_issues.ts";
import { configIssues, kindIssues } from "./kind_issues.ts";
import { type SpecParts, specParts } from "./spec_parts.ts";

/** A specification as it was sent. */
export interface UncheckedSpec {
  readonly raw: unknown;
  /** What is wrong with its form, by the schema `endpointSpec`. */
  readonly issues: readonly Issue[];
}

/** The database that the specification is for. */
export interface CheckContext extends SpecContext {
  readonly namespaceSlug: string;
  /** The slug that it must have, where that is settled. */
  readonly slug?: string;
}

/** A path of the API that has this word where others have an endpoint's slug. */
const SCAFFOLD = "scaffold-crud";
/** Issues of one answer. */
const MAX_ISSUES = 50;
/** Bytes of a specification: records of the control plane are bounded. */
const MAX_SPEC_BYTES = 60_000;

/**
 * The specification, checked against the database as it is now. Errors: `validation_failed` with every issue, those
 * of a store that does not answer.
 */
export async function checkSpec(ctx: CheckContext, { raw, issues }: UncheckedSpec): Promise<EndpointSpec> {
  const parts = specParts(raw);
  const found = [...issues, ...await ruleIssues(ctx, parts, raw)];
  const parsed = endpointSpec.safeParse(raw);
  if (found.length > 0 || !parsed.success) {
    throw new AppError("validation_failed", { issues: withoutRepeats(found).slice(0, MAX_ISSUES) });
  }
  return parsed.data;
}

async function ruleIssues(ctx: CheckContext, parts: SpecParts, raw: unknown): Promise<Issue[]> {
  const understood = await understand(ctx, parts);
  const facts = understood?.ok ? understood.facts : null;
  const { tables } = await ctx.query.tenants.open(ctx.database.id, ctx.database.namespaceId).schema();
  const shape = facts && { ...facts, returnsRows: returnsRows(parts.sql ?? "") };
  return [
    ...(ctx.slug !== undefined && parts.slug !== undefined && parts.slug !== ctx.slug
      ? [{ path: "slug", message: "Send the slug of the path; an endpoint keeps its slug" }]
      : []),
    ...(ctx.slug === undefined && parts.slug === SCAFFOLD
      ? [{ path: "slug", message: `Choose another slug; ${SCAFFOLD} is a call of the API` }]
      : []),
    ...sizeIssues(raw),
    ...await fieldIssues(parts),
    ...(understood?.ok === false ? understood.issues : []),
    ...kindIssues(parts, shape),
    ...configIssues(parts, raw, tables),
    ...await authIssues(ownReads(ctx), parts, { tables, facts }),
  ];
}

/** Reads of the validator itself, billed to nobody. */
function ownReads({ query, database, namespaceSlug }: CheckContext): StatementsContext {
  return { ...query, target: trunkTarget(database, namespaceSlug, "read"), tokenId: "validator" };
}

async function understand(ctx: CheckContext, parts: SpecParts): Promise<Understood | null> {
  if (parts.sql === undefined || parts.kind === "ask") return null;
  const bound = bindInputs(parts);
  return bound.ok ? await understandSql(ctx, parts.sql, bound.statement.sql) : bound;
}

/** Counts as the store does: one byte for each character, or two when a character is beyond Latin-1. */
function sizeIssues(raw: unknown): Issue[] {
  const text = JSON.stringify(raw) ?? "";
  const bytes = /^[ -\u00ff]*$/.test(text) ? text.length : text.length * 2;
  if (bytes <= MAX_SPEC_BYTES) return [];
  return [{
    path: "",
    message: `Shorten the specification; it takes ${bytes} bytes, ${MAX_SPEC_BYTES} at most`,
  }];
}

function withoutRepeats(issues: readonly Issue[]): Issue[] {
  return [...new Map(issues.map((issue) => [`${issue.path}\n${issue.message}`, issue])).values()];
}

/** What the engine understands of a statement. */
type Understood =
  | { readonly ok: true; readonly facts: StatementFacts }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** The database that a specification is for. */
interface SpecContext {
  readonly query: QueryContext;
  readonly database: DatabaseRecord;
}

/**
 * Compiles the statement of a specification against the database, without running it and without a caller to bill.
 * `written` is the text of the specification, `sql` the one for the engine. Errors: those of a store that does not
 * answer, never the statement's own.
 */
async function understandSql(
  { query, database }: SpecContext,
  written: string,
  sql: string,
): Promise<Understood> {
  const syntax = query.facts.syntax(sql);
  if (sql === written && syntax.ok && syntax.syntax.numberedParameter) {
    return fault("Write ? for every placeholder, or :name; inputs are bound in order, so ?N has no meaning");
  }
  const count = syntax.ok ? Math.min(syntax.syntax.parameterCount, MAX_PARAMETERS) : 0;
  const tenant = query.tenants.open(database.id, database.namespaceId);
  const statement = { sql, params: Array.from({ length: count }, () => unknownValue) };
  // Nothing runs here, so only this call tells the cache which version of the schema the database has.
  query.facts.seen(database.id, (await tenant.schema()).schemaVersion);
  const { facts: [facts], misunderstood } = await classify(query, database.id, tenant, [statement]);
  if (facts) return { ok: true, facts };
  if (!misunderstood) throw new TypeError("neither facts nor a reason");
  if (misunderstood.code === "no_statement") {
    return fault("Write one statement; the text holds none");
  }
  if (misunderstood.code !== null) {
    return fault("Write one statement; the text holds several");
  }
  const error = await failureError(tenant, { ...misunderstood, sql: written, index: null });
  if (error.status !== 400) throw error;
  const hint = error.facts.detail?.hint;
  return fault(`Correct the statement: ${error.message}${hint ? `. ${hint}` : ""}`);
}

function fault(message: string): Understood {
  return { ok: false, issues: [{ path: "sql", message }] };
}
