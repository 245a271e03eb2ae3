// What the pages of endpoints begin with: which database, and what a form asks for.
import type { Context } from "hono";
import type { EndpointContext } from "../../../../lib/services/endpoints/endpoint_context.ts";
import { wantedInputs } from "../../../../lib/services/endpoints/spec/bind_inputs.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { type TrunkPage, trunkPage } from "../../frame/database_pages.ts";
import type { FormValues } from "./endpoint_form.ts";

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
