// Claims a branch: a copy of a database for one purpose. It comes with a token that reaches only the copy, which ends
// with the branch, or sooner with the token that claimed it; or with none, for a token that uses the copy itself.
import { BRANCH_REF_PATTERN } from "../../access/slug.ts";
import { requireFresh, requireRole } from "../../access/caller.ts";
import { TRUNK } from "../../access/resolve_target.ts";
import { newToken, tokenHash } from "../../access/token_format.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError, invalidInput } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { Role } from "../../core/role.ts";
import type { BranchRecord, TokenRecord } from "../../store/records.ts";
import { type BranchContext, type CopyContext, requireTrunk } from "./branch_context.ts";
import { copyTrunk } from "./copy_trunk.ts";

/** What a branch is claimed for. */
export interface ClaimInput {
  readonly purpose: string;
  readonly ttlSec: number;
  readonly role: Role;
  /** Undefined: a ref is made from the purpose. */
  readonly ref?: string | undefined;
}

/** A claimed branch with its token. */
export interface BranchClaim {
  readonly branchRef: string;
  readonly databaseId: string;
  readonly databaseSlug: string;
  readonly namespaceSlug: string;
  readonly token: string;
  readonly tokenId: string;
  readonly role: Role;
  /** When the token expires: with the branch, or with the claimer's token if that comes first. */
  readonly expiresAt: string;
  /** `reset`: the ref existed. It is a fresh copy now, and the token of its earlier claim is revoked. */
  readonly outcome: "created" | "reset";
}

/** A branch whose claimer uses it with the token that it has. */
export interface ClaimedBranch {
  readonly branchRef: string;
  /** As it goes into a path. */
  readonly databaseSlug: string;
  readonly expiresAt: string;
}

const failureCode = {
  namespace_gone: "namespace_not_found",
  parent_gone: "invalid_bearer",
  too_deep: "handoff_too_deep",
} as const;

/**
 * The branch lives as long as asked for, also when the claimer's token ends. Errors: `role_too_low`,
 * `sign_in_again`, `trunk_required`, `validation_failed` for the ref `main`, `too_many_branches`, `storage_full`,
 * `handoff_too_deep`, `invalid_bearer` (revoked meanwhile), `replay_running`.
 */
export async function claimBranch(ctx: CopyContext, input: ClaimInput): Promise<BranchClaim> {
  const { ref, createdAt, expiresAt } = admitClaim(ctx, input);
  const { namespaceId, namespaceSlug, databaseSlug } = ctx.target;
  const { role } = input;
  const token = newToken("cub_live_");
  const tokenId = newId("tok", createdAt);
  const tokenOf = (databaseId: string): TokenRecord => ({
    id: tokenId,
    hash: tokenHash(token),
    name: `Branch ${ref}`,
    namespaceId,
    role,
    createdAt,
    expiresAt,
    scopes: [{ databaseId, branchRef: ref, role }],
    // A person's token has none that it could end with.
    ...(ctx.caller.kind === "token" ? { parentId: ctx.caller.tokenId } : {}),
  });
  let tokenExpiresAt = expiresAt;
  const claimOf = ({ databaseId, outcome }: Copied): BranchClaim => ({
    branchRef: ref,
    databaseId,
    databaseSlug: `${databaseSlug}@${ref}`,
    namespaceSlug,
    token,
    tokenId,
    role,
    expiresAt: isoTime(tokenExpiresAt),
    outcome,
  });
  const claim = { ...input, ref, createdAt, expiresAt, tokenId };
  return claimOf(
    await copyFor(ctx, claim, async (commit, copied) => {
      const added = await ctx.control.tokens.addTo(commit, tokenOf(copied.databaseId));
      if (!added.ok) throw new AppError(failureCode[added.reason]);
      tokenExpiresAt = added.expiresAt ?? expiresAt;
      const status = copied.outcome === "created" ? 201 : 200;
      await ctx.storeStep?.(commit, { status, data: claimOf(copied) });
    }),
  );
}

/** Claims a branch for the caller's own token, and hands out none. Errors: as `claimBranch`. */
export async function claimForSelf(
  ctx: BranchContext,
  input: Omit<ClaimInput, "role">,
): Promise<ClaimedBranch> {
  const { ref, createdAt, expiresAt } = admitClaim(ctx, input);
  await copyFor(ctx, { ...input, role: "admin", ref, createdAt, expiresAt, tokenId: null });
  return {
    branchRef: ref,
    databaseSlug: `${ctx.target.databaseSlug}@${ref}`,
    expiresAt: isoTime(expiresAt),
  };
}

/** Who may claim, and under which ref. */
function admitClaim(ctx: BranchContext, input: Omit<ClaimInput, "role">) {
  requireRole(ctx.target, "admin");
  requireFresh(ctx.caller, ctx.clock.now());
  requireTrunk(ctx);
  const ref = input.ref ?? madeRef(input.purpose);
  if (ref === TRUNK) {
    throw invalidInput("ref", "Choose another ref; main is the trunk");
  }
  const createdAt = ctx.clock.now();
  return { ref, createdAt, expiresAt: createdAt + input.ttlSec * 1000 };
}

/** What the ref names now. */
interface Copied extends Pick<BranchClaim, "outcome"> {
  readonly databaseId: string;
}

type NewClaim = Pick<BranchRecord, "ref" | "purpose" | "role" | "createdAt" | "expiresAt" | "tokenId">;

async function copyFor(
  ctx: BranchContext,
  { ref, purpose, role, createdAt, expiresAt, tokenId }: NewClaim,
  /** Adds to the commit that points the ref at the copy. */
  beside?: (commit: Deno.AtomicOperation, copied: Copied) => Promise<void>,
): Promise<Copied> {
  const { namespaceId, databaseId: trunkId } = ctx.target;
  const { caller } = ctx;
  let outcome: BranchClaim["outcome"] = "created";
  const { id: databaseId } = await copyTrunk(ctx, {
    ref,
    onlyOver: false,
    beside: async (commit, { id }) => await beside?.(commit, { databaseId: id, outcome }),
    record: (id, current) => {
      outcome = current === null ? "created" : "reset";
      const copy = { id, namespaceId, trunkId, ref, purpose, role, copiedAt: createdAt, expiresAt, tokenId };
      const claimer = caller.kind === "token" ? { claimedBy: caller.tokenId } : {};
      return { ...copy, createdAt: current?.createdAt ?? createdAt, ...claimer };
    },
  });
  return { databaseId, outcome };
}

const SUFFIX_LENGTH = 5;
const SUFFIX_LETTERS = "abcdefghjkmnpqrstvwxyz0123456789";

/** `Try the new index!` becomes `try-the-new-index-x7k2p`, `Größe prüfen` `grosse-prufen-x7k2p`. */
function madeRef(purpose: string): string {
  const random = crypto.getRandomValues(new Uint8Array(SUFFIX_LENGTH));
  const suffix = Array.from(random, (byte) => SUFFIX_LETTERS.charAt(byte & 31)).join("");
  const plain = purpose.replaceAll(/ß/gi, "ss").normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  const words = plain.replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-+|-+$/g, "");
  const slug = words.slice(0, 64 - SUFFIX_LENGTH - 1).replace(/-+$/, "") || "branch";
  const ref = `${slug}-${suffix}`;
  if (!BRANCH_REF_PATTERN.test(ref)) throw new TypeError("a made ref has no ref's form");
  return ref;
}
