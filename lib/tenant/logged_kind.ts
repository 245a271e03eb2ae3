// What a call's log row says of its failure: a kind of `errorDetail`, or the code of the answer where it is about rows.
import type { AffectedBound } from "./starts_over.ts";

/** `failsWith`: what stops the call behind what has run of it. Null: it has not failed. */
export function loggedKind(
  { affected: bound, failsWith }: {
    readonly affected?: AffectedBound | null | undefined;
    readonly failsWith?: string | null | undefined;
  },
  failure: { readonly kind: string; readonly affected?: number } | undefined,
): string | null {
  if (failure === undefined) return failsWith ?? null;
  if (failure.kind !== "affected") return failure.kind;
  const rows = failure.affected ?? 0;
  return rows <= (bound?.looksAgainUpTo ?? -1) ? "effect_changed" : "too_many_affected";
}
