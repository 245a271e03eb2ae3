// Loads SQLite's WebAssembly build, without reading any file: the binary is a module of the package, like its code.
import type { Database, Sqlite3Static } from "@sqlite.org/sqlite-wasm";
import type { OpenSchemaConnection } from "./schema_connection.ts";
import { type WasmInstance, WasmSchemaConnection } from "./wasm_schema_connection.ts";

let loading: Promise<WasmInstance> | null = null;

/** One instance a process, and another one once that is broken. */
export async function wasmEngine(): Promise<OpenSchemaConnection> {
  let instance = await (loading ??= load());
  if (instance.broken) instance = await (loading = load());
  return () => new WasmSchemaConnection(instance);
}

async function load(): Promise<WasmInstance> {
  const [{ default: wasmBinary }, { default: init }] = await Promise.all([
    import("@sqlite.org/sqlite-wasm/sqlite3.wasm", { with: { type: "bytes" } }),
    import("@sqlite.org/sqlite-wasm"),
  ]);
  // Emscripten takes the binary as an option, which the package's types leave out.
  const start: (options: { readonly wasmBinary: Uint8Array }) => Promise<Sqlite3Static> = init;
  const sqlite3 = await start({ wasmBinary });
  // It would write texts of statements to the console.
  const silent = () => {};
  Object.assign(sqlite3.config, { debug: silent, log: silent, warn: silent, error: silent });
  const instance: WasmInstance = {
    sqlite3,
    // The garbage collector knows nothing of the memory behind a connection.
    forgotten: new FinalizationRegistry<Database>((database) => {
      if (!instance.broken) database.close();
    }),
    broken: false,
  };
  return instance;
}
