// Runs an endpoint of any status against the live database, as `/p` would without its gates. Effects stay.
import { callerId } from "../../access/caller.ts";
import type { RowForm } from "../../sql/words/row_form.ts";
import { type DatabaseAddress, requireDatabase, trunkTarget } from "../databases/database_record.ts";
import type { PublishedContext } from "../published/published_context.ts";
import { runEndpoint, type TestOutcome } from "../published/run_endpoint.ts";
import { type EndpointContext, requireEndpoint } from "./endpoint_context.ts";

/** A call that the owner makes to try an endpoint. */
export interface TestInput {
  readonly address: DatabaseAddress;
  readonly slug: string;
  /** As a caller would send it. */
  readonly input: unknown;
  /** The session of a simulated caller. */
  readonly session: { readonly userId: string; readonly email?: string | undefined } | null;
  readonly rowForm: RowForm;
  readonly signal: () => AbortSignal | null;
}

/**
 * Status and body of the answer; a failure of the endpoint is such an answer. Errors: `endpoint_not_found`, those of
 * `requireDatabase`.
 */
export async function testEndpoint(
  ctx: EndpointContext & { readonly published: PublishedContext },
  { address, slug, input, session, rowForm, signal }: TestInput,
): Promise<TestOutcome> {
  const database = await requireDatabase(ctx, address);
  const record = await requireEndpoint(ctx, database, slug);
  const target = trunkTarget(database, address.namespaceSlug, "read");
  return await runEndpoint(ctx.published, {
    record,
    target,
    input,
    session,
    tokenId: callerId(ctx.caller),
    rowForm,
    signal,
  });
}
