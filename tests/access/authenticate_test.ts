import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { type AuthContext, authenticate, authenticateToken } from "../../lib/access/authenticate.ts";
import { FRESH_MS, requireFresh } from "../../lib/access/caller.ts";
import { newToken, tokenHash } from "../../lib/access/token_format.ts";
import { AppError } from "../../lib/core/errors.ts";
import { type ControlWorld, controlWorld } from "../testing/control_world.ts";

const operator = newToken("cub_op_");

function context({ control, clock }: ControlWorld): AuthContext {
  return { control, clock, operatorKeyHash: tokenHash(operator) };
}

/** The code that a header is refused with, or null. */
async function refusal(ctx: AuthContext, header: string | undefined): Promise<string | null> {
  return (await refused(ctx, header))?.code ?? null;
}

async function refused(ctx: AuthContext, header: string | undefined): Promise<AppError | null> {
  try {
    await authenticateToken(ctx, header);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

Deno.test("authenticateToken() proves a token's holder, the second time without waiting", async () => {
  using world = await controlWorld();
  const { id } = await world.namespace("acme");
  const { secret, record } = await world.token(id, { role: "write", name: "ci" });
  const ctx = context(world);
  const caller = await authenticateToken(ctx, `Bearer ${secret}`);
  assertEquals([caller.tokenId, caller.namespaceSlug, caller.role, caller.name], [
    record.id,
    "acme",
    "write",
    "ci",
  ]);
  assertEquals(authenticateToken(ctx, `bearer  ${secret} `) instanceof Promise, false);
});

Deno.test("authenticateToken() tells a missing bearer from an invalid one", async () => {
  using world = await controlWorld();
  const ctx = context(world);
  for (const header of [undefined, "", "Basic eA==", "token x", "Bearer"]) {
    assertEquals(await refusal(ctx, header), "missing_bearer", header);
  }
  for (
    const header of ["Bearer ", "Bearer a b", "Bearer ä", `Bearer ${"x".repeat(600)}`, `Bearer ${operator}`]
  ) {
    assertEquals(await refusal(ctx, header), "invalid_bearer", header);
  }
  assertEquals(await refusal(ctx, `Bearer ${newToken("cub_live_")}`), "invalid_bearer");
  // Known or not: the words tell nothing about the key.
  for (const key of [operator, newToken("cub_op_")]) {
    assertStringIncludes(
      (await refused(ctx, `Bearer ${key}`))?.message ?? "",
      "operator keys count under /api",
    );
  }
});

Deno.test("authenticateToken() refuses a mistyped token without looking it up", () => {
  const ctx = {
    get control(): never {
      throw new Error("looked up");
    },
    clock: { now: () => 0, monotonicMs: () => 0 },
    operatorKeyHash: "",
  };
  assertThrows(
    () => authenticateToken(ctx, `Bearer ${newToken("cub_live_").slice(0, -1)}`),
    /^AppError: Send a valid/,
  );
});

Deno.test("authenticateToken() refuses a token from the millisecond of its expiry on, kept or not", async () => {
  using world = await controlWorld();
  const { id } = await world.namespace();
  const expiresAt = world.clock.now() + 60_000;
  const { secret } = await world.token(id, { expiresAt });
  const at = (nowMs: number) =>
    refusal({ ...context(world), clock: { now: () => nowMs, monotonicMs: () => nowMs } }, `Bearer ${secret}`);
  assertEquals([await at(expiresAt - 1), await at(expiresAt)], [null, "invalid_bearer"]);
  world.control.tokens.forgetAll();
  assertEquals([await at(expiresAt - 1), await at(expiresAt)], [null, "invalid_bearer"]);
});

Deno.test("authenticate() takes the operator key, authenticateToken() does not", async () => {
  using world = await controlWorld();
  const ctx = context(world);
  assertEquals(await authenticate(ctx, `Bearer ${operator}`), { kind: "operator" });
  assertEquals(await refusal(ctx, `Bearer ${operator}`), "invalid_bearer");
  for (const near of [operator.slice(0, -1), `${operator}x`, operator.toLowerCase()]) {
    const answer = Promise.try(() => authenticate(ctx, `Bearer ${near}`)).then(
      () => "in",
      (error) => error.code,
    );
    assertEquals(await answer, "invalid_bearer");
  }
});

Deno.test("requireFresh() asks a person anew from the quarter of an hour on, and the key itself never", () => {
  const session = { sessionId: "ses_a", signedInAt: 5 };
  const person = { kind: "operator", session } as const;
  requireFresh(person, 4 + FRESH_MS);
  assertThrows(() => requireFresh(person, 5 + FRESH_MS), /then repeat/);
  requireFresh({ kind: "operator" }, 5 + FRESH_MS);
});
