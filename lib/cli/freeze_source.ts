// The rule by which the source of a move takes no writes.
import { type Api, callApi } from "./api_call.ts";
import { ask, CopyError } from "./ask_side.ts";

/** The rule that denies every write of the source. */
export interface Freeze {
  readonly id: string;
  /** An earlier run has made it, and was ended before it could delete it. */
  readonly isLeft: boolean;
}

/** By this a later run knows the rule of an earlier one. */
const NOTE = "Being moved by deno task copy";

/** Makes the rule. Errors: `CopyError`. */
export async function freeze(from: Api): Promise<Freeze> {
  const body = { tableGlob: "*", effect: "deny", note: NOTE };
  const rule = await ask(rulesOf(from), "source", "POST", "rules", body);
  return { id: String(Reflect.get(Object(rule), "id")), isLeft: false };
}

/** The rule of a run that was ended in the middle; null: there is none, or the token may not see it. */
export async function leftFreeze(from: Api): Promise<Freeze | null> {
  await ask(from, "source", "GET", "tables");
  const { success, data } = await callApi(rulesOf(from), "GET", "rules");
  const left = success && Array.isArray(data)
    ? data.find(({ note, tableGlob, effect, actions, enabled }) =>
      note === NOTE && tableGlob === "*" && effect === "deny" && enabled === true && actions === null
    )
    : undefined;
  return left === undefined ? null : { id: String(left.id), isLeft: true };
}

/** Somebody may have deleted it, and written. */
export async function requireFrozen(from: Api, { id }: Freeze): Promise<void> {
  const rules = await ask(rulesOf(from), "source", "GET", "rules");
  const is = Array.isArray(rules) && rules.some((rule) => rule.id === id && rule.enabled === true);
  if (!is) throw new CopyError(`rule ${id} is gone, so the source may have taken writes; drop the target`);
}

/** Deletes the rule, unless an earlier run has made it, which may have moved the source; answers what to say of it. */
export async function thaw(from: Api, { id, isLeft }: Freeze): Promise<string> {
  const stays = `Delete rule ${id} of the source if it is to take writes.`;
  if (isLeft) return stays;
  const gone = await callApi(rulesOf(from), "DELETE", `rules/${id}`).catch(() => null);
  return gone?.success ? "The source takes writes again." : stays;
}

function rulesOf(from: Api): Api {
  const [, host = "", namespace = "", database = ""] = /^(.*)\/v1\/db\/([^/]+)\/([^/]+)$/.exec(from.db) ?? [];
  return { ...from, db: `${host}/api/namespaces/${namespace}/databases/${database}` };
}
