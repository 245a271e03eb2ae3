// The validator of endpoint specifications: it compiles the statement and names everything that is wrong at once.
import { serialize } from "node:v8";
import { type EndpointSpec, endpointSpec } from "../../../core/endpoint_spec.ts";
import { AppError, type Issue } from "../../../core/errors.ts";
import { MAX_ISSUES } from "../../../core/limits.ts";
import { returnsRows } from "../../../sql/grammar/result_columns.ts";
import type { StatementFacts } from "../../../sql/grammar/statement_facts.ts";
import { trunkTarget } from "../../databases/database_record.ts";
import type { StatementsContext } from "../../query/run_statements.ts";
import { authIssues } from "./auth_issues.ts";
import { bindInputs } from "./bind_inputs.ts";
import { fieldIssues } from "./field_issues.ts";
import { configIssues, hasStatement, kindIssues, type StatementShape } from "./kind_issues.ts";
import { listIssues } from "./list_issues.ts";
import { passwordIssues } from "./password_issues.ts";
import { type SpecParts, specParts } from "./spec_parts.ts";
import {
  type SpecContext,
  tenantOf,
  understandStatements,
  type UnderstoodSpec,
} from "./understand_statements.ts";

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
  const [facts = null] = understood?.ok ? understood.facts : [];
  const { tables } = await tenantOf(ctx).schema();
  const shape = understood?.ok ? shapeOf(understood.facts, understood.last.sql) : null;
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
    ...(understood?.ok ? passwordIssues(parts, understood.facts, tables) : []),
    ...(understood?.ok ? await listIssues(ctx, parts, understood.last) : []),
    ...await authIssues(ownReads(ctx), parts, { tables, facts }),
  ];
}

/** Reads of the validator itself, billed to nobody. */
function ownReads({ query, database, namespaceSlug }: CheckContext): StatementsContext {
  return { ...query, target: trunkTarget(database, namespaceSlug, "read"), tokenId: "validator" };
}

async function understand(ctx: CheckContext, parts: SpecParts): Promise<UnderstoodSpec | null> {
  if (parts.sql === undefined || !hasStatement(parts)) return null;
  const bound = bindInputs(parts);
  return bound.ok ? await understandStatements(ctx, bound.statements) : bound;
}

/** Counts as the store does, which takes more for lists that were checked or read, as for those of a copy. */
function sizeIssues(raw: unknown): Issue[] {
  const bytes = serialize(structuredClone(raw)).length;
  if (bytes <= MAX_SPEC_BYTES) return [];
  return [{
    path: "",
    message: `Shorten the specification; it takes ${bytes} bytes, ${MAX_SPEC_BYTES} at most`,
  }];
}

/** Several statements count as one that writes where one of them does. */
function shapeOf(facts: readonly StatementFacts[], last: string): StatementShape | null {
  const [first] = facts;
  if (first === undefined) return null;
  return {
    class: facts.find((one) => one.class !== "read")?.class ?? "read",
    parameterCount: facts.reduce((sum, one) => sum + one.parameterCount, 0),
    returnsRows: returnsRows(last),
  };
}

function withoutRepeats(issues: readonly Issue[]): Issue[] {
  return [...new Map(issues.map((issue) => [`${issue.path}\n${issue.message}`, issue])).values()];
}
