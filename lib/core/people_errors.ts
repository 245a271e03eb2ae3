// The rows of the error table about people: members, sessions of the console, passkeys, links that count once.

/** A part of `errorTable`; see there for the members. */
export const peopleErrors = {
  session_ended: { status: 401, message: "Sign in again; this session is unknown or has ended" },
  person_required: {
    status: 403,
    message: "Have a person decide: the operator's key or an admin's console session, not an API token",
  },
  sign_in_failed: { status: 401, message: "Check what you have typed; it does not belong together" },
  passkey_refused: {
    status: 401,
    message: "Use a passkey of this account, and begin anew; this answer is of another one, used or expired",
  },
  member_required: {
    status: 403,
    message: "Sign in as a member; the operator has neither password nor passkeys",
  },
  csrf_refused: {
    status: 403,
    message:
      "Send X-CSRF-Token of this session from a page of the console; this request did not come from one",
  },
  sign_in_again: {
    status: 403,
    message:
      "Confirm who you are, by passkey or password, then repeat; your sign-in is older than 15 minutes",
  },
  member_not_found: { status: 404, message: "Check the id; the namespace has no such member" },
  session_not_found: { status: 404, message: "Choose another session; this one is unknown or has ended" },
  passkey_not_found: { status: 404, message: "Choose another passkey; this one is unknown or was removed" },
  link_not_found: { status: 404, message: "Ask for a new link; this one is unknown, used or expired" },
  too_many_members: { status: 409, message: "Remove a member first; this namespace has as many as it may" },
  member_exists: {
    status: 409,
    message: "Change that member instead; this address has one in the namespace already",
  },
  last_admin: {
    status: 409,
    message:
      "Make somebody else admin first, or ask the operator; nobody would be left who manages the namespace",
  },
  last_way_in: {
    status: 409,
    message: "Set a password or add another passkey first; without this one you could not sign in again",
  },
  passkeys_unavailable: {
    status: 409,
    message: "Use a password; passkeys need BASE_URL to be a domain over https, or localhost",
  },
  wrong_host: {
    status: 421,
    message: "Open the console under the address of BASE_URL, or on this machine under localhost",
  },
  sign_in_locked: {
    status: 429,
    message: "Wait before the next try, or use a passkey; there were too many that failed",
    retryable: true,
    retryAfterSec: 3600,
  },
} as const;
