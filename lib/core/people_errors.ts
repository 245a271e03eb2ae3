// The rows of the error table about people: members, sessions of the console, passkeys, links that count once.

/** A part of `errorTable`; see there for the members. */
export const peopleErrors = {
  session_ended: {
    status: 401,
    message: "Sign in again; this session is unknown or has ended",
    retryable: false,
  },
  person_required: {
    status: 403,
    message: "Have a person decide: the operator's key or an admin's console session, not an API token",
    retryable: false,
  },
  csrf_refused: {
    status: 403,
    message:
      "Send X-CSRF-Token of this session from a page of the console; this request did not come from one",
    retryable: false,
  },
  sign_in_again: {
    status: 403,
    message:
      "Confirm who you are, by passkey or password, then repeat; your sign-in is older than 15 minutes",
    retryable: false,
  },
  wrong_host: {
    status: 421,
    message: "Open the console under the address of BASE_URL, or on this machine under localhost",
    retryable: false,
  },
} as const;
