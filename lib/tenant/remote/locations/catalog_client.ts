// The catalogue's statements go out through `@libsql/client`: ordinary ones, and changes, each a transaction in one
// request. Requests pass our own `fetch`, so that they go out at most once, with tokens of now and within a bound in time.
// @ts-types="./libsql_client.d.ts"
import { type Client, createClient, LibsqlBatchError, LibsqlError } from "@libsql/client/http";
import { AppError } from "../../../core/errors.ts";
import type { LogValues } from "../../log_columns.ts";
import { post } from "../hrana/hrana_client.ts";
import { damageOf, RemoteFailure } from "../hrana/remote_failure.ts";
import { askLocation, inOwnTime, type Mode, type RemoteContext } from "../server/remote_context.ts";

/** One statement with its parameters. */
export type CatalogStatement = readonly [sql: string, params: LogValues];

/** A row of the catalogue. */
export type CatalogRow = { readonly [at: number]: unknown };

/** Nothing is sent there: the platform knows where the location answers. */
const ADDRESS = "http://catalogue.invalid";

/** The catalogue of one server. Every method throws `RemoteFailure`. */
export class CatalogClient {
  readonly #reading: Client;
  readonly #writing: Client;

  constructor(context: RemoteContext, location: string) {
    const open = (mode: Mode) =>
      createClient({
        url: ADDRESS,
        // Requests that wait in the client would have no bound in time.
        concurrency: Number.MAX_SAFE_INTEGER,
        fetch: (request) => send(context, { location, mode }, request),
      });
    this.#reading = open("read");
    this.#writing = open("write");
  }

  /** Runs texts one after the other, each by itself. */
  async run(texts: readonly string[]): Promise<void> {
    await told(() => this.#writing.executeMultiple(texts.join(";\n")));
  }

  /** Rows of one statement that only reads. */
  async select(statement: CatalogStatement): Promise<readonly CatalogRow[]> {
    const { rows } = await told(() => this.#reading.execute(bound(statement)));
    return rows;
  }

  /** Rows changed by each statement, or the number that it returns; all or nothing. False: a row is there already. */
  async change(statements: readonly CatalogStatement[]): Promise<readonly number[] | false> {
    try {
      const results = await told(() => this.#writing.batch(statements.map(bound), "write"));
      return results.map(({ rows, rowsAffected }) => Number(rows[0]?.[0] ?? rowsAffected));
    } catch (error) {
      if (error instanceof RemoteFailure && /UNIQUE constraint failed/.test(error.message)) return false;
      throw error;
    }
  }
}

/** The client sends numbers as REAL. */
function bound([sql, params]: CatalogStatement) {
  return { sql, args: params.map((value) => Number.isSafeInteger(value) ? BigInt(Number(value)) : value) };
}

/** A request of the client, which repeats none, nor does our `fetch`. What is thrown here passes the client unchanged. */
async function send(
  context: RemoteContext,
  target: { readonly location: string; readonly mode: Mode },
  request: Request,
): Promise<Response> {
  const { pathname } = new URL(request.url);
  const contentType = request.headers.get("content-type") ?? "";
  const body = await request.text();
  const bytes = await inOwnTime((signal) =>
    askLocation(
      context,
      target,
      { signal },
      ({ url, headers }) =>
        post(context.poster, {
          url: url + pathname,
          headers: { ...headers, "content-type": contentType },
          body,
          signal,
        }),
    )
  );
  return new Response(bytes);
}

/** What the client does. Throws its errors as the failures that they amount to. */
async function told<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof RemoteFailure || error instanceof AppError) throw error;
    throw error instanceof LibsqlError
      ? failureOf(error)
      : new RemoteFailure("unreachable", "no answer of Hrana");
  }
}

/** The engine's own word on BEGIN or COMMIT tells that nothing was committed, so the whole may be sent again. */
function failureOf(error: LibsqlError): RemoteFailure {
  const { code, message } = error;
  if (code === "BLOCKED") return new RemoteFailure("blocked");
  const damage = damageOf(code, message);
  if (damage !== null) return damage;
  const refused = !(error instanceof LibsqlBatchError) && /^(?:SQLITE_|TRANSACTION_BUSY)/.test(code);
  return new RemoteFailure(refused ? "not_sent" : "unreachable", message);
}
