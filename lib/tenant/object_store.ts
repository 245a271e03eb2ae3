// Where the archive's objects are: a folder, or a bucket that speaks S3.

/** Objects by key; a key has parts between slashes. Every method rejects where the store does not answer. */
export interface ObjectStore {
  /** The time there when it last answered or took something, unix milliseconds; null: it has told none yet. */
  readonly toldMs: number | null;
  /** Writes an object. `expects`: only where none is there (`null`), or where it still has that tag. False: it has not. */
  put(key: string, bytes: Uint8Array<ArrayBuffer>, expects?: string | null): Promise<boolean>;
  /** Null: there is none. The tag tells one content from another. */
  get(key: string): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly tag: string } | null>;
  /** The keys that begin so, in their order; `after`: those behind it. There may be more than fit into memory. */
  keys(prefix: string, after?: string): AsyncIterable<string>;
  /** Removes an object, if it is there. */
  remove(key: string): Promise<void>;
  /** The same store for small objects that somebody waits for: each request to a bucket fails after so many milliseconds. */
  within(timeoutMs: number): Pick<ObjectStore, "get" | "put">;
  /** Removes what is left of writes that were cut off a day ago or more. */
  removeUnfinished(): Promise<void>;
}

/** Such a store for somebody who changes nothing there. */
export type ReadObjects = Pick<ObjectStore, "get" | "keys">;
