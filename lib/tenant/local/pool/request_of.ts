// What an engine child is sent for a flight.
import type { Request } from "../child/protocol.ts";
import { packReads } from "../child/wire_call.ts";
import { packLogRows } from "../frames/wire.ts";
import type { LaneFlight } from "./child_slot.ts";

/** Makes the request for a flight. */
export function requestOf({ work, lanes, frame }: LaneFlight): Request {
  if (work.kind === "task") return work.job.request;
  const calls = work.jobs.map((job) => job.wire);
  return work.kind === "read"
    ? { op: "read", db: lanes.databaseId, frame, calls: packReads(calls) }
    : { op: "write", db: lanes.databaseId, frame, calls, logRows: packLogRows(work.logRows) };
}
