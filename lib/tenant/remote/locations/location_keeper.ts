// Locations on the server as they come and go: copies, each noted in the catalogue before it is made, and what nobody
// uses any more.
import { AppError } from "../../../core/errors.ts";
import { type Catalog, SERVER_NOW } from "./catalog.ts";
import type { CatalogStatement } from "./catalog_client.ts";
import { LocationTurns } from "./location_turns.ts";
import { OrphanRemover } from "./orphan_remover.ts";
import { repeat } from "../hrana/repeat.ts";
import { unlessLost } from "./locations.ts";
import type { RemoteContext } from "../server/remote_context.ts";
import { RemoteFailure } from "../hrana/remote_failure.ts";

/** Milliseconds before the second try of a copy, and four times that before the third. */
const COPY_PAUSE_MS = 20;

export class LocationKeeper {
  readonly #turns: LocationTurns;
  readonly #remover: OrphanRemover;
  #woken = false;

  constructor(private readonly context: RemoteContext, private readonly catalog: Catalog) {
    this.#turns = new LocationTurns(context.clock, catalog);
    this.#remover = new OrphanRemover(context, this.#turns);
  }

  /**
   * Does work that makes copies, and whatever else begins with a new location: all of them are noted as orphaned. Once
   * they have an owner, the work changes the catalogue by `end` and by `copied` of each. Errors: `database_busy`.
   */
  copying<T>(locations: readonly string[], work: (end: CatalogStatement) => Promise<T>): Promise<T> {
    // An instance that has ended may have left some.
    if (!this.#woken) this.#remover.wake();
    this.#woken = true;
    return this.#turns.copying(locations, work);
  }

  /** Within `copying`. Resolves with where the copy is, at `to` or beside it. Throws `RemoteFailure`. */
  fork(from: string, to: string): Promise<string> {
    const { platform } = this.context;
    const most = platform.copyTries ?? 1;
    return repeat(async (attempt) => {
      const location = attempt === 0 ? to : `${to}-${attempt + 1}`;
      if (attempt > 0) {
        await this.catalog.change([[`INSERT OR REPLACE INTO loose VALUES (?, ${SERVER_NOW})`, [location]]]);
      }
      await platform.fork(from, location, attempt);
      return location;
    }, (error, attempt) => {
      const again = error instanceof RemoteFailure && attempt + 1 < most;
      return again ? COPY_PAUSE_MS * 4 ** attempt : null;
    });
  }

  /** The same for a snapshot. Errors: `snapshot_corrupt`. */
  async forkSnapshot(from: string, to: string): Promise<string> {
    let location = to;
    if (await unlessLost(async () => void (location = await this.fork(from, to)))) return location;
    throw new AppError("snapshot_corrupt");
  }

  /**
   * Makes a change of the catalogue after which nobody uses the locations; they are removed soon. Then closes `closed`, for
   * instances that do not know of the change yet. Throws `RemoteFailure`.
   */
  async letGo(
    locations: readonly string[],
    change: readonly CatalogStatement[],
    closed: string | null = null,
  ): Promise<void> {
    if (locations.length + change.length === 0) return;
    await this.catalog.change([
      ...locations.map((one): CatalogStatement => ["INSERT OR REPLACE INTO loose VALUES (?, 0)", [one]]),
      ...change,
    ]);
    const close = () => this.context.platform.block(closed ?? "", { reads: true, writes: true });
    try {
      if (closed !== null) await unlessLost(close);
    } finally {
      this.#remover.wake();
    }
  }

  /** Removes what was let go of, and what a crash has left behind. */
  sweep(): Promise<void> {
    return this.#remover.sweep();
  }

  close(): Promise<void> {
    return this.#remover.close();
  }
}

/** Notes that the location is whole and has an owner. */
export function copied(location: string): CatalogStatement {
  return ["DELETE FROM loose WHERE place = ?", [location]];
}
