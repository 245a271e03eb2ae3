// Reads a specification from a body, with what its form is refused for: the service joins that with what only the
// database can tell, so that one answer names everything.
import type { Context } from "hono";
import { endpointSpec } from "../../lib/core/endpoint_spec.ts";
import { parseJson } from "../../lib/guard/parse_json.ts";
import type { UncheckedSpec } from "../../lib/services/endpoints/spec/check_spec.ts";
import type { Env } from "../http/env.ts";
import { bodyText } from "../middleware/body_text.ts";
import { issuesOf } from "../middleware/issues.ts";

/** Errors: `invalid_json`, `payload_too_large`, `request_timeout`. */
export async function uncheckedSpec(c: Context<Env>): Promise<UncheckedSpec> {
  const raw = parseJson(await bodyText(c));
  return { raw, issues: issuesOf(endpointSpec, raw) };
}
