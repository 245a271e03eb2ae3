// The databases that are archived, as their store gives them to the archive.

/** How a log is folded in. */
export interface FoldForm {
  /** The log's file keeps its length, and is written from its start again. */
  readonly keeps: boolean;
}

/** Folds a log into its file. Returns how many of its frames are there then; null: all, and the log is empty. */
export type FoldLog = (form: FoldForm) => Promise<number | null>;

/** The store of databases. */
export interface ArchivedStore {
  pathOf(databaseId: string): string;
  /** Ids of all databases whose log is not empty, or of which `isLeft` says that something is left to be done. */
  unread(isLeft: (databaseId: string) => Promise<boolean>): AsyncIterable<string>;
  /** Does `work` with the write slot held. */
  holding(databaseId: string, work: (fold: FoldLog) => Promise<void>): Promise<void>;
}
