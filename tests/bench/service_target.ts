// This service as a real process, started with the flags of `deno task start`, and one namespace made over its own API.
import type { BenchRequest, BenchStatement, BenchTarget } from "./bench_target.ts";
import { type ServerProcess, serverProcess } from "./server_process.ts";

const NAMESPACE = "bench";
const ROOT = new URL("../../", import.meta.url);

/** A running service with its operator's key; folder and settings are the caller's. */
export interface RunningService extends ServerProcess {
  /** Calls a management route as the operator; throws unless it succeeds. Returns `data`. */
  manage(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
}

export interface ServiceTarget extends BenchTarget {
  /** One statement for the second database of the namespace, which nothing else uses. */
  other(statement: BenchStatement): BenchRequest;
  /** See `RunningService`. */
  readonly manage: RunningService["manage"];
  /** See `ServerProcess`. */
  readonly output: RunningService["output"];
}

/** The command of `deno task start`, as arguments for the `deno` that runs this. */
export async function startArguments(root: string = ROOT.pathname): Promise<string[]> {
  const { tasks }: { tasks: { start: string } } = JSON.parse(
    await Deno.readTextFile(`${root}deno.json`),
  );
  return tasks.start.split(" ").slice(1);
}

/** Starts the service of a checkout on a folder. `settings` override the benchmark's own; `flags`: further ones of the runtime. */
export async function startService(
  folder: string,
  settings: Record<string, string> = {},
  root: string = ROOT.pathname,
  flags: readonly string[] = [],
): Promise<RunningService> {
  const operatorKey = `operator-${crypto.randomUUID()}${crypto.randomUUID()}`;
  const [run = "run", ...start] = await startArguments(root);
  const args = [run, ...flags, ...start];
  const server = await serverProcess({
    command: Deno.execPath(),
    args: () => args,
    cwd: root,
    env: (port) => ({
      ...{ HOST: "127.0.0.1", PORT: String(port), DATA_DIR: folder, OPERATOR_KEY: operatorKey },
      ...{ FLOOD_PER_10S: "0", DEMO: "0", WELCOME_CREDIT_USD: "1000" },
      ...settings,
    }),
    healthPath: "/readyz",
  });
  const manage = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${operatorKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (!response.ok) {
      throw new Error(`${method} ${path} answered ${response.status}: ${JSON.stringify(answer)}`);
    }
    return answer.data;
  };
  return { ...server, manage };
}

/** Makes the namespace with databases `main` and `other` and an admin token, and returns the token. */
export async function makeNamespace(service: RunningService): Promise<string> {
  await service.manage("POST", "/api/namespaces", { slug: NAMESPACE });
  for (const slug of ["main", "other"]) {
    await service.manage("POST", `/api/namespaces/${NAMESPACE}/databases`, { slug });
  }
  const record = await service.manage("POST", `/api/namespaces/${NAMESPACE}/tokens`, {
    name: "bench",
    role: "admin",
  });
  return String(record["token"]);
}

/** The service with everything that the cases need. `checkout`: of another commit than this one; `settings`: beside its own. */
export async function serviceTarget(
  checkout: { readonly folder: string; readonly commit: string } | null = null,
  settings: Readonly<Record<string, string>> = {},
): Promise<ServiceTarget> {
  const folder = await Deno.makeTempDir({ prefix: "bench_service_" });
  let service: RunningService | null = null;
  const stop = async () => {
    await service?.stop();
    await Deno.remove(folder, { recursive: true });
  };
  try {
    service = await startService(folder, settings, checkout?.folder);
    const target = targetOf(service, await makeNamespace(service), stop);
    return checkout === null
      ? target
      : { ...target, name: "against", note: `the service at ${checkout.commit}` };
  } catch (error) {
    await stop();
    throw error;
  }
}

function targetOf(service: RunningService, token: string, stop: () => Promise<void>): ServiceTarget {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const on = (database: string) => (statement: BenchStatement): BenchRequest => ({
    path: `/v1/db/${NAMESPACE}/${database}/query`,
    headers,
    body: JSON.stringify(statement),
  });
  return {
    name: "service",
    note: "durable (synchronous=FULL), one log row a call, one audit row a write",
    url: service.url,
    pid: service.pid,
    query: on("main"),
    other: on("other"),
    manage: service.manage,
    output: service.output,
    transaction: (statements) => ({
      path: `/v1/db/${NAMESPACE}/main/batch`,
      headers,
      body: JSON.stringify({ statements, transaction: true }),
    }),
    many: (sql, paramSets) => ({
      path: `/v1/db/${NAMESPACE}/main/batch`,
      headers,
      body: JSON.stringify({ sql, paramSets, transaction: true }),
    }),
    stop,
  };
}
