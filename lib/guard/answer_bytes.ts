// An answer as bytes of its own.
import { answerLimits } from "../core/limits.ts";

/** A copy where the answer's memory is used again by whoever made it, as that of answers of up to `copiedBytes` may be. */
export function answerBytes(answer: string | Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (typeof answer === "string") return new TextEncoder().encode(answer);
  return answer.length > answerLimits.copiedBytes ? answer : answer.slice();
}
