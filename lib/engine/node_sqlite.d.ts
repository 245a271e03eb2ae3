// What `node:sqlite` of the pinned Deno has and its type declarations do not have yet (Node.js 24 documentation, SQLite).
import "node:sqlite";

declare module "node:sqlite" {
  interface DatabaseSync {
    readonly limits: { column: number; length: number };
    setAuthorizer(
      callback: ((action: number, first: string | null, second: string | null) => number) | null,
    ): void;
    enableDefensive(active: boolean): void;
    deserialize(image: Uint8Array): void;
    function(
      name: string,
      options: { readonly varargs?: boolean },
      call: (...values: (null | number | bigint | string | Uint8Array)[]) => null | string,
    ): void;
  }
  interface StatementSync {
    setReturnArrays(enabled: boolean): void;
  }
  interface DatabaseSyncOptions {
    defensive?: boolean | undefined;
    limits?: Readonly<Record<string, number>> | undefined;
  }
}
