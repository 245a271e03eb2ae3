// Whether the records of control are new: a start over databases that they do not know would lose sight of these.
import { keys } from "../../store/keys.ts";
import { kvGet } from "../../store/kv_call.ts";

/** Errors: `meter_unreachable`. */
export async function isFirstStart(kv: Deno.Kv): Promise<boolean> {
  return (await kvGet(kv, keys.firstStart())).versionstamp === null;
}
