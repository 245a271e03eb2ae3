// How much the endpoints of one database and their revisions take. Lists of them, and what is made of those for clients, come
// whole, so that is bounded.
import type { EndpointSpec } from "../core/endpoint_spec.ts";
import { AppError } from "../core/errors.ts";
import { MAX_ENDPOINT_CHARACTERS, MAX_REVISION_CHARACTERS, MAX_REVISIONS } from "../core/limits.ts";
import { keys } from "../store/keys.ts";
import { kvCall, kvGet } from "../store/kv_call.ts";
import type { EndpointRecord, EndpointRevision } from "../store/records.ts";

/** Revisions that end with one change at most: one commit takes 1,000 writes. */
const PRUNED_AT_ONCE = 500;

/** A change of one endpoint. */
export interface CountedChange {
  readonly databaseId: string;
  /** The specification before it; null: there was no endpoint. */
  readonly before: EndpointSpec | null;
  readonly revision: Pick<EndpointRevision, "change" | "spec">;
  /** The endpoints as they are now, which are counted where there is no count yet. */
  readonly list: () => Promise<readonly Pick<EndpointRecord, "spec">[]>;
}

/**
 * Counts a change in its own commit, which fails where another change comes first. Errors: `too_many_endpoints`,
 * `meter_unreachable`.
 */
export async function countSpecs(
  kv: Deno.Kv,
  commit: Deno.AtomicOperation,
  { databaseId, before, revision: { change, spec }, list }: CountedChange,
): Promise<void> {
  const more = (change === "deleted" ? 0 : sizeOf(spec)) - (before ? sizeOf(before) : 0);
  if (more === 0) return;
  const entry = await kvGet(kv, keys.endpointCharacters(databaseId));
  const present = entry.value ?? (await list()).reduce((sum, { spec }) => sum + sizeOf(spec), 0);
  if (more > 0 && present + more > MAX_ENDPOINT_CHARACTERS) throw new AppError("too_many_endpoints");
  commit.check(entry).set(entry.key, present + more);
}

/** Whose revisions. */
interface RevisionsOf {
  readonly databaseId: string;
  readonly slug: string;
}

/** Removes the oldest of too many revisions in the commit of a new one. Errors: `meter_unreachable`. */
export async function removeOldRevisions(
  kv: Deno.Kv,
  commit: Deno.AtomicOperation,
  { databaseId, slug }: RevisionsOf,
  { revision, spec }: Pick<EndpointRevision, "revision" | "spec">,
): Promise<void> {
  const last = revision - Math.min(MAX_REVISIONS, Math.ceil(MAX_REVISION_CHARACTERS / sizeOf(spec)));
  // An older service has kept all of them, which go in several steps.
  const first = last > 0 ? await revisionAt(kv, { databaseId, slug }, "beginning") : 1;
  for (let one = first; one <= last && one < first + PRUNED_AT_ONCE; one++) {
    commit.delete(keys.endpointRevision(databaseId, slug, one));
  }
}

/**
 * The number of the oldest revision that is kept or of the newest one, also of a deleted endpoint; 0 where there never was one.
 * Errors: `meter_unreachable`.
 */
export async function revisionAt(
  kv: Deno.Kv,
  { databaseId, slug }: RevisionsOf,
  place: "beginning" | "end",
): Promise<number> {
  const prefix = keys.endpointRevisions(databaseId, slug);
  const options = { limit: 1, reverse: place === "end" };
  const [found] = await kvCall(() => Array.fromAsync(kv.list<EndpointRevision>({ prefix }, options)));
  return found?.value.revision ?? 0;
}

/** Characters of the specification as text. */
function sizeOf(spec: EndpointSpec): number {
  return JSON.stringify(spec).length;
}
