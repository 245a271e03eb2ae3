// The part of `@libsql/client/http` that these tests use; its own types bring those of Node.js, which are not Deno's.
type Value = string | number | bigint | null;

type Statement = string | { readonly sql: string; readonly args: readonly Value[] };

interface ResultSet {
  readonly rows: readonly { readonly [column: string]: Value }[];
  readonly lastInsertRowid?: bigint;
}

export interface Transaction {
  execute(statement: Statement): Promise<ResultSet>;
  batch(statements: readonly Statement[]): Promise<readonly ResultSet[]>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  close(): void;
}

export interface Client {
  execute(statement: Statement): Promise<ResultSet>;
  transaction(mode: "read" | "write" | "deferred"): Promise<Transaction>;
}

export function createClient(config: {
  readonly url: string;
  readonly authToken: string;
  readonly fetch: (request: Request) => Promise<Response> | Response;
}): Client;
