// The part of `@libsql/client/web` that the tests use; its own types bring those of Node.js, which are not Deno's.
export interface Client {
  execute(
    statement: string | { readonly sql: string; readonly args: readonly (bigint | string | Uint8Array)[] },
  ): Promise<{ readonly rows: readonly (readonly unknown[])[] }>;
  close(): void;
}
export function createClient(config: {
  readonly url: string;
  readonly intMode: "bigint";
  readonly fetch: (request: Request) => Promise<Response>;
}): Client;
