// Makes the usual endpoints of a table, as drafts. What exists already stays as it is.
import { callerId } from "../../../access/caller.ts";
import type { EndpointSpec } from "../../../core/endpoint_spec.ts";
import { AppError } from "../../../core/errors.ts";
import type { DatabaseRecord } from "../../../store/records.ts";
import { type DatabaseAddress, requireDatabase, trunkTarget } from "../../databases/database_record.ts";
import { readTable } from "../../schema/read_table.ts";
import { type EndpointContext, type EndpointView, endpointView, noteEndpoint } from "../endpoint_context.ts";
import { type CheckContext, checkSpec } from "../spec/check_spec.ts";
import { crudSpec } from "./crud_spec.ts";
import type { CrudOperation } from "./scaffold_names.ts";

/** Which endpoints to make of which table. */
export interface ScaffoldInput {
  readonly address: DatabaseAddress;
  readonly table: string;
  /** All five unless given. */
  readonly operations?: readonly CrudOperation[] | undefined;
}

/** What was made, and what was not and why. */
export interface ScaffoldResult {
  readonly created: readonly EndpointView[];
  readonly skipped: readonly { readonly slug: string; readonly reason: string }[];
}

const ALL: readonly CrudOperation[] = ["list", "get", "create", "update", "delete"];
const EXISTS = "Slug already exists";

/**
 * Makes the drafts. Errors: `validation_failed` for an unknown table, those of `requireDatabase` and of the store.
 */
export async function scaffoldCrud(ctx: EndpointContext, input: ScaffoldInput): Promise<ScaffoldResult> {
  const database = await requireDatabase(ctx, input.address);
  const target = trunkTarget(database, input.address.namespaceSlug, "admin");
  const table = await readTable({ ...ctx.query, target, tokenId: callerId(ctx.caller) }, input.table);
  if (table === null) {
    throw new AppError("validation_failed", {
      issues: [{ path: "table", message: "Name a table or view of this database" }],
    });
  }
  const created: EndpointView[] = [];
  const skipped: { slug: string; reason: string }[] = [];
  const wanted = input.operations ?? ALL;
  for (const operation of ALL.filter((one) => wanted.includes(one))) {
    const plan = crudSpec(table, operation);
    const outcome = plan.ok ? await add(ctx, { ...input, database }, plan.spec) : plan;
    if ("url" in outcome) created.push(outcome);
    else skipped.push({ slug: outcome.slug, reason: outcome.reason });
  }
  return { created, skipped };
}

async function add(
  ctx: EndpointContext,
  { database, address }: { readonly database: DatabaseRecord; readonly address: DatabaseAddress },
  spec: EndpointSpec,
): Promise<EndpointView | { slug: string; reason: string }> {
  const { slug } = spec;
  const { endpoints } = ctx.control;
  if (await endpoints.read(database.id, slug) !== null) return { slug, reason: EXISTS };
  const { namespaceSlug } = address;
  const fault = await faultOf({ query: ctx.query, namespaceSlug, database }, spec);
  if (fault !== null) return { slug, reason: fault };
  const record = await endpoints.create(spec, { databaseId: database.id, slug, actor: callerId(ctx.caller) });
  if (record === null) return { slug, reason: EXISTS };
  await noteEndpoint(ctx, "endpoint.created", { database, slug });
  return endpointView(record, { baseUrl: ctx.baseUrl, address });
}

/** Why the endpoint would not work, such as an INSERT into a view; null when it does. */
async function faultOf(ctx: CheckContext, spec: EndpointSpec): Promise<string | null> {
  try {
    await checkSpec(ctx, { raw: spec, issues: [] });
    return null;
  } catch (error) {
    if (!(error instanceof AppError && error.code === "validation_failed")) throw error;
    return error.facts.issues?.[0]?.message ?? error.message;
  }
}
