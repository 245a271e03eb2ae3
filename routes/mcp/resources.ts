// Schemas as resources, which a user can attach to a conversation: cubby://<namespace>/<database>/schema.
import type { Resource, TextResourceContents } from "@modelcontextprotocol/server";
import { AppError } from "../../lib/core/errors.ts";
import { reachableDatabases } from "../../lib/access/reachable_databases.ts";
import { describeSchema } from "../../lib/services/schema/describe_schema.ts";
import { contentAnswer } from "./tools/answer.ts";
import { terse } from "./tools/fitted.ts";
import { statementsOf } from "./tools/call_contexts.ts";
import { findTarget } from "./find_target.ts";
import type { McpVisit } from "./tools/visit.ts";

const MIME = "text/plain";
const SCHEMA = /^cubby:\/\/([^/]+)\/([^/]+)\/schema$/;

/** The form of their addresses. */
export const resourceTemplates = [{
  uriTemplate: "cubby://{namespace}/{database}/schema",
  name: "schema",
  title: "Schema of a database",
  description: "Tables, columns, keys and descriptions; database is a slug, or slug@ref of a branch",
  mimeType: MIME,
}];

/** One schema for each database that the connection reaches. Errors: `meter_unreachable`. */
export async function listResources({ deps, caller, narrowing }: McpVisit): Promise<Resource[]> {
  const databases = narrowing.target === null
    ? (await reachableDatabases(deps, caller)).databases.map(({ database }) => database)
    : [narrowing.target.databaseSlug];
  return databases.map((database) => ({
    uri: `cubby://${caller.namespaceSlug}/${database}/schema`,
    name: `${database} schema`,
    title: `Schema of ${database}`,
    mimeType: MIME,
  }));
}

/** The text of a schema. Errors: `validation_failed` and those of `findTarget` for what the connection does not reach. */
export async function readSchemaResource(
  visit: McpVisit,
  uri: string,
  signal: AbortSignal,
): Promise<TextResourceContents> {
  const [, namespace, database] = SCHEMA.exec(uri) ?? [];
  if (database === undefined || namespace !== visit.caller.namespaceSlug) throw notThere();
  const target = await findTarget(visit, { database: "any" }, database.replace("%40", "@"));
  const fixed = visit.narrowing.target;
  if (fixed !== null && fixed.databaseId !== target.databaseId) throw notThere();
  const { text } = contentAnswer(terse(await describeSchema(statementsOf({ visit, target, signal }))));
  return { uri, mimeType: MIME, text };
}

function notThere(): AppError {
  return new AppError("validation_failed", {
    message: "Send the uri of a resource that resources/list lists",
  });
}
