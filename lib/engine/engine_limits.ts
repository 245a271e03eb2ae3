// The limits of every SQLite build that reads tenants' statements, and what keeps its memory below them.
import { MAX_PARAMETERS, MAX_SQL_LENGTH, MAX_VALUE_BYTES } from "../core/limits.ts";

/** SQLite's own limits; `attach: 0` refuses ATTACH and VACUUM even where the guard would not. */
export const ENGINE_LIMITS = {
  length: MAX_VALUE_BYTES,
  sqlLength: MAX_SQL_LENGTH,
  column: 1000,
  exprDepth: 1000,
  compoundSelect: 200,
  vdbeOp: 5_000_000,
  functionArg: 200,
  attach: 0,
  likePatternLength: 1000,
  variableNumber: MAX_PARAMETERS,
  /** As deep as in sqld: a chain of replies or of versions is a row for each level, which one DELETE of its first takes. */
  triggerDepth: 1000,
} as const;

/**
 * Bytes that SQLite may hold in this process. A statement that needs more fails as out of memory, and the process lives
 * on. The limit is for the whole process, but only a connection can set it.
 */
const ENGINE_HEAP_BYTES = 256 * 1024 * 1024;

/**
 * The PRAGMAs to run once on every new connection. What a statement sorts, tells apart or would have to put back is in files
 * (`SQLITE_TMPDIR`) once it is large: in memory an UPDATE of some hundred megabytes of rows would not fit below the limit.
 */
export const ENGINE_PRAGMAS =
  `PRAGMA hard_heap_limit=${ENGINE_HEAP_BYTES}; PRAGMA trusted_schema=OFF; PRAGMA temp_store=FILE; PRAGMA cell_size_check=ON`;

/** For a schema without rows: each of its tables takes a page. */
export const SMALL_PAGES = "PRAGMA page_size=512";
