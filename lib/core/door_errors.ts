// Failures at the doors for other protocols. A part of the error table.

/** Code → status, message and whether a retry can help. */
export const doorErrors = {
  origin_refused: {
    status: 403,
    message: "Call from a page of this service, or have the operator add the page's origin to MCP_ORIGINS",
    retryable: false,
  },
} as const;
