// Bounds of transactions that last over several requests, each with its reason.

/** In milliseconds, except where named. */
export const transactionLimits = {
  /** From taking the write slot until a writer that waits gets it: what an application takes between BEGIN and COMMIT. */
  leaseMs: 5000,
  /** From taking the write slot, or a snapshot, until the end: both keep the write-ahead log from being folded in. */
  longestMs: 30_000,
  /** Between two statements: who has gone without a word must not hold anything for long. */
  idleMs: 10_000,
  /** Open ones of a database: each may hold the others up. */
  mostOfDatabase: 4,
  /** Open ones of a token: others need room too. */
  mostOfToken: 16,
  /** That one waits until there is room for it, as applications begin many at a time and few try again. */
  waitMs: 5000,
  /** That wait for it, of the process: each is a request under way. */
  mostWaiting: 256,
  /** Of them, those of a namespace: others wait too. */
  mostWaitingOfNamespace: 64,
} as const;

/** The numbers of such a table. */
export type TransactionLimits = { readonly [Name in keyof typeof transactionLimits]: number };

/** So many statements about savepoints are kept until the first write, to be run again; behind more, it may fail as busy. */
export const MAX_KEPT_SAVEPOINTS = 100;
