// What a start on Deno Deploy loads: the less, the sooner the first request is answered. What only some processes need is
// imported when they need it.
import { assert, assertEquals } from "@std/assert";
import { CHILD_FOLDERS } from "../../lib/tenant/local/pool/program_files.ts";

const ROOT = new URL("../../", import.meta.url);

interface ModuleGraph {
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly isDynamic?: boolean;
      readonly specifier: string;
      readonly code?: { readonly specifier?: string };
    }[];
  }[];
  readonly redirects: Readonly<Record<string, string>>;
}

/** Everything that is loaded with a file, as paths in the repository or as specifiers. */
async function loadedWith(path: string): Promise<string[]> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    cwd: ROOT,
    args: ["info", "--json", path],
    stderr: "null",
  }).output();
  const { modules, redirects }: ModuleGraph = JSON.parse(new TextDecoder().decode(stdout));
  const byName = new Map(modules.map((module) => [module.specifier, module]));
  const found = new Set<string>();
  const visit = (specifier: string) => {
    const name = redirects[specifier] ?? specifier;
    if (found.has(name)) return;
    found.add(name);
    for (const { code, isDynamic } of byName.get(name)?.dependencies ?? []) {
      if (code?.specifier !== undefined && !isDynamic) visit(code.specifier);
    }
  };
  visit(new URL(path, ROOT).href);
  return [...found].map((name) => name.replace(ROOT.href, ""));
}

/** Files of the embedded engine that run it, and what runs SQLite in this process. */
const ENGINES = [
  /^lib\/tenant\/local\/(create_local_store|local_\w+|scheduler|engine_\w+|child_slot|watchdog)\.ts$/,
  /^lib\/tenant\/local\/child\/(main|connection|tenant_file|frame_io)\.ts$/,
  /^node:(sqlite|child_process|worker_threads)$/,
  /sqlite-wasm/,
];

Deno.test("the start loads no tenant store and no engine", async () => {
  const loaded = await loadedWith("main.ts");
  assert(loaded.includes("routes/app.ts") && loaded.length > 100, `${loaded.length} modules`);
  const wrong = loaded.filter((name) =>
    ENGINES.some((engine) => engine.test(name)) || /^lib\/tenant\/(sqld|turso|local|remote)\//.test(name)
  );
  assertEquals(wrong, []);
});

Deno.test("the start loads nothing of the console but its door, and no library that only people's sign-in needs", async () => {
  const loaded = await loadedWith("main.ts");
  assertEquals(loaded.filter((name) => name.startsWith("routes/console/")), ["routes/console/mod.ts"]);
  const late = /simplewebauthn|zxcvbn|htmx|fontsource|octicons|codemirror|dagre|hono.*\/jsx/;
  assertEquals(loaded.filter((name) => late.test(name)), []);
});

Deno.test("a remote store loads nothing that runs the embedded engine, and an engine only for a statement, and libSQL's client only for its catalogue", async () => {
  for (const path of ["lib/tenant/sqld/create_sqld_store.ts", "lib/tenant/turso/create_turso_store.ts"]) {
    const loaded = await loadedWith(path);
    assert(loaded.includes("lib/tenant/remote/gate/gate_engine.ts"), path);
    const late = [...ENGINES, /@libsql/];
    assertEquals(loaded.filter((name) => late.some((one) => one.test(name))), [], path);
  }
});

Deno.test("an engine child loads files of the folders whose change is noticed, and nothing else", async () => {
  const loaded = await loadedWith("lib/tenant/local/child/main.ts");
  assert(loaded.includes("lib/engine/guard.ts") && loaded.length > 50, `${loaded.length} modules`);
  const folders = CHILD_FOLDERS.map((folder) => `lib/${folder}`);
  const wrong = loaded.filter((name) =>
    !name.startsWith("node:") && !folders.includes(name.slice(0, name.lastIndexOf("/") + 1))
  );
  assertEquals(wrong, []);
});

Deno.test("the embedded store does not load the WebAssembly engine", async () => {
  const loaded = await loadedWith("lib/tenant/local/create_local_store.ts");
  assertEquals(loaded.filter((name) => name.includes("sqlite-wasm")), []);
});
