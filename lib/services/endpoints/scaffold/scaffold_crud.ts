// Makes the usual endpoints of a table, as drafts unless told otherwise. What exists already stays as it is.
import { callerId } from "../../../access/caller.ts";
import type { EndpointSpec } from "../../../core/endpoint_spec.ts";
import { failedWith, invalidInput } from "../../../core/errors.ts";
import type { DatabaseRecord } from "../../../store/records.ts";
import { type DatabaseAddress, requireDatabase, trunkTarget } from "../../databases/database_record.ts";
import { sameName } from "../../../sql/words/names.ts";
import type { StatementsContext } from "../../query/run_statements.ts";
import { INDEXES, type IndexFacts, toIndexes } from "../../schema/read_indexes.ts";
import { readTable, type TableDefinition } from "../../schema/read_table.ts";
import { isSecretColumn } from "../../schema/secret_column.ts";
import { changeBy, type EndpointContext, type EndpointView, endpointView } from "../endpoint_context.ts";
import { moveEndpoint } from "../manage_endpoints.ts";
import { type CheckContext, checkSpec } from "../spec/check_spec.ts";
import { appBody, appOperations, type AppTable } from "./app_spec.ts";
import { type CrudSpec, crudSpec, namedSpec } from "./crud_spec.ts";
import { readOwn } from "../../query/read_own.ts";
import type { CrudOperation, ScaffoldOperation } from "./scaffold_names.ts";

/** Which endpoints to make of which table. */
export interface ScaffoldInput {
  readonly address: DatabaseAddress;
  readonly table: string;
  /** All five unless given; for an app all that the table can have. */
  readonly operations?: readonly ScaffoldOperation[] | undefined;
  /** `basic` unless given, or `app` where there is an owner. */
  readonly shape?: "basic" | "app" | undefined;
  /** The column that holds the user to whom a row belongs. */
  readonly owner?: string | undefined;
  /** Origins whose pages may read the answers. */
  readonly cors?: readonly string[] | undefined;
  /** They are served at once, but for those of the basic shape that would show the hash of a password. */
  readonly publish?: boolean | undefined;
  /** Pages of the app that take the links of mails. */
  readonly resetUrl?: string | undefined;
  readonly verifyUrl?: string | undefined;
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
    throw invalidInput("table", "Name a table or view of this database");
  }
  const created: EndpointView[] = [];
  const skipped: { slug: string; reason: string }[] = [];
  const indexes = await indexesOf({ ...ctx.query, target, tokenId: callerId(ctx.caller) }, table);
  // The basic shape shows each column to anybody: with a secret among them its owner looks first.
  const publish = input.publish === true && (isApp(input) || !table.columns.some(isSecretColumn));
  for (const plan of plansFor({ table, indexes }, input)) {
    const outcome = plan.ok ? await add(ctx, { ...input, publish, database }, plan.spec) : plan;
    if ("url" in outcome) created.push(outcome);
    else skipped.push({ slug: outcome.slug, reason: outcome.reason });
  }
  return { created, skipped };
}

async function indexesOf(ctx: StatementsContext, { name }: TableDefinition): Promise<readonly IndexFacts[]> {
  const [json] = await readOwn(ctx, [{ sql: INDEXES, params: [] }]);
  return toIndexes(json).get(name) ?? [];
}

function plansFor(
  { table, indexes }: Pick<AppTable, "table" | "indexes">,
  { shape, owner, operations, resetUrl, verifyUrl }: ScaffoldInput,
): CrudSpec[] {
  if (!isApp({ shape, owner })) {
    const extra = operations?.find((one) => !ALL.some((basic) => basic === one));
    if (extra !== undefined) throw invalidInput("operations", `Set shape to app; only an app has ${extra}`);
    return ALL.filter((one) => operations?.includes(one) ?? true).map((one) => crudSpec(table, one));
  }
  if (shape === "basic") throw invalidInput("owner", "Set shape to app, or leave the owner out");
  const column = table.columns.find(({ name }) => sameName(name, owner ?? ""));
  if (owner !== undefined && table.kind === "virtual") {
    throw invalidInput(
      "owner",
      "Leave it out; write a search that joins the table of the users' rows and compares their owner with $user_id",
    );
  }
  if (owner !== undefined && (column === undefined || column.generated)) {
    throw invalidInput("owner", "Name a column of the table that holds the key of a user");
  }
  const pages = { resetUrl: resetUrl ?? null, verifyUrl: verifyUrl ?? null };
  const app = { table, owner: column ?? null, indexes, ...pages };
  return [...new Set(operations ?? appOperations(app))].map((one) =>
    namedSpec(table, one, appBody(app, one))
  );
}

function isApp({ shape, owner }: Pick<ScaffoldInput, "shape" | "owner">): boolean {
  return shape === "app" || owner !== undefined;
}

async function add(
  ctx: EndpointContext,
  { database, address, cors, publish = false }: ScaffoldInput & { readonly database: DatabaseRecord },
  plain: EndpointSpec,
): Promise<EndpointView | { slug: string; reason: string }> {
  const { slug } = plain;
  const spec = cors === undefined ? plain : { ...plain, cors: [...new Set([...cors, ...plain.cors ?? []])] };
  const { endpoints } = ctx.control;
  if (await endpoints.read(database.id, slug) !== null) return { slug, reason: EXISTS };
  const { namespaceSlug } = address;
  const fault = await faultOf({ query: ctx.query, namespaceSlug, database }, spec);
  if (fault !== null) return { slug, reason: fault };
  const record = await endpoints.create(spec, changeBy(ctx, "endpoint.created", { database, slug }));
  if (record === null) return { slug, reason: EXISTS };
  if (publish) return await moveEndpoint(ctx, { address, slug, transition: "publish" });
  return endpointView(record, { baseUrl: ctx.baseUrl, address });
}

/** Why the endpoint would not work, such as an INSERT into a view; null when it does. */
async function faultOf(ctx: CheckContext, spec: EndpointSpec): Promise<string | null> {
  try {
    await checkSpec(ctx, { raw: spec, issues: [] });
    return null;
  } catch (error) {
    if (!failedWith(error, "validation_failed")) throw error;
    return error.facts.issues?.[0]?.message ?? error.message;
  }
}
