// The databases that are archived, as their store gives them to the archive.

/** The store of databases. */
export interface ArchivedStore {
  pathOf(databaseId: string): string;
  /** Ids of all databases whose log is not empty, or of which `isLeft` says that something is left to be done. */
  unread(isLeft: (databaseId: string) => Promise<boolean>): AsyncIterable<string>;
  /** Does `work` with the write slot held; `fold` folds the log in, and tells whether all of it. */
  holding(databaseId: string, work: (fold: () => Promise<boolean>) => Promise<void>): Promise<void>;
}
