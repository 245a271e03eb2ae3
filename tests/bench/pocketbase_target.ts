// PocketBase as a process: the peer that is nearest in kind. It knows no SQL over HTTP, so the cases become calls of its API
// for records, as its own clients send them. It is built by Go into a temporary folder.
import { DatabaseSync } from "node:sqlite";
import { ITEMS } from "./bench_cases.ts";
import type { BenchRequest, BenchStatement, BenchTarget } from "./bench_target.ts";
import { outputOf } from "./output_of.ts";
import { serverProcess } from "./server_process.ts";

const VERSION = "0.39.9";
const PACKAGE = "github.com/pocketbase/pocketbase/examples/base";
const JSON_TYPE = { "content-type": "application/json" };
/** Its administrator, of whom nothing is asked after the start. */
const ADMIN = { identity: "bench@example.com", password: crypto.randomUUID() };
const COLLECTIONS = [
  { name: "items", fields: [text("name"), number("price"), number("stock")] },
  { name: "entries", fields: [text("note"), number("number")] },
];

/** Throws where Go or the package cannot be had. */
export async function pocketbaseTarget(): Promise<BenchTarget> {
  const folder = await Deno.makeTempDir({ prefix: "bench_pocketbase_" });
  const remove = () => Deno.remove(folder, { recursive: true });
  try {
    await outputOf(folder, "go", ["install", `${PACKAGE}@v${VERSION}`], { GOBIN: folder });
    const command = `${folder}/base`;
    const data = ["--dir", `${folder}/data`];
    await outputOf(folder, command, ["superuser", "upsert", ADMIN.identity, ADMIN.password, ...data]);
    const server = await serverProcess({
      command,
      args: (port) => ["serve", "--http", `127.0.0.1:${port}`, ...data],
      cwd: folder,
      healthPath: "/api/health",
    });
    return {
      name: "pocketbase",
      note: `PocketBase ${VERSION}, its API for records without a token, inserts not synced to disk`,
      url: server.url,
      pid: server.pid,
      cases: ["read-1", "read-32", "insert-8", "insert-32", "batch-100"],
      fill: async () => {
        await makeCollections(server.url);
        fillItems(`${folder}/data/data.db`);
      },
      query: recordRequest,
      transaction: (statements) => ({
        path: "/api/batch",
        headers: JSON_TYPE,
        body: JSON.stringify({
          requests: statements.map(recordRequest).map(({ path, body }) => ({
            method: "POST",
            url: path,
            body: JSON.parse(body),
          })),
        }),
      }),
      stop: async () => {
        await server.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The call that does what the statement of a case does. */
function recordRequest({ sql, params }: BenchStatement): BenchRequest {
  const [first = "", second = 0] = params;
  if (sql.startsWith("SELECT")) {
    return {
      method: "GET",
      path: `/api/collections/items/records/${recordId(Number(first))}`,
      headers: {},
      body: "",
    };
  }
  return {
    path: "/api/collections/entries/records",
    headers: JSON_TYPE,
    body: JSON.stringify({ note: first, number: second }),
  };
}

/** Collections that everybody may read and write, and calls of 100 requests. */
async function makeCollections(url: string): Promise<void> {
  const { token } = await call(url, "POST", "/api/collections/_superusers/auth-with-password", ADMIN);
  const open = { type: "base", listRule: "", viewRule: "", createRule: "" };
  for (const collection of COLLECTIONS) {
    await call(url, "POST", "/api/collections", { ...collection, ...open }, token);
  }
  const batch = { enabled: true, maxRequests: 100, timeout: 30 };
  await call(url, "PATCH", "/api/settings", { batch }, token);
}

async function call(
  url: string,
  method: string,
  path: string,
  body: unknown,
  token = "",
): Promise<{ readonly token: string }> {
  const headers = { ...JSON_TYPE, authorization: token };
  const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
  const answer = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${answer.slice(0, 300)}`);
  return JSON.parse(answer);
}

/** Into its file, which is quicker than 10,000 calls. */
function fillItems(path: string): void {
  using database = new DatabaseSync(path);
  const insert = database.prepare("INSERT INTO items (id, name, price, stock) VALUES (?, ?, ?, ?)");
  database.exec("BEGIN IMMEDIATE");
  for (let at = 1; at <= ITEMS; at++) insert.run(recordId(at), `item number ${at}`, at * 1.25, at % 100);
  database.exec("COMMIT");
}

/** Its ids have 15 characters. */
function recordId(at: number): string {
  return String(at).padStart(15, "0");
}

function text(name: string) {
  return { name, type: "text", required: true };
}

function number(name: string) {
  return { name, type: "number" };
}
