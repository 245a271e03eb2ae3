// The service as a process with the permissions of `deno task start`, and one namespace made over its own API.
import { type RunningService, startService } from "./start_service.ts";

export interface ServiceWorld extends AsyncDisposable {
  readonly service: RunningService;
  /** `DATA_DIR`. */
  readonly folder: string;
  readonly operatorKey: string;
  /** An unscoped admin token of the namespace `acme`, whose database is `main`. */
  readonly token: string;
}

/** Ends the process and removes its folder when it is disposed of. */
export async function serviceWorld(settings: Readonly<Record<string, string>> = {}): Promise<ServiceWorld> {
  const folder = await Deno.makeTempDir({ prefix: "cubby_world_" });
  const operatorKey = `cub_op_${crypto.randomUUID()}`;
  const service = await startService({
    folder,
    settings: { OPERATOR_KEY: operatorKey, DEMO: "0", TENANTS_URL: "file:", ...settings },
  });
  const world = { service, folder, operatorKey, token: "" };
  await manage(world, "", { slug: "acme" });
  await manage(world, "/acme/databases", { slug: "main" });
  const token = await newToken(world, "admin");
  return {
    ...{ ...world, token },
    [Symbol.asyncDispose]: async () => {
      await service.kill();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** One more token of the namespace. */
export async function newToken(
  world: Pick<ServiceWorld, "service" | "operatorKey">,
  role: string,
): Promise<string> {
  return String((await manage(world, "/acme/tokens", { name: `t-${crypto.randomUUID()}`, role }))["token"]);
}

/** POST under `/api/namespaces` as the operator; `data` of the answer. */
async function manage(
  { service, operatorKey }: Pick<ServiceWorld, "service" | "operatorKey">,
  path: string,
  body: unknown,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${service.url}/api/namespaces${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${operatorKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`POST ${path} answered ${response.status}: ${JSON.stringify(answer)}`);
  return answer.data;
}

export interface ServiceAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly code?: string; readonly data?: { readonly rows: unknown[][] } };
}

/** One statement of a token, the world's own unless given, in a database, `main` unless given. */
export async function callService(
  { service, token }: Pick<ServiceWorld, "service" | "token">,
  sql: string,
  database = "main",
): Promise<ServiceAnswer> {
  const response = await fetch(`${service.url}/v1/db/acme/${database}/query`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ sql }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}
