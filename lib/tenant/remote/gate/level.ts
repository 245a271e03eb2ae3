// What a level lets a statement do.
import { type EngineFailure, engineFailure } from "../../../engine/engine_failure.ts";
import type { Level } from "../../../engine/guard.ts";
import type { Syntax } from "../../../sql/grammar/syntax.ts";
import type { TenantStatement } from "../../tenant_statement.ts";
import type { SchemaConnection } from "./schema_connection.ts";

const RANK: Readonly<Record<Level, number>> = { read: 0, write: 1, schema: 2 };

/** EXPLAIN compiles what it explains and runs nothing of it; anything else has the lower of both levels. */
export function effectiveLevel(syntax: Syntax, call: Level, statement: Level): Level {
  if (syntax.verb === "explain") return "schema";
  return RANK[statement] < RANK[call] ? statement : call;
}

/** Why the statement may not run under the level; null: it may. */
export function overLevel(connection: SchemaConnection, level: Level, sql: string): EngineFailure | null {
  try {
    connection.compile(level, sql);
    return null;
  } catch (error) {
    return engineFailure(error, connection.guard.denial);
  }
}

/** What a decision about a statement depends on in one schema. */
export function levelKey(level: Level, { level: own, params, sql }: TenantStatement): string {
  return `${level} ${own} ${params.length} ${sql}`;
}
