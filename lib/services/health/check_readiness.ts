// Whether the parts that a request needs answer and take what is written, and how: Deno KV and the tenant store.
import type { Clock } from "../../core/clock.ts";
import { failedWith } from "../../core/errors.ts";
import { keys } from "../../store/keys.ts";
import { isDamaged, noRoom } from "../../store/kv_call.ts";
import type { StoreStrain } from "../../tenant/store_strain.ts";
import type { TenantStore } from "../../tenant/tenant_store.ts";

/** What readiness is told by. */
export interface ReadinessContext {
  readonly kv: Deno.Kv;
  /** KV's file, where KV is a file: once it is deleted, what is written from then on is lost. */
  readonly kvFile?: string;
  readonly clock: Clock;
  readonly tenants: Pick<TenantStore, "ready">;
  /** Backups of the control plane, where they go into an archive. */
  readonly backups?: { readonly isLate: boolean };
}

type Part = "kv" | "tenants";

/** Never says more than this: anybody may ask. */
export interface Readiness {
  /** Parts that fail, or that have not answered in time. */
  readonly notReady: readonly Part[];
  /** Those of them that can be read, and cannot be written: their disk is full, or no longer writable. */
  readonly full: readonly Part[];
  /** Parts that do their work, and what is the matter with them. */
  readonly degraded: readonly { readonly part: Part; readonly reason: "slow" | StoreStrain }[];
}

/** Milliseconds above which an answer is slow, and in which a part has to answer at all. */
const SLOW_MS = 1000;
const PATIENCE_MS = 10_000;
/** Milliseconds for which a write to KV that worked, or one that failed, stands for others: anybody may ask. */
const WRITTEN_MS = 5_000;
const REFUSED_MS = 1_000;
/** Records of KV's file that are read between two such writes, until all were: a damaged page tells of itself when it is read. */
const LOOKED_AT = 200;
/** KV forgets what was written soon after nobody asks any more. */
const FORGET = { expireIn: 60_000 };

/** Those who ask at the same time get the same answer, so that no number of them asks the parts more often. */
export class ReadinessCheck {
  #running: Promise<Readiness> | null = null;
  #kvUntilMs = -Infinity;
  #kvFailure: { readonly error: unknown } | null = null;
  /** Where the look through KV's file goes on, and whether it has met damage there. */
  #cursor = "";
  #isDamaged = false;

  constructor(private readonly context: ReadinessContext) {}

  check(): Promise<Readiness> {
    return this.#running ??= this.#check().finally(() => this.#running = null);
  }

  async #check(): Promise<Readiness> {
    const { kv, kvFile, tenants, backups } = this.context;
    const parts = await Promise.all([
      probe("kv", async () => {
        await kv.get(keys.firstStart());
        if (kvFile !== undefined) await Deno.stat(kvFile);
        await this.#write();
        return [
          ...(this.#isDamaged ? ["damaged"] as const : []),
          ...(backups?.isLate ? ["backup_late"] as const : []),
        ];
      }),
      probe("tenants", () => tenants.ready()),
    ]);
    return {
      notReady: parts.flatMap(({ notReady }) => notReady),
      full: parts.flatMap(({ full }) => full),
      degraded: parts.flatMap(({ degraded }) => degraded),
    };
  }

  /** Throws what KV said to the last write that was tried. */
  async #write(): Promise<void> {
    const { kv, kvFile, clock } = this.context;
    const nowMs = clock.monotonicMs();
    if (nowMs >= this.#kvUntilMs) {
      if (kvFile !== undefined) await this.#lookOn();
      this.#kvFailure = await kv.set(keys.readiness(), clock.now(), FORGET).then(
        () => null,
        (error: unknown) => ({ error: noRoom(error) ?? error }),
      );
      this.#kvUntilMs = nowMs + (this.#kvFailure === null ? WRITTEN_MS : REFUSED_MS);
    }
    if (this.#kvFailure !== null) throw this.#kvFailure.error;
  }

  /** Stays where a page is damaged: what is behind it may be well, and is of no help. */
  async #lookOn(): Promise<void> {
    const { kv } = this.context;
    try {
      const records = kv.list({ prefix: keys.all() }, { limit: LOOKED_AT, cursor: this.#cursor });
      let count = 0;
      for await (const _ of records) count++;
      this.#cursor = count < LOOKED_AT ? "" : records.cursor;
      this.#isDamaged = false;
    } catch (error) {
      this.#isDamaged = isDamaged(error);
    }
  }
}

async function probe(part: Part, ask: () => Promise<readonly StoreStrain[]>): Promise<Readiness> {
  let slow = false;
  const slowly = setTimeout(() => slow = true, SLOW_MS);
  let late: ReturnType<typeof setTimeout> | undefined;
  const never = new Promise<null>((resolve) => late = setTimeout(() => resolve(null), PATIENCE_MS));
  try {
    const strains = await Promise.race([ask(), never]);
    if (strains === null) return { notReady: [part], full: [], degraded: [] };
    const reasons = [...(slow ? ["slow"] as const : []), ...strains];
    return { notReady: [], full: [], degraded: reasons.map((reason) => ({ part, reason })) };
  } catch (error) {
    return { notReady: [part], full: failedWith(error, "storage_full") ? [part] : [], degraded: [] };
  } finally {
    clearTimeout(slowly);
    clearTimeout(late);
  }
}
