// Where the answer to a form may lead besides this service: browsers hold redirects to the policy of the page that held
// the form.
import { readRedirectUri } from "../../../lib/services/oauth/redirect_uri.ts";

/** The consent page, whose address names the client's. */
const CONSENT = "/console/-/connect";

/** The source for a policy; undefined for every path whose answer stays here. */
export function formTargetOf(path: string): string | undefined {
  const { pathname, searchParams } = new URL(path, "http://console.invalid");
  if (pathname !== CONSENT) return undefined;
  const url = readRedirectUri(searchParams.get("redirect_uri") ?? "");
  if (url === null) return undefined;
  // Policies have no form for an IPv6 address, nor for the hosts of other schemes.
  const isNamed = ["http:", "https:"].includes(url.protocol) && !url.hostname.startsWith("[");
  return isNamed ? url.origin : url.protocol;
}
