// The rows of the error table that only transactions over several requests answer with.

/** A part of `errorTable`; see there for the members. */
export const transactionErrors = {
  transaction_held: {
    status: 403,
    message: "Send the whole transaction as one batch; a rule has a person approve this write first",
    retryable: false,
  },
  transaction_timeout: {
    status: 409,
    message: "Begin again; the transaction was ended and nothing of it was kept",
    retryable: false,
  },
  transaction_limit: {
    status: 429,
    message: "End a transaction first; this token or this database has as many open as it may",
    retryable: true,
    retryAfterSec: 1,
  },
} as const;
