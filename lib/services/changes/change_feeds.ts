// Who follows which database in this process, and how many may.
import { AppError } from "../../core/errors.ts";
import { followerLimits } from "../../core/limits_of_changes.ts";
import type { QueryContext } from "../../query/query_call.ts";
import { beginningOf } from "./change.ts";
import { DatabaseChanges } from "./database_changes.ts";
import { type ChangesTarget, newestPlace, readChanges } from "./read_changes.ts";

/** Milliseconds after which a database is looked at unasked: where others commit too, and where nobody else can. */
const POLL_MS = 500;
const SELDOM_MS = 5000;

/** A place among the followers of a database. */
export interface Follower {
  readonly changes: DatabaseChanges;
  /** Gives the place back. */
  readonly leave: () => void;
}

interface Followed {
  readonly changes: DatabaseChanges;
  followers: number;
  readonly unwatch: () => void;
}

/** The followers of the process. */
export class ChangeFeeds {
  readonly #followed = new Map<string, Followed>();
  readonly #ofNamespace = new Map<string, number>();
  #stopped = false;
  #all = 0;

  constructor(private readonly ctx: QueryContext) {}

  /** Takes a place. Errors: `follower_limit`. */
  follow(target: ChangesTarget): Follower {
    const { databaseId, namespaceId } = target;
    const inNamespace = this.#ofNamespace.get(namespaceId) ?? 0;
    const followed = this.#followed.get(databaseId);
    const isFull = (followed?.followers ?? 0) >= followerLimits.ofDatabase ||
      inNamespace >= followerLimits.ofNamespace || this.#all >= followerLimits.ofProcess;
    if (isFull || this.#stopped) throw new AppError("follower_limit");
    const own = followed ?? this.#open(target);
    own.followers++;
    this.#ofNamespace.set(namespaceId, inNamespace + 1);
    this.#all++;
    let left = false;
    const leave = () => {
      if (!left) this.#leave(target, own);
      left = true;
    };
    return { changes: own.changes, leave };
  }

  /** Ends all waiting, for good. */
  stop(): void {
    this.#stopped = true;
    for (const { changes, unwatch } of this.#followed.values()) {
      changes.close();
      unwatch();
    }
  }

  #open(target: ChangesTarget): Followed {
    const { clock, tenants } = this.ctx;
    const changes = new DatabaseChanges({
      read: (after) => readChanges(this.ctx, target, after),
      newest: () => newestPlace(this.ctx, target),
      beginning: beginningOf(target.databaseId),
      pollMs: tenants.commits.others ? POLL_MS : SELDOM_MS,
      clock,
    });
    const unwatch = tenants.commits.watch(target.databaseId, () => changes.changed());
    const followed = { changes, followers: 0, unwatch };
    this.#followed.set(target.databaseId, followed);
    return followed;
  }

  #leave({ databaseId, namespaceId }: ChangesTarget, followed: Followed): void {
    this.#all--;
    const inNamespace = (this.#ofNamespace.get(namespaceId) ?? 1) - 1;
    if (inNamespace > 0) this.#ofNamespace.set(namespaceId, inNamespace);
    else this.#ofNamespace.delete(namespaceId);
    if (--followed.followers > 0) return;
    this.#followed.delete(databaseId);
    followed.unwatch();
    followed.changes.close();
  }
}
