// Numbers that bound a request, each with its unit and its reason. lib/config.ts has those that an operator can change.
import { DAY_MS } from "./clock.ts";

/** Bytes of a request body under `/v1` and `/api`. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Bytes of the body of a call that anybody may make and that has little to say. */
export const MAX_SHORT_BODY_BYTES = 16 * 1024;
/** Bytes of a request body under `/p`. */
export const MAX_PUBLISHED_BODY_BYTES = 1024 * 1024;
/** Bytes of the body of a specification, which takes 60,000 once it is read: JSON may take six for a character, and be indented. */
export const MAX_SPEC_BODY_BYTES = 512 * 1024;
/** Bytes of a body that tries an endpoint: what a caller may send, of which a value of bytes takes a third more in JSON. */
export const MAX_TEST_BODY_BYTES = 1536 * 1024;
/** Milliseconds until a request body has arrived: a slow sender must not hold a connection for ever. */
export const BODY_TIMEOUT_MS = 30_000;
/**
 * Bounds of the connections of clients, so that strangers cannot take them all. In milliseconds, except the two
 * named.
 */
export const connectionLimits = {
  /** From opening until the head of the first request has arrived; as long as a body may take. */
  headMs: 30_000,
  /** From an answer until the next head has arrived: longer than proxies keep an idle connection (60 to 75 s). */
  idleMs: 120_000,
  /** Bytes of a large answer that a client must take each second: an honest client on the slowest line does. */
  takenBytesPerSec: 16 * 1024,
  /**
   * Connections open at once. The system gives a process mostly 10,240 file descriptors or more, and others need
   * some.
   */
  maxConnections: 4000,
  /** Between two sweeps over all connections. */
  sweepMs: 1000,
} as const;
/** Bounds of answers that their clients have not taken yet: see `AnswerRoom`. In bytes, except the two named. */
export const answerLimits = {
  /** Little beside what the system itself holds for a connection. */
  freeBytes: 64 * 1024,
  /** An answer of bytes up to this length is copied when it is made: its memory is used again. A longer one keeps its memory. */
  copiedBytes: 1024 * 1024,
  /** In pieces an answer costs 0.4 ms more: nothing to one of 2 MB, which takes 10 ms. */
  wholeBytes: 2 * 1024 * 1024,
  memoryBytes: 64 * 1024 * 1024,
  diskBytes: 1024 * 1024 * 1024,
  /** Files open at once: as many descriptors. */
  diskFiles: 512,
  /** Milliseconds in which a client must take a piece of 256 KiB, as at 4 KB a second. */
  stallMs: 60_000,
} as const;
/** Statements of one batch. */
export const MAX_BATCH_STATEMENTS = 100;
/**
 * Parameter sets of one call: what takes some 50 ms in the engine, so that others do not wait long for the write slot.
 */
export const MAX_PARAM_SETS = 10_000;
/** Characters of one statement: SQLite's own default is 1 GB, which only an attack needs. */
export const MAX_SQL_LENGTH = 1_000_000;
/** Bytes of one value or row inside the engine: a little above the default result bound. */
export const MAX_VALUE_BYTES = 20_000_000;
/** Characters of a question to an `ask` endpoint. */
export const MAX_QUESTION_LENGTH = 500;
/** Characters of an input of type `email`: the longest address that mail can have. */
export const MAX_EMAIL_LENGTH = 320;
/** Characters of an input of type `url`: what servers take in a request line. */
export const MAX_URL_LENGTH = 8192;
/** Bound parameters of one statement (SQLite's default). */
export const MAX_PARAMETERS = 32_766;
/** Statements of one published mutation. */
export const MAX_ENDPOINT_STATEMENTS = 20;
/** Bytes of statement text in the query log. */
export const LOG_SQL_BYTES = 4096;
/** Milliseconds that the log row of a read may wait for others, to be written with them. */
export const LOG_DELAY_MS = 250;
/** Milliseconds that the answer of a keyed call is stored: 24 hours. */
export const REPLAY_MS = DAY_MS;
/**
 * Bytes that a process keeps in Deno KV for a namespace, of answers of keyed reads, dry runs and steps of plans in a day, and of
 * proposed calls in an hour; and those of one that does not count. Both are cheap, and all namespaces share KV's file.
 */
