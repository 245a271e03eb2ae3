// The rows of the error table about OAuth, by the words of RFC 6749 (5.2), RFC 7591 (3.2.2) and RFC 8707 (2): clients
// decide by them what to do next.

/** A part of `errorTable`; see there for the members. */
export const oauthErrors = {
  wrong_audience: { status: 401, message: "Use this token at /mcp only; it was given to an MCP client" },
  invalid_request: { status: 400, message: "Check the parameters; one is missing, sent twice or malformed" },
  invalid_client: {
    status: 401,
    message: "Register again; this client is unknown, or its registration has expired",
  },
  invalid_client_metadata: {
    status: 400,
    message: "Describe the client as RFC 7591 says; a member cannot be taken",
  },
  invalid_redirect_uri: {
    status: 400,
    message:
      "Use a redirect URI of this client, exactly as registered; only the port of a loopback address may differ",
  },
  invalid_grant: {
    status: 400,
    message: "Authorize again; this code or refresh token is unknown, used, expired or of another request",
  },
  invalid_scope: { status: 400, message: "Ask for no more than was granted" },
  invalid_target: {
    status: 400,
    message: "Ask for a token of this service's /mcp; resource names something else",
  },
  unsupported_response_type: { status: 400, message: "Send response_type code" },
  unsupported_grant_type: { status: 400, message: "Send grant_type authorization_code or refresh_token" },
  too_many_registrations: {
    status: 429,
    message: "Use the client that is registered, or wait; there were too many registrations in this hour",
    retryable: true,
    retryAfterSec: 3600,
  },
} as const;
