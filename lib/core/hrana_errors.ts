// The rows of the error table that only the door for clients of libSQL answers with.

/** A part of `errorTable`; see there for the members. */
export const hranaErrors = {
  baton_invalid: {
    status: 400,
    message: "Open a new stream with baton null; this baton is used, or of another token or database",
    retryable: false,
  },
  stream_expired: {
    status: 400,
    message: "Open a new stream; this one is closed, or its process has ended",
    retryable: false,
  },
  database_not_named: {
    status: 404,
    message: "End the URL with /hrana/<namespace>/<database>/ and its slash; this token reaches several",
    retryable: false,
  },
  socket_unavailable: {
    status: 426,
    message: "Write https or http instead of wss or ws in the URL; this Deno cannot keep a socket open here",
    retryable: false,
  },
} as const;
