// Numbers that bound those who follow changes, each with its unit and its reason.

/**
 * Streams and waiting polls at a time. Each takes a connection, of which a process has 4,000, and some 170 kB once it was sent
 * something.
 */
export const followerLimits = { ofDatabase: 1000, ofNamespace: 1500, ofProcess: 3000 } as const;
/** Seconds that a poll may wait: less than proxies and clients wait for an answer. */
export const MAX_WAIT_SEC = 25;
/** Milliseconds between two comments in a stream that is silent otherwise, so that proxies keep it open. */
export const STREAM_COMMENT_MS = 15_000;
/** Milliseconds between two looks at whether the bearer of a stream still counts. */
export const BEARER_CHECK_MS = 5000;
/** Seconds that a ticket can be used: a page opens its stream at once. */
export const TICKET_SEC = 60;
/** Webhooks of one database: each change is sent to each. */
export const MAX_WEBHOOKS = 10;
