// Under which address this service issues tokens, and for which resource: that of BASE_URL. Where that is this machine,
// its other names count too, because people write localhost where the service prints 127.0.0.1.
import { AppError } from "../../core/errors.ts";
import { LOOPBACK_NAMES } from "../../core/loopback.ts";

/** The door that tokens of OAuth are for. */
const RESOURCE_PATH = "/mcp";

/** The issuer for whoever has asked this host: `BASE_URL`, or the same port of this machine under that name. */
export function issuerFor(baseUrl: string, host: string | undefined): string {
  return issuers(baseUrl).find((issuer) => new URL(issuer).host === host?.toLowerCase()) ?? baseUrl;
}

/** What tokens are for. */
export function resourceOf(issuer: string): string {
  return issuer + RESOURCE_PATH;
}

/**
 * The issuer of the door that a client wants a token for; without a word about it that of `BASE_URL`. A query counts as
 * part of the way to the door. Errors: `invalid_target`.
 */
export function issuerOfResource(baseUrl: string, resource: string | null): string {
  if (resource === null) return baseUrl;
  const url = URL.canParse(resource) && !resource.includes("#") ? new URL(resource) : null;
  const asked = url === null ? "" : `${url.origin}${url.pathname.replace(/\/$/, "")}`;
  const issuer = issuers(baseUrl).find((one) => resourceOf(one) === asked);
  if (issuer === undefined || url?.username !== "" || url.password !== "") {
    throw new AppError("invalid_target");
  }
  return issuer;
}

function issuers(baseUrl: string): string[] {
  const { protocol, hostname, port } = new URL(baseUrl);
  if (protocol !== "http:" || !LOOPBACK_NAMES.includes(hostname)) return [baseUrl];
  const names = LOOPBACK_NAMES.filter((name) => name !== hostname);
  return [baseUrl, ...names.map((name) => `http://${name}${port === "" ? "" : `:${port}`}`)];
}
