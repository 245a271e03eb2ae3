// Ways by which `same_as_sqlite.ts` asks the service, and one form for what comes back.
// @ts-types="../hrana/libsql_client.d.ts"
import { type Client, createClient as overHttp } from "@libsql/client/http";
// @ts-types="../hrana/libsql_client.d.ts"
import { createClient as overSocket } from "@libsql/client/ws";
import { kindOf, KINDS } from "../models/plain_database.ts";
import type { Call, Statement } from "../models/random_statements.ts";
import type { ServiceWorld } from "../testing/service_world.ts";
import type { Wild } from "./wild_statements.ts";

/** What a door says of one call; of the counts those that it tells. */
export interface Told {
  /** Of the failure; empty: there was none. */
  readonly kind: string;
  readonly message: string;
  readonly results: readonly {
    readonly columns: readonly string[];
    readonly rows: readonly (readonly unknown[])[];
    readonly rowsWritten?: number;
    readonly affected?: number;
    readonly lastId?: string | null;
  }[];
}

export interface Door {
  readonly name: string;
  /** Another SQLite: rows without an order may come in another one, and digits of REALs differ. */
  readonly isOther: boolean;
  send(call: Call): Promise<Told>;
  close?(): void;
}

/** Members of an answer; which are there depends on the call. */
interface Answered {
  readonly status: number;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

export async function post(
  world: ServiceWorld,
  path: string,
  body: unknown,
): Promise<Answered> {
  const response = await fetch(`${world.service.url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${world.token}`,
      "content-type": "application/json",
      "x-service-no-snapshot": "1",
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

export function restDoor(name: string, world: ServiceWorld, slug: string, isOther: boolean): Door {
  return {
    name,
    isOther,
    send: async ({ statements, transaction }) => {
      const { status, body } = transaction === null
        ? await post(world, `/v1/db/acme/${slug}/query`, statements[0])
        : await post(world, `/v1/db/acme/${slug}/batch`, { statements, transaction });
      const data = body.data === undefined ? [] : Array.isArray(body.data) ? body.data : [body.data];
      const results = data.map(({ columns, rows, rowsWritten }: Told["results"][number]) => ({
        columns,
        rows,
        rowsWritten,
      }));
      if (status === 200) return { kind: "", message: "", results };
      const kind = KINDS.includes(body.errorDetail?.kind)
        ? body.errorDetail.kind
        : status === 400 && body.code === "sql_error"
        ? "other"
        : `${status} ${body.code} ${body.errorDetail?.kind}`;
      return { kind, message: body.error, results: transaction === false ? results : [] };
    },
  };
}

export function clientDoor(name: string, world: ServiceWorld, slug: string, scheme: string): Door {
  const client: Client = (scheme === "ws" ? overSocket : overHttp)({
    url: `${world.service.url.replace("http", scheme)}/hrana/acme/${slug}/`,
    authToken: world.token,
    intMode: "bigint",
  });
  const asked = ({ sql, params }: Statement) => ({ sql, args: params.map(argument) });
  const told = (result: Awaited<ReturnType<Client["execute"]>>) => ({
    columns: result.columns,
    rows: result.rows.map((row) => Array.from({ length: result.columns.length }, (_, at) => shown(row[at]))),
    affected: result.rowsAffected,
  });
  return {
    name,
    isOther: false,
    close: () => client.close(),
    send: async ({ statements, transaction }) => {
      const results: Told["results"][number][] = [];
      try {
        if (transaction) results.push(...(await client.batch(statements.map(asked), "write")).map(told));
        else for (const one of statements) results.push(told(await client.execute(asked(one))));
        return { kind: "", message: "", results };
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        const kind = kindOf(message.replace(/^(SQL(ITE)?_\w+: )*(SQL[\w ]+: )?/, ""));
        return { kind, message, results: transaction === false ? results : [] };
      }
    },
  };
}

function argument(value: unknown): unknown {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value === "object" && value !== null) {
    return Uint8Array.fromBase64(String(Reflect.get(value, "$blob")));
  }
  return value;
}

function shown(value: unknown): unknown {
  if (typeof value === "bigint") {
    return value > 2n ** 53n - 1n || value < -(2n ** 53n - 1n) ? String(value) : Number(value);
  }
  if (value === Infinity) return "Infinity";
  if (value === -Infinity) return "-Infinity";
  return value instanceof ArrayBuffer ? { $blob: new Uint8Array(value).toBase64() } : value;
}

/** When a full-text index writes what it holds in memory depends on savepoints: its rows are not counted. */
export function compared(told: Told, call: Call, wild: Wild, door: Door): string {
  const results = told.results.map(({ columns, rows, rowsWritten, affected }, at) => {
    const sql = call.statements[at]?.sql ?? "";
    const texts = rows.map((row) => JSON.stringify(row));
    const isWrite = /^(INSERT|REPLACE|UPDATE|DELETE)/.test(sql);
    return [
      /^ALTER/.test(sql) ? [] : columns,
      door.isOther ? texts.toSorted() : texts,
      wild.hasDocs || !isWrite ? 0 : rowsWritten ?? affected,
    ];
  });
  return JSON.stringify([told.kind, results]);
}

export async function remove({ service, operatorKey }: ServiceWorld, slug: string): Promise<void> {
  const response = await fetch(`${service.url}/api/namespaces/acme/databases/${slug}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${operatorKey}`, "content-type": "application/json" },
    body: JSON.stringify({ confirm: slug }),
  });
  await response.body?.cancel();
}
