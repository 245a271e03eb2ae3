// The rows of the error table that only those who follow changes, and their webhooks, are answered with.

/** A part of `errorTable`; see there for the members. */
export const changesErrors = {
  follower_limit: {
    status: 429,
    message: "Follow the changes by one connection for many users; as many follow as there may be",
    retryable: true,
    retryAfterSec: 5,
  },
  ticket_not_found: {
    status: 404,
    message: "Get a new ticket; this one is unknown, used or expired",
    retryable: false,
  },
  webhook_not_found: { status: 404, message: "Webhook not found", retryable: false },
  webhooks_busy: {
    status: 429,
    message: "Try again shortly; as many messages to receivers are under way as may be",
    retryable: true,
    retryAfterSec: 5,
  },
} as const;
