// What a POST would not hear: headers by which calls of other surfaces do less, once or differently, and parameters in
// the query string. A caller who takes them for heard is told so before anything happens.
import { AppError, type Issue } from "../../core/errors.ts";
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import { decodeQuery } from "./decode_input.ts";
import type { PublishedRequest } from "./published_context.ts";

/** Nothing that browsers or proxies send of their own accord. */
const UNHEARD = [
  ...["X-Dry-Run", "X-Max-Affected", "X-Service-No-Snapshot", "Idempotency-Key", "Plan-Key", "Plan-Step"],
] as const;
/** Their answers hold no INTEGER of a row. */
const withoutRows: ReadonlySet<EndpointSpec["output"]> = new Set(["rows_written", "session"]);

/** Errors: `validation_failed` naming the headers or the parameters. */
export function refuseUnheard(
  { method, output }: EndpointSpec,
  { headers, url }: Pick<PublishedRequest, "headers" | "url">,
): void {
  if (method === "GET") return;
  const unheard = withoutRows.has(output) ? [...UNHEARD, "X-Integers"] : UNHEARD;
  const issues: Issue[] = unheard.filter((name) => headers.has(name)).map((path) => (
    { path, message: "Leave the header out; this endpoint does not hear it" }
  ));
  for (const path of url.includes("?") ? decodeQuery(url).values.keys() : []) {
    issues.push({ path, message: "Send this in the body; a POST has no parameters in its address" });
  }
  if (issues.length > 0) throw new AppError("validation_failed", { issues: issues.slice(0, 50) });
}
