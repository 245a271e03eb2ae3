// Publishes an endpoint, pauses it, or takes it back to a draft.
import type { EndpointStatus } from "../../core/endpoint_spec.ts";
import { AppError } from "../../core/errors.ts";
import { type DatabaseAddress, requireDatabase } from "../databases/database_record.ts";
import { actorOf, type EndpointContext, type EndpointView, endpointView } from "./endpoint_context.ts";

/** The calls of the API that change an endpoint's status. */
export type Transition = "publish" | "pause" | "unpublish";

interface Move {
  readonly status: EndpointStatus;
  readonly from: readonly EndpointStatus[];
}

const moves: Readonly<Record<Transition, Move>> = {
  publish: { status: "published", from: ["draft", "paused"] },
  pause: { status: "paused", from: ["published"] },
  unpublish: { status: "draft", from: ["published", "paused"] },
};

/** Which endpoint, and which way. */
export interface MoveInput {
  readonly address: DatabaseAddress;
  readonly slug: string;
  readonly transition: Transition;
}

/**
 * A move to the state that it is in changes nothing and leaves no revision. Errors: `endpoint_not_found`,
 * `endpoint_status`, those of `requireDatabase`.
 */
export async function moveEndpoint(ctx: EndpointContext, input: MoveInput): Promise<EndpointView> {
  const { address, slug, transition } = input;
  const database = await requireDatabase(ctx, address);
  const by = { databaseId: database.id, slug, actor: actorOf(ctx.caller) };
  const outcome = await ctx.control.endpoints.setStatus(moves[transition], by);
  if (outcome.ok) return endpointView(outcome.record, { baseUrl: ctx.baseUrl, address });
  if (outcome.reason === "not_found") throw new AppError("endpoint_not_found");
  throw new AppError("endpoint_status", {
    message: `Move it to ${moves[transition].from.join(" or ")} first; it is ${outcome.status}`,
  });
}
