// Counts what becomes of engine children and commits, and tells the log where a child has ended.
import type { Log } from "../../../core/log.ts";
import { byLabel, counter, type MetricFamily } from "../../../core/metrics.ts";
import type { LaneFlight } from "./child_slot.ts";
import type { Flight } from "../lanes/jobs.ts";
import type { Reply } from "../child/protocol.ts";
import type { ReplyFrame } from "../frames/reply_frames.ts";

/** Why a child ended with work in it; `unexpected`: the service has not ended it. */
export type EngineEnd = "timeout" | "gone" | "memory" | "disk" | "busy" | "unexpected";

/** Since the start of the process. */
export class EngineCounts {
  readonly #ended: Record<EngineEnd, number> = {
    timeout: 0,
    gone: 0,
    memory: 0,
    disk: 0,
    busy: 0,
    unexpected: 0,
  };
  #commits = 0;
  #calls = 0;
  #commitMs = 0;

  constructor(private readonly log: Log) {}

  /** `op`: the kind of work that it had. */
  ended(reason: EngineEnd, op: string): void {
    this.#ended[reason]++;
    this.log("warn", "engine_child_ended", { reason, op });
  }

  /**
   * Tells the log of a database that its child could not serve, such as one whose file it may not open, and what the disk has
   * refused: what a caller is told is the same for a full one and for one that fails.
   */
  answered(flight: LaneFlight, { reply }: ReplyFrame): void {
    const { work, lanes } = flight;
    const reason = diskFailure(flight.answered?.reply ?? reply);
    if (reason !== undefined) this.log("warn", "storage_failed", { op: work.kind, reason });
    if (reply.t !== "failed" || reply.f.kind !== "unavailable") return;
    const { databaseId } = lanes;
    this.log("warn", "database_unavailable", { databaseId, op: work.kind, reason: reply.f.message });
  }

  /** Notes a group of writes whose transaction is on the disk at `nowMs`. */
  committed({ work, startedMs }: Pick<Flight, "work" | "startedMs">, nowMs: number): void {
    if (work.kind !== "write") return;
    this.#commits++;
    this.#calls += work.jobs.length;
    this.#commitMs += nowMs - startedMs;
  }

  families(): MetricFamily[] {
    return [
      counter(
        "engine_children_ended",
        "Engine processes that ended with work in them, by the reason",
        byLabel("reason", this.#ended),
      ),
      counter(
        "commits",
        "Groups of writes that were committed, each with one sync of the disk",
        this.#commits,
      ),
      counter("commit_calls", "Calls in these groups", this.#calls),
      counter(
        "commit_seconds",
        "Seconds that these groups took, from an engine process's begin to the end of the sync",
        this.#commitMs / 1000,
      ),
    ];
  }
}

/** The engine's words, without the path that follows some; undefined: the disk has refused nothing. */
function diskFailure(reply: Reply): string | undefined {
  const failures = reply.t === "failed" ? [reply] : reply.t === "outcomes" ? reply.o : [];
  for (const failure of failures) {
    if ("f" in failure && failure.f.kind === "full") return failure.f.message.split(":")[0];
  }
  return undefined;
}
