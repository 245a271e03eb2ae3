// Numbers that bound what clients of libSQL may send and hold, each with its unit and its reason.

/** Requests of one pipeline, and steps of one batch: as much as a body has room for anyway, in a list that is quick to walk. */
export const MAX_HRANA_REQUESTS = 1000;
export const MAX_HRANA_STEPS = 10_000;
/** Conditions in conditions: clients nest two. */
export const MAX_CONDITION_DEPTH = 20;
/** Texts that a stream or a socket stores with `store_sql`, and their characters in all. */
export const MAX_STORED_TEXTS = 1000;
export const MAX_STORED_CHARACTERS = 4_000_000;
/** Streams of one token that are kept between requests because they store texts or have a transaction open. */
export const MAX_KEPT_STREAMS = 64;
/** Milliseconds that a stream with stored texts is kept while nothing is asked of it. */
export const STREAM_IDLE_MS = 600_000;
