// The rows of the error table for exports and imports.

/** A part of `errorTable`; see there for the members. */
export const transferErrors = {
  export_refused: { status: 400, message: "Ask for another format or table; this cannot be exported so" },
  export_not_found: {
    status: 404,
    message: "Export again; this export is unknown, was cancelled or is older than an hour",
  },
  import_refused: {
    status: 400,
    message: "Send another file; this one cannot be taken, and nothing has changed",
  },
  import_cancelled: {
    status: 409,
    message: "Send the file again; this import was cancelled, and nothing has changed",
  },
  import_not_found: {
    status: 404,
    message: "Name an import by the id that it was sent with; this one is unknown or older than an hour",
  },
  range_not_satisfiable: { status: 416, message: "Ask for bytes that the file has" },
  too_many_transfers: {
    status: 429,
    message: "Try again when one of them has ended; as many exports and imports run as may",
    retryable: true,
    retryAfterSec: 10,
  },
  transfers_unavailable: {
    status: 501,
    message: "Use a service with its own disk and processes; this one can neither export nor import",
  },
} as const;
