// The part of `@libsql/hrana-client` that is used here; its own types bring those of Node.js, which are not Deno's.
export type Value = null | string | number | bigint | boolean | ArrayBuffer;
export type Statement = string | Sql | Stmt | readonly [text: string | Sql, args: unknown];

export interface Sql {
  readonly closed: boolean;
  close(): void;
}

export class Stmt {
  constructor(sql: string);
  bindIndexes(values: readonly unknown[]): this;
  bindIndex(index: number, value: unknown): this;
  bindName(name: string, value: unknown): this;
}

export interface StmtResult {
  readonly affectedRowCount: number;
  readonly lastInsertRowid: bigint | undefined;
  readonly columnNames: readonly (string | undefined)[];
  readonly columnDecltypes: readonly (string | undefined)[];
}

export interface Row {
  readonly length: number;
  readonly [key: string | number]: Value | undefined;
}

export interface Asking {
  query(statement: Statement): Promise<StmtResult & { readonly rows: readonly Row[] }>;
  queryRow(statement: Statement): Promise<StmtResult & { readonly row: Row | undefined }>;
  queryValue(statement: Statement): Promise<StmtResult & { readonly value: Value | undefined }>;
  run(statement: Statement): Promise<StmtResult>;
}

export interface Stream extends Asking {
  readonly closed: boolean;
  intMode: "number" | "bigint" | "string";
  describe(sql: string | Sql): Promise<{
    readonly paramNames: readonly (string | undefined)[];
    readonly columns: readonly { readonly name: string; readonly decltype: string | undefined }[];
    readonly isExplain: boolean;
    readonly isReadonly: boolean;
  }>;
  sequence(sql: string): Promise<void>;
  getAutocommit(): Promise<boolean>;
  batch(useCursor?: boolean): Batch;
  close(): void;
  closeGracefully(): void;
}

type OrNothing<T> = {
  [K in keyof T]: T[K] extends (one: infer S) => Promise<infer R> ? (one: S) => Promise<R | undefined>
    : never;
};

export interface BatchStep extends OrNothing<Asking> {
  condition(condition: BatchCond): this;
}

export interface Batch {
  step(): BatchStep;
  execute(): Promise<void>;
}

export class BatchCond {
  private constructor();
  static ok(step: BatchStep): BatchCond;
  static error(step: BatchStep): BatchCond;
  static not(condition: BatchCond): BatchCond;
  static and(batch: Batch, conditions: readonly BatchCond[]): BatchCond;
  static or(batch: Batch, conditions: readonly BatchCond[]): BatchCond;
  static isAutocommit(batch: Batch): BatchCond;
}

export interface Client {
  intMode: "number" | "bigint" | "string";
  openStream(): Stream & SqlOwner;
  getVersion(): Promise<number>;
  close(): void;
}

export interface SqlOwner {
  storeSql(sql: string): Sql;
}

export function openWs(url: string, jwt?: string, version?: 2 | 3): Client & SqlOwner;
export function openHttp(url: string, jwt?: string, fetch?: unknown, key?: string, version?: 2 | 3): Client;
