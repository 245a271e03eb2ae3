// Who a revision says it was.
import type { Caller } from "../../access/caller.ts";

/** Id of the API token, or `operator`. */
export function actorOf(caller: Caller): string {
  return caller.kind === "operator" ? "operator" : caller.tokenId;
}
