// Challenges of passkeys: signed by the service and good for five minutes, so that a stranger who asks for many leaves
// nothing behind. That each counts once is noted where it is answered.
import { MINUTE_MS } from "../../core/clock.ts";
import { hash } from "node:crypto";
import type { UsedChallenge } from "../../control/passkeys.ts";
import { equalBytes } from "../../access/token_format.ts";
import type { PeopleContext } from "./people_context.ts";

/** What a challenge is for, and for whom: no other answer counts. */
export interface ChallengeUse {
  readonly purpose: "register" | "link" | "sign_in" | "confirm";
  /** The id of a session, the hash of a link; empty at a sign-in. */
  readonly subject: string;
}

const LIFETIME_MS = 5 * MINUTE_MS;
const NONCE_BYTES = 16;
const TIME_BYTES = 8;
const HEAD_BYTES = NONCE_BYTES + TIME_BYTES;

type Context = Pick<PeopleContext, "hashes" | "clock">;

/** A nonce, the time of its end, and the keyed hash of both with what it is for. Errors: `meter_unreachable`. */
export async function newChallenge(ctx: Context, use: ChallengeUse): Promise<Uint8Array<ArrayBuffer>> {
  const head = crypto.getRandomValues(new Uint8Array(HEAD_BYTES));
  new DataView(head.buffer).setFloat64(NONCE_BYTES, ctx.clock.now() + LIFETIME_MS);
  const mac = await macOf(ctx, use, head);
  const whole = new Uint8Array(HEAD_BYTES + mac.length);
  whole.set(head);
  whole.set(mac, HEAD_BYTES);
  return whole;
}

/** The challenge (base64url) as it is used up; null where it is not ours, is for something else or has expired. */
export async function readChallenge(
  ctx: Context,
  use: ChallengeUse,
  text: string,
): Promise<UsedChallenge | null> {
  const bytes = decoded(text);
  if (bytes === null || bytes.length <= HEAD_BYTES) return null;
  const head = bytes.slice(0, HEAD_BYTES);
  if (!equalBytes(bytes.slice(HEAD_BYTES), await macOf(ctx, use, head))) return null;
  const untilMs = new DataView(head.buffer).getFloat64(NONCE_BYTES);
  return untilMs <= ctx.clock.now() ? null : { hash: hash("sha256", head, "hex"), untilMs };
}

async function macOf(
  { hashes }: Context,
  { purpose, subject }: ChallengeUse,
  head: Uint8Array,
): Promise<Uint8Array> {
  return Uint8Array.fromHex(await hashes.of("passkey challenge", purpose, subject, head.toHex()));
}

function decoded(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.fromBase64(text, { alphabet: "base64url" });
  } catch {
    return null;
  }
}
