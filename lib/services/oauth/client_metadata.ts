// What a client says about itself, in its registration (RFC 7591) or in its document: read leniently where it does not
// concern us, strictly where codes go.
import { z } from "zod";
import { AppError } from "../../core/errors.ts";
import { oauthLimits } from "../../core/oauth_limits.ts";
import { readRedirectUri } from "./redirect_uri.ts";

/** A client as consent and codes need it. */
export interface OauthClient {
  /** `cli_…`, or the address of its document. */
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
}

const metadata = z.looseObject({
  redirect_uris: z.array(z.string()).min(1).max(oauthLimits.redirectUris),
  client_name: z.string().optional(),
  grant_types: z.array(z.string()).optional(),
  response_types: z.array(z.string()).optional(),
});

/**
 * Name and addresses of a client. Errors: `invalid_redirect_uri`, `invalid_client_metadata`, naming the member.
 */
export function readClientMetadata(value: unknown): Omit<OauthClient, "id"> {
  const parsed = metadata.safeParse(value);
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path[0];
    if (path === "redirect_uris") {
      throw new AppError("invalid_redirect_uri", {
        message: `Send redirect_uris: 1 to ${oauthLimits.redirectUris} addresses`,
      });
    }
    throw new AppError("invalid_client_metadata", {
      message: path === undefined
        ? "Describe the client by a JSON object"
        : `Send ${String(path)} in the form of RFC 7591`,
    });
  }
  const { redirect_uris: redirectUris, client_name: name, grant_types, response_types } = parsed.data;
  if (redirectUris.some((uri) => readRedirectUri(uri) === null)) {
    throw new AppError("invalid_redirect_uri", {
      message:
        "Use redirect URIs over https, over http on 127.0.0.1, [::1] or localhost, or with a scheme of the program; without user and fragment",
    });
  }
  if (grant_types?.includes("authorization_code") === false || response_types?.includes("code") === false) {
    throw new AppError("invalid_client_metadata", {
      message: "Use grant_types with authorization_code and response_types with code",
    });
  }
  return { name: shownName(name), redirectUris: [...new Set(redirectUris)] };
}

/** Nobody has checked it: it is shown as text, and kept short. */
function shownName(name: string | undefined): string {
  // deno-lint-ignore no-control-regex
  const shown = [...(name ?? "").toWellFormed().replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim()];
  return shown.slice(0, oauthLimits.nameLength).join("") || "An MCP client";
}
