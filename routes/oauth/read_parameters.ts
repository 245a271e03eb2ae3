// The parameters of a request to the token endpoint (RFC 6749, 3.2): each at most once, an empty one is none, and those
// that nobody knows are passed over.
import { AppError } from "../../lib/core/errors.ts";
import { readParameter } from "../../lib/services/oauth/read_parameter.ts";

/** By name. Both methods' errors: `invalid_request`. */
export interface Parameters {
  required(name: string): string;
  optional(name: string): string | null;
}

/** Errors: `invalid_request` for another type of body. */
export function readParameters(contentType: string | undefined, body: string): Parameters {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(contentType ?? "")) {
    throw invalid("Send the parameters as application/x-www-form-urlencoded");
  }
  const sent = new URLSearchParams(body);
  const optional = (name: string) => readParameter(sent, name);
  return {
    optional,
    required: (name) => {
      const value = optional(name);
      if (value === null) throw invalid(`Send ${name}`);
      return value;
    },
  };
}

function invalid(message: string): AppError {
  return new AppError("invalid_request", { message });
}
