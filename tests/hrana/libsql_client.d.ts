// The part of `@libsql/client` that is used here; its own types bring those of Node.js, which are not Deno's.
export interface ResultSet {
  readonly columns: readonly string[];
  readonly rows: readonly { readonly [name: string]: unknown }[];
  readonly rowsAffected: number;
  readonly lastInsertRowid: bigint | undefined;
}

export type Statement = string | { readonly sql: string; readonly args: unknown };

export interface Transaction {
  execute(statement: Statement): Promise<ResultSet>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

export interface Client {
  execute(statement: Statement): Promise<ResultSet>;
  batch(statements: readonly Statement[], mode: "write" | "read" | "deferred"): Promise<readonly ResultSet[]>;
  migrate(statements: readonly string[]): Promise<readonly ResultSet[]>;
  executeMultiple(sql: string): Promise<void>;
  transaction(mode: "write" | "read"): Promise<Transaction>;
  close(): void;
}

export function createClient(
  config: { readonly url: string; readonly authToken: string; readonly intMode?: "number" | "bigint" },
): Client;
