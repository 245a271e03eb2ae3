// Numbers that bound what clients of libSQL may send and hold, each with its unit and its reason.

/** Requests of one pipeline. */
export const MAX_HRANA_REQUESTS = 1000;
/** Steps of one batch, and statements of one text: each takes the thread that serves some time, whoever else waits. */
export const MAX_HRANA_STEPS = 10_000;
/** Conditions in conditions: clients nest two. */
export const MAX_CONDITION_DEPTH = 20;
/** Texts that a stream or a socket stores with `store_sql`, and their characters in all. */
export const MAX_STORED_TEXTS = 1000;
export const MAX_STORED_CHARACTERS = 4_000_000;
/** Streams of one token that are kept between requests because they store texts or have a transaction open. */
export const MAX_KEPT_STREAMS = 64;
/** Characters of stored texts that are kept between requests: of one token, and of the process. Storing them is free. */
export const MAX_KEPT_CHARACTERS_OF_TOKEN = 4_000_000;
export const MAX_KEPT_CHARACTERS = 32_000_000;
/** Milliseconds that a stream with stored texts is kept while nothing is asked of it. */
export const STREAM_IDLE_MS = 600_000;
/** Sockets that are open at once: of the process, and of one token. Each takes some 50 kB, and a connection. */
export const MAX_SOCKETS = 2000;
export const MAX_SOCKETS_OF_TOKEN = 300;
/**
 * Milliseconds until a new socket has said who it is. The runtime takes a message of up to 64 MB before it tells of any of it,
 * so this, and how long a stranger's socket may take to close, bound what strangers' unfinished messages can hold.
 */
export const HELLO_MS = 5_000;
export const STRANGER_CLOSE_MS = 1_000;
/**
 * Bytes by which the memory outside of JavaScript's may grow while there are sockets: messages that come in parts have no
 * bound. Look-ups' connections take up to 272 MB of it and threads that read long texts 240, for which nobody's socket is ended.
 */
export const MAX_UNFINISHED_BYTES = 640 * 1024 * 1024;
/** Seconds between two pings of a silent socket; without an answer it is closed. */
export const SOCKET_PING_SEC = 60;
/**
 * Streams and cursors of one socket, and requests of it that wait: a client that sends without reading is cut off. A client
 * may send a thousand statements at once, so that many count by their text; each further one as so many characters more.
 */
export const MAX_SOCKET_STREAMS = 128;
export const MAX_SOCKET_CURSORS = 16;
export const MAX_SOCKET_WAITING = 10_000;
export const FREE_SOCKET_WAITING = 1000;
export const WAITING_CHARACTERS = 1000;
/** Sockets that have not said who they are. */
export const MAX_UNKNOWN_SOCKETS = 256;
/**
 * Characters that sockets hold (requests that wait, stored texts, entries of cursors, answers that are not read): of one
 * token, some answers of the longest size; of the process. What a socket holds below the third is not counted.
 */
export const MAX_HELD_OF_TOKEN = 64 * 1024 * 1024;
export const MAX_HELD = 256 * 1024 * 1024;
/** Of all sockets together whose token is being looked at: clients send their first requests right behind it. */
export const MAX_HELD_OF_UNKNOWN = 32 * 1024 * 1024;
export const UNCOUNTED_HELD = 64 * 1024;
/** Bytes of answers with which the next request of a socket waits to be read, and milliseconds that it waits at most. */
export const MAX_UNREAD_BEFORE_NEXT = 1024 * 1024;
export const READ_MS = 30_000;
/** Milliseconds that a socket which is ended may take to read what was sent, and to say that it closes too. */
export const CLOSE_MS = 5_000;
