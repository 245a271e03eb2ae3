// Stands in for Turso Cloud on loopback: the routes of its platform API that the store uses, as strict as its
// documentation, over a real sqld. Each database has an address of its own, as at Turso, behind which sqld answers.
import { exportSPKI, generateKeyPair, SignJWT } from "jose";
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import { SqldPlatform } from "../../lib/tenant/sqld/sqld_platform.ts";
import { type HranaDoor, openHranaDoor } from "./hrana_door.ts";
import { type Sqld, type SqldOptions, startSqld } from "./sqld.ts";

export interface TursoStandInOptions extends Pick<SqldOptions, "required"> {
  /** Tokens last no longer than this, whatever is asked for. */
  readonly tokenSeconds?: number;
  /** A new database does not answer before so many requests were made to it. */
  readonly refusedFirst?: number;
}

/** An answer instead of the platform API's own; null: its own. */
export type ApiFault = (method: string, path: string) => Promise<Response | null> | Response | null;

export interface TursoStandIn {
  readonly apiUrl: string;
  readonly organization: string;
  readonly group: string;
  readonly platformToken: string;
  /** Calls of the platform API so far, as `POST /databases`. */
  readonly calls: readonly string[];
  readonly sqld: Sqld;
  /** Names of the databases that are there. */
  names(): string[];
  /** From now on. */
  setFault(fault: ApiFault | null): void;
  /** The tokens of all databases are worth nothing from now on. */
  revokeTokens(): void;
  /** The plan of the organization is used up: its databases refuse, whatever their configuration says. */
  blockOrganization(blocked: Blocked): Promise<void>;
  stop(): Promise<void>;
}

interface Blocked {
  readonly reads: boolean;
  readonly writes: boolean;
}

interface Database {
  readonly id: string;
  readonly door: HranaDoor;
  /** Unix milliseconds at which each ends. */
  readonly tokens: Map<string, number>;
  blocked: Blocked;
}

const ORGANIZATION = "acme";
const GROUP = "default";
const PLATFORM_TOKEN = "platform-token";

/** Null where there is no sqld for this machine, which is said. */
export async function startTursoStandIn(options: TursoStandInOptions = {}): Promise<TursoStandIn | null> {
  const pair = await generateKeyPair("EdDSA", { extractable: true });
  const folder = await Deno.makeTempDir({ prefix: "turso_" });
  await Deno.writeTextFile(`${folder}/public.pem`, await exportSPKI(pair.publicKey));
  const sqld = await startSqld({
    ...options,
    args: [
      ...["--enable-namespaces", "--disable-default-namespace"],
      ...["--auth-jwt-key-file", `${folder}/public.pem`],
    ],
  }).finally(() => Deno.remove(folder, { recursive: true }));
  if (sqld === null) return null;
  const cloud = new Cloud(sqld, pair.privateKey, options);
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, cloud.api);
  return {
    apiUrl: `http://127.0.0.1:${server.addr.port}`,
    ...{ organization: ORGANIZATION, group: GROUP, platformToken: PLATFORM_TOKEN, calls: cloud.calls, sqld },
    names: () => [...cloud.databases.keys()],
    setFault: (fault) => void (cloud.fault = fault),
    revokeTokens: () => cloud.databases.forEach(({ tokens }) => tokens.clear()),
    blockOrganization: (blocked) => cloud.blockOrganization(blocked),
    stop: async () => {
      await server.shutdown();
      for (const database of cloud.databases.values()) await database.door.close();
      await sqld.stop();
    },
  };
}

class Cloud {
  readonly databases = new Map<string, Database>();
  readonly calls: string[] = [];
  fault: ApiFault | null = null;
  readonly #admin: SqldPlatform;
  #organization: Blocked = { reads: false, writes: false };

  constructor(
    private readonly sqld: Sqld,
    private readonly key: CryptoKey,
    private readonly options: TursoStandInOptions,
  ) {
    const { url, adminUrl } = sqld;
    this.#admin = new SqldPlatform({ url, adminUrl, adminToken: null, tokens: null, fetch, log: silentLog });
  }

