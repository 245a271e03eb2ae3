// Removes orphaned locations from the server, one after the other, while no instance copies any. No request waits for it:
// whoever lets go of a location notes that in the catalogue, and whichever instance has a turn next finds it there.
import { BEGIN_MS, type LocationTurns, type RemovalTurn, REMOVE_MS } from "./location_turns.ts";
import type { RemoteContext } from "../server/remote_context.ts";
import { RemoteFailure } from "../hrana/remote_failure.ts";
import { pause } from "../../../core/pause.ts";

/** Milliseconds from a wake-up to its round, and from a round without a turn to the next: the first, and the longest. */
const SOON_MS = 50;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2000;
/** Milliseconds that this process goes without a turn, before it holds up copies to get one. */
const PATIENCE_MS = 10_000;
/** Milliseconds until the next round where the server has refused. */
const REFUSED_MS = 30_000;
/** Milliseconds between two turns, in which copies that wait may begin. */
const BETWEEN_MS = 60;

type Round = "done" | "not our turn" | "refused";

export class OrphanRemover {
  #timer: ReturnType<typeof setTimeout> | null = null;
  #working: Promise<void> | null = null;
  #closed = false;
  readonly #failed = new Set<string>();
  /** The rounds in a row without a turn, and when the first was, by the monotonic clock; null: the last one had a turn. */
  #waiting: { readonly sinceMs: number; readonly rounds: number } | null = null;

  constructor(private readonly context: RemoteContext, private readonly turns: LocationTurns) {}

  /** There is something to remove. */
  wake(): void {
    this.#after(SOON_MS);
  }

  /** Removes what is orphaned; gives up after a while without a turn. */
  async sweep(): Promise<void> {
    const untilMs = this.context.clock.monotonicMs() + PATIENCE_MS;
    for (;;) {
      await this.#working;
      await this.#work();
      if (this.#waiting === null || this.context.clock.monotonicMs() > untilMs) return;
      await pause(FIRST_PAUSE_MS);
    }
  }

  /** What is left is removed by another instance, or by the next one when it makes its first copy. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopTimer();
    await this.#working;
  }

  #after(ms: number): void {
    if (this.#closed || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      // What is orphaned during a round may come too late for it.
      if (this.#working !== null) this.#after(SOON_MS);
      else void this.#work();
    }, ms);
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #work(): Promise<void> {
    return this.#working ??= this.#round().then(
      (round) => this.#next(round),
      // The catalogue does not answer, and whoever asks it next says so.
      () => this.#next("refused"),
    ).finally(() => this.#working = null);
  }

  #next(round: Round): void {
    if (round === "refused") this.context.log("warn", "orphans_not_removed");
    if (round === "refused") this.#after(REFUSED_MS);
    if (round !== "not our turn") return void (this.#waiting = null);
    const { sinceMs, rounds } = this.#waiting ?? { sinceMs: this.context.clock.monotonicMs(), rounds: 0 };
    this.#waiting = { sinceMs, rounds: rounds + 1 };
    this.#after(Math.min(FIRST_PAUSE_MS * 2 ** rounds, MAX_PAUSE_MS));
  }

  async #round(): Promise<Round> {
    const { clock } = this.context;
    while (!this.#closed) {
      const found = await this.turns.orphans();
      const orphans = found.filter((one) => !this.#failed.has(one));
      if (orphans.length === 0) {
        // What has failed is tried again after all others.
        this.#failed.clear();
        return found.length === 0 ? "done" : "refused";
      }
      const insists = this.#waiting !== null && clock.monotonicMs() - this.#waiting.sinceMs > PATIENCE_MS;
      if (insists) this.#waiting = null;
      const turn = await (insists ? this.turns.insistOnRemoval() : this.turns.takeRemoval());
      if (turn === null) return "not our turn";
      if (!await this.#removeSome(turn, orphans)) return "refused";
      await pause(BETWEEN_MS);
    }
    return "done";
  }

  /** Removes those that the turn has time for. False: the server has refused one. */
  async #removeSome(turn: RemovalTurn, orphans: readonly string[]): Promise<boolean> {
    const { clock, platform } = this.context;
    const removed: string[] = [];
    let refused: RemoteFailure | null = null;
    for (const location of orphans) {
      if (this.#closed || refused !== null || clock.monotonicMs() - turn.sinceMs > BEGIN_MS) break;
      try {
        await platform.remove(location, REMOVE_MS);
        removed.push(location);
      } catch (error) {
        if (!(error instanceof RemoteFailure)) throw error;
        refused = error;
        this.#failed.add(location);
      }
    }
    // The server may still remove one for which no answer came. Then the turn is not given back, but ends by itself.
    const isOver = refused === null || refused.reason !== "unreachable";
    await this.turns.noteRemoved(turn, { removed, isOver });
    return refused === null;
  }
}
