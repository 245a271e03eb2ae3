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

/** Ends the process and removes its folder when it is disposed of. `dir`: where to make that; as other tests unless given. */
export async function serviceWorld(
  settings: Readonly<Record<string, string>> = {},
  dir: string | null = null,
): Promise<ServiceWorld> {
  const prefix = "cubby_world_";
  const folder = await Deno.makeTempDir(dir === null ? { prefix } : { prefix, dir });
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

/** One more token of a namespace, `acme` unless given. */
export async function newToken(
  world: Pick<ServiceWorld, "service" | "operatorKey">,
  role: string,
  namespace = "acme",
): Promise<string> {
  const body = { name: `t-${crypto.randomUUID()}`, role };
  return String((await manage(world, `/${namespace}/tokens`, body))["token"]);
}

/** POST under `/api/namespaces` as the operator; `data` of the answer. */
export async function manage(
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

/** One statement of a token, the world's own unless given, in a database of `acme`, `main` unless given, or `namespace/slug`. */
export async function callService(
  { service, token }: Pick<ServiceWorld, "service" | "token">,
  sql: string,
  database = "main",
): Promise<ServiceAnswer> {
  const path = database.includes("/") ? database : `acme/${database}`;
  const response = await fetch(`${service.url}/v1/db/${path}/query`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ sql }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}
