// Solved captchas that have counted: each counts once in all processes.
import { hash } from "node:crypto";
import { keys } from "../store/keys.ts";
import { kvCommit } from "../store/kv_call.ts";

/** The used captchas in one KV. */
export class CaptchaUses {
  constructor(private readonly kv: Deno.Kv) {}

  /**
   * True for the first of several callers. `expireIn` is how long the proof is still valid, in milliseconds. Errors:
   * `meter_unreachable`.
   */
  claim(proof: string, expireIn: number): Promise<boolean> {
    const key = keys.captchaUsed(hash("sha256", proof, "hex"));
    return kvCommit(
      this.kv.atomic().check({ key, versionstamp: null }).set(key, true, { expireIn: Math.max(1, expireIn) }),
    );
  }
}
