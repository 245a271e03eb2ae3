// One parameter of a request of OAuth, of an address or of a form (RFC 6749, 3.1 and 3.2).
import { AppError } from "../../core/errors.ts";
import { oauthLimits } from "../../core/oauth_limits.ts";

/** Null where it is not there, or empty. Errors: `invalid_request` where it stands twice, or is too long. */
export function readParameter(sent: URLSearchParams, name: string): string | null {
  const all = sent.getAll(name);
  // RFC 8707 lets a client name several resources: here they have to be one.
  const different = name === "resource" ? new Set(all).size : all.length;
  if (different > 1) throw new AppError("invalid_request", { message: `Send ${name} once` });
  const [value = ""] = all;
  if (value.length > oauthLimits.stateLength) {
    throw new AppError("invalid_request", { message: `Send a shorter ${name}` });
  }
  return value === "" ? null : value;
}
