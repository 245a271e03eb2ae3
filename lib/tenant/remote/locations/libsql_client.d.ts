// The part of `@libsql/client/http` that is used here; its own types bring those of Node.js, which are not Deno's.
export type Value = string | number | bigint | null | ArrayBuffer;

export interface Statement {
  readonly sql: string;
  readonly args: readonly (string | number | bigint | null | Uint8Array)[];
}

export interface ResultSet {
  readonly rows: readonly { readonly length: number; readonly [at: number]: Value }[];
  readonly rowsAffected: number;
}

export interface Client {
  execute(statement: string | Statement): Promise<ResultSet>;
  batch(statements: readonly Statement[], mode: "write"): Promise<readonly ResultSet[]>;
  executeMultiple(sql: string): Promise<void>;
  close(): void;
}

export function createClient(config: {
  readonly url: string;
  readonly authToken?: string;
  readonly intMode?: "number" | "bigint";
  readonly concurrency?: number;
  readonly fetch: (request: Request) => Promise<Response>;
}): Client;

/** What the server has refused. */
export class LibsqlError extends Error {
  readonly code: string;
}

/** A statement of a batch that it has refused. */
export class LibsqlBatchError extends LibsqlError {}
