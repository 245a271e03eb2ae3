// The name under which browsers know this service for passkeys. It comes from BASE_URL, never from a request.
import { AppError } from "../../core/errors.ts";

/** RP ID and origin of WebAuthn. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

/**
 * The domain of BASE_URL; of an address of this machine that is a number, `localhost` with its port, where the console's
 * pages are. Errors: `passkeys_unavailable` for plain http elsewhere and for other numbers: browsers have none there.
 */
export function relyingParty(baseUrl: string): RelyingParty {
  const { protocol, hostname, origin, port } = new URL(baseUrl);
  if (/^(127\.[\d.]+|\[::1\])$/.test(hostname)) {
    return { id: "localhost", origin: `http://localhost${port === "" ? "" : `:${port}`}` };
  }
  const isNumber = /^[\d.]+$/.test(hostname) || hostname.startsWith("[");
  if (isNumber || (protocol !== "https:" && hostname !== "localhost")) {
    throw new AppError("passkeys_unavailable");
  }
  return { id: hostname, origin };
}
