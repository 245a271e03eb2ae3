// The rows of the error table that only published endpoints answer with.

/** A part of `errorTable`; see there for the members. */
export const publishedErrors = {
  session_required: { status: 401, message: "Send the user's session as Authorization: Bearer" },
  session_invalid: {
    status: 401,
    message: "Log in again; this session is malformed, expired, revoked or another database's",
  },
  login_failed: { status: 401, message: "Check email and password; they do not belong together" },
  link_invalid: {
    status: 400,
    message: "Ask for another link; this one is unknown, used, expired or older than the password",
  },
  captcha_failed: { status: 403, message: "Solve a fresh captcha and send its token as X-Captcha-Token" },
  endpoint_not_found: {
    status: 404,
    message: "Check the name, and whether it is published; there is no such endpoint here",
  },
  row_not_found: { status: 404, message: "Send other values; nothing is there for these" },
  account_exists: { status: 409, message: "Log in instead; this account exists already" },
  value_taken: { status: 409, message: "Send another value; this one is taken" },
  app_error: { status: 409, message: "Send other values; the app does not take these now" },
  rate_limited: {
    status: 429,
    message: "Slow down; the rate limit of this endpoint is reached",
    retryable: true,
    retryAfterSec: 60,
  },
  login_locked: {
    status: 429,
    message: "Wait before the next try; this account has had too many failed logins",
    retryable: true,
    retryAfterSec: 3600,
  },
  mail_busy: {
    status: 429,
    message: "Try again shortly; too many mails are waiting to be sent",
    retryable: true,
    retryAfterSec: 30,
  },
  hashing_busy: {
    status: 429,
    message: "Try again shortly; too many passwords are being checked at this moment",
    retryable: true,
    retryAfterSec: 1,
  },
  endpoint_paused: { status: 503, message: "Try again later; this endpoint is paused", retryable: true },
  mail_unavailable: {
    status: 503,
    message: "Tell the owner of this endpoint; the service has no mail server, so links go through the owner",
  },
  captcha_unavailable: {
    status: 503,
    message: "Try again shortly; the captcha provider does not answer",
    retryable: true,
    retryAfterSec: 5,
  },
  ask_refused: { status: 422, message: "Ask another way; no statement came of this question that may run" },
  ask_unavailable: {
    status: 503,
    message: "Try again shortly; the language model does not answer",
    retryable: true,
    retryAfterSec: 5,
  },
} as const;
