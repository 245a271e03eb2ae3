// Which SQLite the gate compiles with: the runtime's own where it has authorizers, else SQLite's WebAssembly build. Nothing
// of either is loaded before a process needs it.
import { AppError } from "../../../core/errors.ts";
import { charactersOf } from "../../../core/plain_text.ts";
import { engineFailure } from "../../../engine/engine_failure.ts";
import { countQueries, MAX_QUERIES } from "./expansion.ts";
import type { OpenSchemaConnection, SchemaConnection } from "./schema_connection.ts";

/** `auto` takes `node` where it works. */
export type GateEngine = "auto" | "node" | "wasm";

/** Characters of a schema; each takes up to 80 bytes, and several comparisons of branches may have theirs at a time. */
const MAX_NATIVE = 50_000;

let native: Promise<OpenSchemaConnection | null> | null = null;

/**
 * The engine for one schema. A schema whose views could lead deeper than the runtime's own can go, or that is very large, is for the
 * other one, which notices, and has its own memory. Errors: `store_unavailable` when `node` is wanted and cannot refuse anything here.
 */
export async function gateEngine(
  wanted: GateEngine,
  schema: readonly string[],
): Promise<OpenSchemaConnection> {
  if (wanted !== "wasm") {
    const open = await (native ??= nativeEngine().catch(() => null));
    if (open === null && wanted === "node") {
      throw new AppError("store_unavailable", {
        message: "Set GATE_ENGINE to auto; node:sqlite of this runtime has no authorizer",
      });
    }
    if (open !== null && isForNative(schema)) return open;
  }
  const { wasmEngine } = await import("./wasm_schema_connection.ts");
  return await wasmEngine();
}

/**
 * Not for what is deeper than its stack, which ends with the process, and not for what takes much of the memory that engines
 * and Deno KV have together in this process.
 */
function isForNative(schema: readonly string[]): boolean {
  return charactersOf(schema) <= MAX_NATIVE && countQueries(schema) <= MAX_QUERIES;
}

/** Null where it has no authorizers. Throws what the runtime throws where it has no such module. */
async function nativeEngine(): Promise<OpenSchemaConnection | null> {
  const { MemoryConnection } = await import("../../../engine/memory_connection.ts");
  /** The very connection that embedded tenants have. */
  class NodeSchemaConnection extends MemoryConnection implements SchemaConnection {
    readonly broken = false;
  }
  const open = () => new NodeSchemaConnection();
  return refuses(open) ? open : null;
}

/** A guard that is not asked would let everything pass: it has to refuse something before it is believed. */
function refuses(open: OpenSchemaConnection): boolean {
  const connection = open();
  try {
    connection.compile("read", "CREATE TABLE t (a)");
    return false;
  } catch (error) {
    return engineFailure(error, connection.guard.denial).kind === "denied";
  } finally {
    connection.close();
  }
}
