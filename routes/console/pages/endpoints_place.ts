// What the pages of endpoints begin with: which database, and what a form means.
import type { Context } from "hono";
import { endpointSpec } from "../../../lib/core/endpoint_spec.ts";
import type { EndpointContext } from "../../../lib/services/endpoints/endpoint_context.ts";
import { wantedInputs } from "../../../lib/services/endpoints/spec/bind_inputs.ts";
import type { UncheckedSpec } from "../../../lib/services/endpoints/spec/check_spec.ts";
import type { AppDeps } from "../../http/app_deps.ts";
import type { Env } from "../../http/env.ts";
import { type TrunkPage, trunkPage } from "./database_pages.ts";
import type { FormValues } from "./endpoint_form.ts";
import { issuesOf } from "../../middleware/issues.ts";

/** The endpoints of the trunk: a branch publishes nothing. Errors: `database_not_found`. */
export function endpointsPage(deps: AppDeps, c: Context<Env>): TrunkPage & { readonly ctx: EndpointContext } {
  return { ...trunkPage(c, "endpoints"), ctx: { ...deps, caller: c.get("caller") } };
}

/** Inputs that are opened for the placeholders of a statement. */
const MOST_WANTED = 20;

/** How many inputs the statement of a form wants; none where it cannot be read. */
export function placeholdersIn({ sql = "" }: FormValues): number {
  return Math.min(wantedInputs(sql), MOST_WANTED);
}

/** A specification with what is wrong with its form. */
export function uncheckedIn(raw: Readonly<Record<string, unknown>>): UncheckedSpec {
  return { raw, issues: issuesOf(endpointSpec, raw) };
}