  readonly api = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    const [, organization, path] = /^\/v1\/organizations\/([^/]+)(\/.*)$/.exec(url.pathname) ?? [];
    const text = await request.text();
    this.calls.push(`${request.method} ${path}`);
    const instead = await this.fault?.(request.method, path ?? "");
    if (instead) return instead;
    if (request.headers.get("authorization") !== `Bearer ${PLATFORM_TOKEN}`) {
      return failed(401, "unauthorized");
    }
    if (organization !== ORGANIZATION || path === undefined) return failed(404, "organization not found");
    if (text !== "" && request.headers.get("content-type") !== "application/json") {
      return failed(400, "no JSON");
    }
    const body: unknown = text === "" ? null : JSON.parse(text);
    if (path === "/databases") {
      return request.method === "POST" ? await this.#create(body) : failed(405, "method");
    }
    const [, name = "", what = ""] = /^\/databases\/([a-z0-9-]+)(\/.+)?$/.exec(path) ?? [];
    const database = this.databases.get(name);
    if (!database) return failed(404, `could not find database with name ${name}: record not found`);
    switch (`${request.method} ${what}`) {
      case "GET ":
        return Response.json({
          database: { Name: name, DbId: database.id, Hostname: database.door.host, group: GROUP },
        });
      case "DELETE ":
        return await this.#remove(name, database);
      case "PATCH /configuration":
        return await this.#configure(name, database, body);
      case "POST /auth/tokens":
        return body === null
          ? await this.#mint(name, database, url.searchParams)
          : failed(400, "unknown body");
      default:
        return failed(405, "method not allowed");
    }
  };

  async blockOrganization(blocked: Blocked): Promise<void> {
    this.#organization = blocked;
    for (const [name, database] of this.databases) await this.#applyBlocks(name, database);
  }

  async #create(body: unknown): Promise<Response> {
    const { name, group, seed = null, ...unknown } = membersOf(body);
    if (Object.keys(unknown).length > 0) return failed(400, `unknown field ${Object.keys(unknown)}`);
    if (typeof name !== "string" || !/^[a-z0-9-]{1,32}$/.test(name)) return failed(400, "invalid name");
    if (group !== GROUP) return failed(400, "group not found");
    if (this.databases.has(name)) return failed(409, `database with name ${name} already exists`);
    const { type, name: from, ...more } = membersOf(seed);
    if (seed !== null && (type !== "database" || typeof from !== "string" || Object.keys(more).length > 0)) {
      return failed(400, "invalid seed");
    }
    if (typeof from === "string" && !this.databases.has(from)) return failed(400, "seed database not found");
    const database = this.#open(name);
    try {
      await (typeof from === "string" ? this.#admin.fork(from, name) : this.#admin.create(name));
    } catch {
      await this.#remove(name, database);
      return failed(500, "internal");
    }
    await this.#applyBlocks(name, database);
    return Response.json({ database: { DbId: database.id, Hostname: database.door.host, Name: name } });
  }

  #open(name: string): Database {
    let refused = this.options.refusedFirst ?? 0;
    const tokens = new Map<string, number>();
    const door = openHranaDoor({
      sqldUrl: this.sqld.url,
      namespace: name,
      refuse: ({ route, bearer }) => {
        if (refused-- > 0) return { status: 502, body: "no such host yet" };
        if (!/^POST \/(v2|v3|v3-protobuf)\/pipeline$/.test(route)) return { status: 404, body: "no route" };
        // Its signature and its mode are checked by sqld itself, which is late with its end.
        if ((tokens.get(bearer) ?? 0) > systemClock.now()) return null;
        return { status: 401, body: '{"error":"Unauthorized: invalid token"}' };
      },
    });
    const database: Database = {
      ...{ id: crypto.randomUUID(), door, tokens },
      blocked: { reads: false, writes: false },
    };
    this.databases.set(name, database);
    return database;
  }

  async #remove(name: string, database: Database): Promise<Response> {
    this.databases.delete(name);
    await this.#admin.remove(name, 10_000);
    await database.door.close();
    return Response.json({ database: name });
  }

  async #configure(name: string, database: Database, body: unknown): Promise<Response> {
    const { block_reads: reads, block_writes: writes, ...unknown } = membersOf(body);
    if (typeof reads !== "boolean" || typeof writes !== "boolean" || Object.keys(unknown).length > 0) {
      return failed(400, "invalid configuration");
    }
    database.blocked = { reads, writes };
    await this.#applyBlocks(name, database);
    return Response.json({ size_limit: "", allow_attach: false, block_reads: reads, block_writes: writes });
  }

  async #applyBlocks(name: string, { blocked }: Database): Promise<void> {
    const { reads, writes } = this.#organization;
    await this.#admin.block(name, { reads: blocked.reads || reads, writes: blocked.writes || writes });
  }

  async #mint(name: string, database: Database, query: URLSearchParams): Promise<Response> {
    const { expiration = "", authorization = "", ...unknown } = Object.fromEntries(query);
    if (Object.keys(unknown).length > 0) return failed(400, "unknown parameter");
    const [, minutes] = /^(\d+)m$/.exec(expiration) ?? [];
    if (minutes === undefined) return failed(400, "Invalid expiration format");
    if (!["read-only", "full-access"].includes(authorization)) return failed(400, "invalid authorization");
    const seconds = Math.min(Number(minutes) * 60, this.options.tokenSeconds ?? Infinity);
    const jwt = await new SignJWT({ id: name, a: authorization === "read-only" ? "ro" : "rw" })
      .setProtectedHeader({ alg: "EdDSA" })
      .setJti(crypto.randomUUID())
      .setExpirationTime(Math.floor(systemClock.now() / 1000) + seconds)
      .sign(this.key);
    database.tokens.set(jwt, systemClock.now() + seconds * 1000);
    return Response.json({ jwt });
  }
}

function failed(status: number, error: string): Response {
  return Response.json({ error }, { status });
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