export const MAX_KEPT_BYTES = 64 * 1024 * 1024;
export const MAX_SMALL_BYTES = 4096;
/** How many of those that do not count are kept in the same time: each takes up to 8 KiB of the file. Tests make it smaller. */
export const smallLimits = { kept: 100_000 };
/**
 * Bytes of Deno KV that a process fills with a namespace's approvals, and with further looks at them, within two days, as long as
 * they are kept; and bytes of one that does not count. Tests make it smaller.
 */
export const approvalLimits = { keptBytes: 1024 * 1024 * 1024, smallBytes: 65_536 };
/**
 * Databases, and tokens, that a process makes for a namespace in a UTC day; and handoffs that a token, with all that come of it, mints
 * in one: what they give may last for ever, and costs nothing. Tests make it smaller.
 */
export const madeLimits = { inDay: 50_000 };
/** Milliseconds that a deleted database can be restored: 7 days. */
export const DELETED_KEEP_MS = 7 * DAY_MS;
/**
 * Milliseconds that a cached control-plane record may be used before it is read again. With the read it stays below 5
 * s.
 */
export const CACHE_AGE_MS = 4_000;
/**
 * Approvals of one database that wait for a decision or to be redeemed: people must be able to oversee them, and KV
 * to hold them.
 */
export const MAX_OPEN_APPROVALS = 100;
/** Those among them that one API token has asked for: an agent that tries over and over leaves room for others. */
export const MAX_OPEN_APPROVALS_OF_TOKEN = 50;
/** Approval rules of one database: people must be able to oversee them, and every write reads them. */
export const MAX_RULES = 100;
/** Characters of the specifications of a database's endpoints, and of the revisions of one: lists have whole specifications. */
export const MAX_ENDPOINT_CHARACTERS = 16_000_000;
export const MAX_REVISION_CHARACTERS = 8_000_000;
/** Revisions of one endpoint, which outlive it: each is a whole specification. A further change ends the oldest. */
export const MAX_REVISIONS = 1_000;
/** Living branches of one database: each may be a whole copy of it. */
export const MAX_BRANCHES = 100;
/** Members of one namespace, those who are invited included: the list of them is read at each invitation. */
export const MAX_MEMBERS = 500;
/** Sessions of one member in the console: a further sign-in ends the oldest. */
export const MAX_SESSIONS = 20;
/** Milliseconds that an invitation of a member is good for: 7 days. */
export const INVITATION_MS = 7 * DAY_MS;
/** Milliseconds that the link of the first start is good for: 24 hours. */
export const START_LINK_MS = DAY_MS;
/** Seconds from a log-in until no refresh can keep its session: 90 days. What ends a session is kept as long. */
export const MAX_SESSION_SEC = 90 * 86_400;
/** Seconds that callers choose for what they make to live; `usual` where they choose none. */
export const chosenSec = {
  branch: { least: 60, most: 30 * 86_400, usual: 3600 },
  execution: { least: 30, most: 3600, usual: 600 },
  handoff: { least: 60, most: 86_400 },
  /** Ten years; a token of which none are chosen does not expire. */
  token: { least: 1, most: 3650 * 86_400 },
} as const;
/** Seconds in which a person decides about a write that the console shows. */
export const DECISION_SEC = 900;
/** Issues in one answer: enough to repair a request, bounded whatever its size. */
export const MAX_ISSUES = 50;
/** Rows of usage in one answer: a year of hours of one database. */
export const MAX_USAGE_ROWS = 10_000;
