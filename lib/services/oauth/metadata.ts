// What clients read first: who issues tokens for /mcp (RFC 9728), and how (RFC 8414).
import { roles } from "../../core/role.ts";
import { issuerFor, resourceOf } from "./issuer.ts";

/** Who asked, by the `Host` of the request. */
export interface MetadataInput {
  readonly baseUrl: string;
  readonly host: string | undefined;
}

/** About `/mcp`. */
export function resourceMetadata({ baseUrl, host }: MetadataInput): object {
  const issuer = issuerFor(baseUrl, host);
  return {
    resource: resourceOf(issuer),
    authorization_servers: [issuer],
    scopes_supported: roles,
    bearer_methods_supported: ["header"],
    resource_name: "Cubby",
    resource_documentation: `${issuer}/docs/mcp`,
  };
}

/** About this service as one that issues tokens. */
export function serverMetadata({ baseUrl, host }: MetadataInput): object {
  const issuer = issuerFor(baseUrl, host);
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    scopes_supported: roles,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    service_documentation: `${issuer}/docs/mcp`,
  };
}

/** What a refused call to `/mcp` says in `WWW-Authenticate`, so that clients find the way here. */
export function bearerChallenge(
  { baseUrl, host }: MetadataInput,
  { invalid }: { readonly invalid: boolean },
): string {
  const issuer = issuerFor(baseUrl, host);
  const metadata = `resource_metadata="${issuer}/.well-known/oauth-protected-resource/mcp"`;
  return `Bearer ${invalid ? 'error="invalid_token", ' : ""}${metadata}, scope="read"`;
}
