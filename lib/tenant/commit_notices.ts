// Tells within this process that a database has changed. What is told may be told too often, never by another process.

/** Who wants to know of which database. */
export class CommitNotices {
  readonly #watchers = new Map<string, Set<() => void>>();
  #ofAll: ((databaseId: string) => void) | null = null;

  /** Other processes may commit too, of which nothing is told here. */
  readonly others: boolean;

  constructor({ others }: Pick<CommitNotices, "others">) {
    this.others = others;
  }

  /** Calls everybody who watches the database. */
  tell(databaseId: string): void {
    this.#ofAll?.(databaseId);
    for (const tell of this.#watchers.get(databaseId) ?? []) tell();
  }

  /** Calls `changed` at each change, until the function that it returns is called. It must not wait or throw. */
  watch(databaseId: string, changed: () => void): () => void {
    const watchers = this.#watchers.get(databaseId) ?? new Set();
    this.#watchers.set(databaseId, watchers.add(changed));
    return () => {
      watchers.delete(changed);
      if (watchers.size === 0 && this.#watchers.get(databaseId) === watchers) {
        this.#watchers.delete(databaseId);
      }
    };
  }

  /** As `watch`, for every database; there is room for one. */
  watchAll(changed: ((databaseId: string) => void) | null): void {
    this.#ofAll = changed;
  }
}
