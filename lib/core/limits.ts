// Numbers that bound a request, each with its unit and its reason. What an operator may change is in lib/config.ts.

/** Bytes of a `/v1` or `/api` request body (contract 3). */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Bytes of a request body under `/p` (contract 3). */
export const MAX_PUBLISHED_BODY_BYTES = 1024 * 1024;
/** Milliseconds in which a request body must have arrived whole: a slow sender must not hold a connection for ever. */
export const BODY_TIMEOUT_MS = 30_000;
/** What bounds the connections of clients, so that strangers cannot keep them all; milliseconds but for the two named. */
export const connectionLimits = {
  /** From its opening until the head of its first request is whole, the same as a body has. */
  headMs: 30_000,
  /** From an answer until the next head is whole: longer than proxies keep an idle connection (60 to 75 s). */
  idleMs: 120_000,
  /** Bytes of a large answer that a client takes in a second at the least: an honest one on the worst line does. */
  takenBytesPerSec: 16 * 1024,
  /** Open at once: the file descriptors that the system gives a process (mostly 10,240 and more) have other uses too. */
  maxConnections: 4000,
  /** Between two looks at all of them. */
  sweepMs: 1000,
} as const;
/** Statements of one batch (specification, Limits). */
export const MAX_BATCH_STATEMENTS = 100;
/** Characters of one statement: SQLite's own default is 1 GB, which only an attack needs. */
export const MAX_SQL_LENGTH = 1_000_000;
/** Bytes of one value or row inside the engine: a little above the default result bound. */
export const MAX_VALUE_BYTES = 20_000_000;
/** Characters of a question to an `ask` endpoint (contract 8). */
export const MAX_QUESTION_LENGTH = 500;
/** Characters of an input of type `email`: the longest address that mail can have. */
export const MAX_EMAIL_LENGTH = 320;
/** Characters of an input of type `url`: what servers take in a request line. */
export const MAX_URL_LENGTH = 8192;
/** Bound parameters of one statement (SQLite's default). */
export const MAX_PARAMETERS = 32_766;
/** Bytes of statement text kept in the query log (contract 9). */
export const LOG_SQL_BYTES = 4096;
/** Milliseconds that a read's log row may wait for company (contract 9). */
export const LOG_DELAY_MS = 250;
/** Milliseconds that the answer of a keyed call is kept (specification, Limits: 24 hours). */
export const REPLAY_MS = 86_400_000;
/** Milliseconds that a deleted database can be brought back (contract 7: 7 days). */
export const DELETED_KEEP_MS = 7 * 86_400_000;
/** Milliseconds that a cached control-plane record may be used before it is read again (contract 7: 5 s). */
export const CACHE_AGE_MS = 4_000;
/** Approvals of one database that wait for a person or to be redeemed: people have to oversee them, KV to hold them. */
export const MAX_OPEN_APPROVALS = 100;
/** Living branches of one database: each may be a whole copy of it. */
export const MAX_BRANCHES = 100;
