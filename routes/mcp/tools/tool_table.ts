// All tools, in the order in which they are listed, and how the list looks to a connection.
import { z } from "zod";
import { type Role, roleAtLeast } from "../../../lib/core/role.ts";
import type { Tool, ToolHints } from "./tool.ts";
import { branchTools } from "./branch_tools.ts";
import { readTools } from "./read_tools.ts";
import { writeTools } from "./write_tools.ts";
import type { Addressing } from "./visit.ts";

/** Name → tool. */
export const toolTable: ReadonlyMap<string, Tool> = new Map(
  [...readTools, ...writeTools, ...branchTools].map((one) => [one.name, one]),
);

/** A tool as clients see it. */
export interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: { readonly type: "object"; readonly [keyword: string]: unknown };
  readonly annotations: ToolHints & { readonly title: string };
}

/** Lists that were made: one for each role and way to name a database. */
const lists = new Map<string, readonly ListedTool[]>();

/**
 * The tools of a role; where the connection reaches one branch only, without those that work on a trunk. The list of
 * equal connections is always the same, so that clients can keep it.
 */
export function listTools(role: Role, addressing: Addressing): readonly ListedTool[] {
  const { kind } = addressing;
  const isPinned = kind === "fixed" || (kind === "sole" && addressing.path.includes("@"));
  const key = `${role} ${kind} ${isPinned}`;
  let list = lists.get(key);
  if (list === undefined) {
    list = [...toolTable.values()]
      .filter((one) => roleAtLeast(role, one.role) && !(isPinned && one.database === "trunk"))
      .map((one) => listed(one, kind));
    lists.set(key, list);
  }
  return list;
}

function listed(one: Tool, addressing: Addressing["kind"]): ListedTool {
  const { name, title, description, hints } = one;
  return {
    name,
    title,
    description,
    inputSchema: inputSchema(one, addressing),
    annotations: { title, ...hints },
  };
}

function inputSchema({ input, database }: Tool, addressing: Addressing["kind"]): ListedTool["inputSchema"] {
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: "input" });
  const named = database === "none" ? null : addressArgument(database, addressing);
  const needed = [...(named?.name === "database" && addressing === "named" ? ["database"] : []), ...required];
  return {
    type: "object",
    properties: { ...(named ? { [named.name]: named.schema } : {}), ...properties },
    ...(needed.length > 0 ? { required: needed } : {}),
    additionalProperties: false,
  };
}

/** The argument that names the database; null where the connection's address does. */
function addressArgument(database: "any" | "trunk", addressing: Addressing["kind"]) {
  if (addressing === "fixed") return null;
  if (addressing === "branches") {
    if (database === "trunk") return null;
    return { name: "branch", schema: { type: "string", description: "Ref of a branch; absent: the trunk" } };
  }
  const description = database === "trunk" ? "Slug" : "Slug, or slug@ref of a branch";
  return { name: "database", schema: { type: "string", description } };
}
