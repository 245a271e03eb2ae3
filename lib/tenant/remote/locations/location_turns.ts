// Copies and removals of locations take turns, over all instances. sqld finishes a copy and begins a removal with the same
// two locks in opposite orders: where both happen at one moment, it never answers anybody again. So copies are noted in
// the catalogue before they begin, removals one at a time, and neither begins beside the other. The catalogue's server
// tells the time, so that clocks of instances may differ.
import type { Clock } from "../../../core/clock.ts";
import { AppError } from "../../../core/errors.ts";
import { type Catalog, SERVER_NOW as NOW } from "./catalog.ts";
import type { CatalogStatement } from "./catalog_client.ts";
import { pause } from "../../../core/pause.ts";

/** Milliseconds after which a copy that nobody has reported as done counts as dead: more than all of its tries take. */
const COPY_MS = 180_000;
/** Milliseconds that a copy waits for a removal, and between two tries; longer than a dead instance's turn lasts. */
const COPY_WAIT_MS = 10_000;
const COPY_POLL_MS = 25;
/** Milliseconds that a turn to remove lasts: where its instance has died, copies wait for the rest of it. */
const TURN_MS = 5000;
/**
 * Milliseconds in which removals begin, counted from `sinceMs`, and that each may take. With what `HOLD_MS` adds they are
 * over before the turn is, also where the process was stopped on its way to them.
 */
export const BEGIN_MS = 200;
export const REMOVE_MS = 3000;
/** Milliseconds after which a location that was being made counts as left behind. */
const ABANDONED_MS = 600_000;
/** Milliseconds of a turn for which copies that want to begin are held up, for those under way to end. */
const HOLD_MS = 1000;
const HOLD_POLL_MS = 50;

/** Leave to remove. */
export interface RemovalTurn {
  readonly id: string;
  /** By the monotonic clock: the turn was given later than that. */
  readonly sinceMs: number;
}

export class LocationTurns {
  constructor(private readonly clock: Clock, private readonly catalog: Catalog) {}

  /**
   * Does work that makes copies at the locations, which are noted as orphaned until the work notes their owner together
   * with `copied` of those that it has used. What fails on its way stays noted. Errors: `database_busy`.
   */
  async copying<T>(locations: readonly string[], work: (end: CatalogStatement) => Promise<T>): Promise<T> {
    const [first = ""] = locations;
    const end: CatalogStatement = ["DELETE FROM copying WHERE place = ?", [first]];
    try {
      await this.#begin(first, locations);
      return await work(end);
    } catch (error) {
      // The note may be there although its answer was lost. One that cannot be removed ends by itself.
      await this.#change(end).catch(() => {});
      throw error;
    }
  }

  /** Sends the change again where its answer was lost: a second one changes nothing. */
  async #change(statement: CatalogStatement): Promise<void> {
    await this.catalog.change([statement]).catch(() => this.catalog.change([statement]));
  }

  async #begin(first: string, locations: readonly string[]): Promise<void> {
    const untilMs = this.clock.monotonicMs() + COPY_WAIT_MS;
    for (;;) {
      const changed = await this.catalog.change([
        [
          `INSERT OR REPLACE INTO copying SELECT ?, ${NOW} + ? WHERE NOT EXISTS (` +
          `SELECT 1 FROM removal WHERE until > ${NOW})`,
          [first, COPY_MS],
        ],
        ...locations.map((one): CatalogStatement => [
          `INSERT OR REPLACE INTO loose SELECT ?, ${NOW} WHERE EXISTS (SELECT 1 FROM copying WHERE place = ?)`,
          [one, first],
        ]),
      ]);
      if (changed && changed[0] === 1) return;
      if (this.clock.monotonicMs() > untilMs) throw new AppError("database_busy");
      await pause(COPY_POLL_MS);
    }
  }

  /** Null: somebody else removes, or copies are under way. */
  async takeRemoval(): Promise<RemovalTurn | null> {
    return await this.#take(`AND NOT EXISTS (SELECT 1 FROM copying WHERE until > ${NOW})`);
  }

  /** The same, but copies that want to begin wait for a moment, so that those under way may end. */
  async insistOnRemoval(): Promise<RemovalTurn | null> {
    const turn = await this.#take("");
    if (turn === null) return null;
    while (this.clock.monotonicMs() - turn.sinceMs < HOLD_MS) {
      const sinceMs = this.clock.monotonicMs();
      const copies = await this.catalog.select(`SELECT 1 FROM copying WHERE until > ${NOW} LIMIT 1`, []);
      if (copies.length === 0) return { ...turn, sinceMs };
      await pause(HOLD_POLL_MS);
    }
    await this.noteRemoved(turn, { removed: [], isOver: true });
    return null;
  }

  async #take(condition: string): Promise<RemovalTurn | null> {
    const turn = { id: crypto.randomUUID(), sinceMs: this.clock.monotonicMs() };
    const sql = `UPDATE removal SET until = ${NOW} + ?, turn = ? WHERE until <= ${NOW} ${condition}`;
    const changed = await this.catalog.change([[sql, [TURN_MS, turn.id]]]);
    return changed && changed[0] === 1 ? turn : null;
  }

  /** Forgets what was removed in the turn, and gives it back where it is over. */
  async noteRemoved(
    { id }: RemovalTurn,
    { removed, isOver }: { readonly removed: readonly string[]; readonly isOver: boolean },
  ): Promise<void> {
    await this.catalog.change([
      ...removed.map((one): CatalogStatement => ["DELETE FROM loose WHERE place = ?", [one]]),
      ...(isOver ? [["UPDATE removal SET until = 0 WHERE turn = ?", [id]] satisfies CatalogStatement] : []),
    ]);
  }

  /**
   * Some of those that were let go of, and of those left behind. A location in use is never among them: a late note may call
   * it orphaned. By the server's clock: what one instance is making, another whose clock is ahead must not take for left behind.
   */
  async orphans(): Promise<string[]> {
    const rows = await this.catalog.select(
      `SELECT place FROM loose WHERE since < ${NOW} - ? AND place NOT IN (SELECT place FROM tenant UNION ALL ` +
        "SELECT place FROM ancestor UNION ALL SELECT place FROM snapshot) ORDER BY since, place LIMIT 100",
      [ABANDONED_MS],
    );
    return rows.map((row) => String(row[0]));
  }
}
