// Solved captchas that have counted: each counts once, in whichever process.
import { hash } from "node:crypto";
import { keys } from "../store/keys.ts";
import { kvCommit } from "../store/kv_call.ts";

export class CaptchaUses {
  constructor(private readonly kv: Deno.Kv) {}

  /** True for the first of many callers. `expireIn`: milliseconds that the proof would still be taken. Errors: `meter_unreachable`. */
  claim(proof: string, expireIn: number): Promise<boolean> {
    const key = keys.captchaUsed(hash("sha256", proof, "hex"));
    return kvCommit(
      this.kv.atomic().check({ key, versionstamp: null }).set(key, true, { expireIn: Math.max(1, expireIn) }),
    );
  }
}
