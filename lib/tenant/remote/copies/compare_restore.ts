// What a restore of a remote database would do: two locations side by side, read page by page.
import type { RestoreEffect } from "../../../sql/service/branch_report.ts";
import { PLAIN_ROWS } from "../../../sql/words/row_form.ts";
import { restoreEffect } from "../../branches/restore_effect.ts";
import type { Reading } from "../../branches/row_pages.ts";
import { runRemotely, SideStream, StatementFailed } from "./side_stream.ts";
import { gateEngine } from "../gate/gate_engine.ts";
import { OWN_TIMEOUT_MS, type RemoteContext, send } from "../server/remote_context.ts";
import { isLost, RemoteFailure } from "../hrana/remote_failure.ts";
import { schemaTexts } from "../connection/read_schema.ts";
import { withAnyTexts } from "./with_any_texts.ts";

/** Null: one of the two cannot be read, or holds what cannot be compared. Throws `RemoteFailure` and `Stopped`. */
export async function compareRestore(
  context: RemoteContext,
  sides: RestoreSides,
): Promise<RestoreEffect | null> {
  try {
    return await withAnyTexts((reading) => compare(context, sides, reading));
  } catch (error) {
    const isInvalid = error instanceof RemoteFailure && error.reason === "invalid_text";
    if (isInvalid || isLost(error) || isUnreadable(error)) return null;
    throw error;
  }
}

interface RestoreSides {
  readonly present: string;
  readonly snapshot: string;
}

async function compare(
  context: RemoteContext,
  { present, snapshot }: RestoreSides,
  reading: Reading,
): Promise<RestoreEffect> {
  const timeoutMs = Math.max(OWN_TIMEOUT_MS, context.queryTimeoutMs);
  const stream = (location: string, opening: readonly string[]) =>
    new SideStream(
      (request, options) => send(context, { location, mode: "read" }, request, options),
      opening,
      timeoutMs,
    );
  // Nobody writes the copy of the snapshot: its pages fit together without a transaction.
  const [ancestor, branch] = [stream(present, ["BEGIN"]), stream(snapshot, [])];
  try {
    const texts = [...await schemaTexts(context, present), ...await schemaTexts(context, snapshot)];
    const openTrial = await gateEngine(context.gateEngine, texts);
    const work = restoreEffect({ openTrial, rowForm: PLAIN_ROWS, reading });
    return await runRemotely(work, { ancestor, branch });
  } finally {
    await ancestor.end();
  }
}

function isUnreadable(error: unknown): boolean {
  return error instanceof StatementFailed && error.failure.kind !== "busy";
}
