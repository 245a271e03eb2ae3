// Gives up a transaction on a server.
import type { RemoteConnection } from "../connection/remote_connection.ts";
import { withDeadline } from "../hrana/deadline.ts";
import { OWN_TIMEOUT_MS } from "../server/remote_context.ts";

/** Where it cannot be said, the server does it by itself after a while. `baton`: of its stream; null: that is closed. */
export async function undo(connection: RemoteConnection, baton: string | null): Promise<void> {
  if (baton === null) return;
  const steps = [{ stmt: { sql: "ROLLBACK" } }];
  await withDeadline(
    OWN_TIMEOUT_MS,
    [],
    (signal) => connection.send("write", { steps, baton, close: true }, { signal }),
  ).catch(() => {});
}
