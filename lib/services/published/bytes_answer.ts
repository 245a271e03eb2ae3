// Output `bytes`: the first value of the first row is the body, under the Content-Type that the owner chose.
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import { AppError } from "../../core/errors.ts";
import type { StatementResult } from "../../tenant/tenant_store.ts";
import { readResult } from "../query/read_result.ts";
import { blobOf } from "../endpoints/spec/read_bytes.ts";

/** What is served where the owner names no type. */
const ANY = "application/octet-stream";

/**
 * Types that a browser may show where it stands: none of them can run anything. All others are offered as a download,
 * for this origin also has pages for people.
 */
const SHOWN =
  /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp)|audio\/[\w.+-]+|video\/[\w.+-]+|font\/[\w.+-]+|text\/plain|application\/json)(?:;|$)/;

/** The bytes of an answer; text counts as UTF-8. Errors: `row_not_found` where there is no row, or NULL in it. */
export function bytesOf(result: StatementResult): Uint8Array<ArrayBuffer> {
  const value = readResult(result.json).rows[0]?.[0] ?? null;
  if (value === null) throw new AppError("row_not_found");
  if (typeof value === "object" && "$blob" in value && typeof value["$blob"] === "string") {
    return Uint8Array.fromBase64(value["$blob"]);
  }
  return new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
}

/** Such an answer where bytes cannot stand, as in the owner's test. */
export function bytesAsJson(spec: EndpointSpec, bytes: Uint8Array): Readonly<Record<string, unknown>> {
  return { contentType: spec.contentType ?? ANY, ...blobOf(bytes) };
}

/**
 * Headers of such an answer. Nobody guesses another type, nothing in the bytes runs, and pages of other origins may
 * embed them only where the owner lets pages of other origins in.
 */
export function bytesHeaders({ contentType = ANY, auth, cors }: EndpointSpec): Record<string, string> {
  return {
    "content-type": contentType,
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    ...(SHOWN.test(contentType) ? {} : { "content-disposition": "attachment" }),
    ...(auth !== "session" && cors !== undefined ? { "cross-origin-resource-policy": "cross-origin" } : {}),
  };
}
