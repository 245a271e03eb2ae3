// Creates, replaces, reads, lists, publishes, pauses and deletes the endpoints of a database.
import { requireFresh } from "../../access/caller.ts";
import type { EndpointSpec, EndpointStatus } from "../../core/endpoint_spec.ts";
import { AppError } from "../../core/errors.ts";
import { FASTER, untilCommitted } from "../../store/until_committed.ts";
import { type DatabaseAddress, readableDatabase, requireDatabase } from "../databases/database_record.ts";
import {
  changeBy,
  type EndpointContext,
  type EndpointView,
  endpointView,
  requireEndpoint,
} from "./endpoint_context.ts";
import { checkSpec, type UncheckedSpec } from "./spec/check_spec.ts";

/**
 * A new endpoint, as a draft: nobody outside reaches it before it is published. Errors: `validation_failed`,
 * `slug_taken`, those of `requireDatabase`.
 */
export async function createEndpoint(
  ctx: EndpointContext,
  { address, unchecked }: { readonly address: DatabaseAddress; readonly unchecked: UncheckedSpec },
): Promise<EndpointView> {
  const database = await requireDatabase(ctx, address);
  const { namespaceSlug } = address;
  const spec = await checkSpec({ query: ctx.query, namespaceSlug, database }, unchecked);
  const by = changeBy(ctx, "endpoint.created", { database, slug: spec.slug });
  const record = await ctx.control.endpoints.create(spec, by);
  if (record === null) throw new AppError("slug_taken");
  return endpointView(record, { baseUrl: ctx.baseUrl, address });
}

interface ReplaceInput {
  readonly address: DatabaseAddress;
  /** Also the slug of the specification. */
  readonly slug: string;
  /** The new specification, by the one that the endpoint has; it may be asked several times. */
  readonly specOf: (present: EndpointSpec) => UncheckedSpec;
}

/**
 * Gives an endpoint another specification, which may be what was read of it, changed or not. Its status stays: a
 * published one serves the new specification at once. Of several changes at once each is made of what another has left.
 * Errors: `endpoint_not_found`, `validation_failed`, those of `requireDatabase`.
 */
export async function replaceEndpoint(ctx: EndpointContext, input: ReplaceInput): Promise<EndpointView> {
  const { address, slug, specOf } = input;
  const database = await requireDatabase(ctx, address);
  const by = changeBy(ctx, "endpoint.changed", { database, slug });
  const check = { query: ctx.query, namespaceSlug: address.namespaceSlug, database, slug };
  const record = await untilCommitted(async () => {
    const known = await requireEndpoint(ctx, database, slug);
    const sent = asSpec(specOf(known.spec), endpointView(known, { baseUrl: ctx.baseUrl, address }));
    const spec = await checkSpec(check, sent);
    return await ctx.control.endpoints.replace(spec, by, known.revision) ?? FASTER;
  });
  return endpointView(record, { baseUrl: ctx.baseUrl, address });
}

/** What an endpoint shows beside its specification, and what to do about a value that it does not have. */
const shownBeside = {
  status: "Publish, pause or unpublish it instead; a specification does not change the status",
  revision: "Read the endpoint again; it has changed since this was read",
  createdAt: "Leave this out, or send it as it was read",
  updatedAt: "Read the endpoint again; it has changed since this was read",
  url: "Leave this out, or send it as it was read",
} as const satisfies Partial<Record<keyof EndpointView, string>>;

/** What was read of an endpoint is a specification once more: members that only reading shows are left out. */
function asSpec({ raw, issues }: UncheckedSpec, view: EndpointView): UncheckedSpec {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return { raw, issues };
  const isBeside = (name: string): name is keyof typeof shownBeside => Object.hasOwn(shownBeside, name);
  const members: [string, unknown][] = Object.entries(raw);
  const isSame = ([name, value]: [string, unknown]) => isBeside(name) && value === view[name];
  const same = new Set(members.filter(isSame).map(([name]) => name));
  return {
    raw: Object.fromEntries(members.filter(([name]) => !isBeside(name))),
    issues: issues.filter(({ path }) => !same.has(path)).map((issue) =>
      isBeside(issue.path) ? { ...issue, message: shownBeside[issue.path] } : issue
    ),
  };
}

/** One endpoint of a database, of any status. Errors: `endpoint_not_found`, those of `readableDatabase`. */
export async function getEndpoint(
  ctx: EndpointContext,
  { address, slug }: { readonly address: DatabaseAddress; readonly slug: string },
): Promise<EndpointView> {
  const database = await readableDatabase(ctx, address);
  const record = await requireEndpoint(ctx, database, slug);
  return endpointView(record, { baseUrl: ctx.baseUrl, address });
}

/** The endpoints of a database, of every status, sorted by slug. Errors: those of `readableDatabase`. */
export async function listEndpoints(ctx: EndpointContext, address: DatabaseAddress): Promise<EndpointView[]> {
  const database = await readableDatabase(ctx, address);
  const records = await ctx.control.endpoints.list(database.id);
  return records.map((record) => endpointView(record, { baseUrl: ctx.baseUrl, address }));
}

/**
 * Deletes an endpoint and answers what it was. Its revisions stay, and any of them brings it back as a draft. Errors:
 * `sign_in_again`, `endpoint_not_found`, those of `requireDatabase`.
 */
export async function deleteEndpoint(
  ctx: EndpointContext,
  { address, slug }: { readonly address: DatabaseAddress; readonly slug: string },
): Promise<EndpointView> {
  const database = await requireDatabase(ctx, address);
  requireFresh(ctx.caller, ctx.clock.now());
  const by = changeBy(ctx, "endpoint.deleted", { database, slug });
  const record = await ctx.control.endpoints.remove(by);
  if (record === null) throw new AppError("endpoint_not_found");
  return endpointView(record, { baseUrl: ctx.baseUrl, address });
}

/** The calls of the API that change an endpoint's status. */
type Transition = "publish" | "pause" | "unpublish";

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
interface MoveInput {
  readonly address: DatabaseAddress;
  readonly slug: string;
  readonly transition: Transition;
}

/**
 * Publishes an endpoint, pauses it, or takes it back to a draft. A move to the state that it is in changes nothing
 * and leaves neither revision nor audit record. Errors: `endpoint_not_found`, `endpoint_status`, those of `requireDatabase`.
 */
export async function moveEndpoint(ctx: EndpointContext, input: MoveInput): Promise<EndpointView> {
  const { address, slug, transition } = input;
  const database = await requireDatabase(ctx, address);
  const { status } = moves[transition];
  const by = changeBy(ctx, "endpoint.moved", { database, slug, facts: { status } });
  const outcome = await ctx.control.endpoints.setStatus(moves[transition], by);
  if (outcome.ok) return endpointView(outcome.record, { baseUrl: ctx.baseUrl, address });
  if (outcome.reason === "not_found") throw new AppError("endpoint_not_found");
  throw new AppError("endpoint_status", {
    message: `Move it to ${moves[transition].from.join(" or ")} first; it is ${outcome.status}`,
  });
}
