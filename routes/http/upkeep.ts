// What the process does beside requests: sweeps and bookings by timers and by the minute. Failures are told and never end it.
import { MINUTE_MS } from "../../lib/core/clock.ts";
import { SWEEP_EVERY_MS } from "../../lib/control/balance/balance_limits.ts";
import { TOKEN_USE_WRITE_MS } from "../../lib/control/token_uses.ts";
import { attempt } from "../../lib/core/attempt.ts";
import type { ScheduledBackups } from "../../lib/services/backup/scheduled_backups.ts";
import { nativeBytes, UnfinishedMessages } from "../../lib/services/hrana/end_unfinished.ts";
import { endRevoked } from "../../lib/services/hrana/end_revoked.ts";
import { sweepLeftovers } from "../../lib/services/removal/remove_records.ts";
import { noteLateBackups } from "../../lib/services/webhooks/note_late_backups.ts";
import { sweepLifetimes } from "../../lib/store/lifetimes.ts";
import type { AppDeps } from "./app_deps.ts";

/** Milliseconds between two sweeps over bodies that are still arriving. */
export const BODY_SWEEP_MS = 1000;
/** Milliseconds between two bookings of what was spent. */
const METER_MS = 1000;
/** Milliseconds between two looks at the memory that sockets take. */
const SOCKETS_MS = 1000;
/** Milliseconds between two looks for what clients hold open with a token that is gone. */
const REVOKED_MS = 2000;

/** What upkeep works on. */
export interface Upkept {
  readonly deps: AppDeps;
  readonly backups: ScheduledBackups | null;
}

/** The same, and who calls what has to be called every minute: the platform's crons, or the process's own timers. */
export interface TimedUpkeep extends Upkept {
  readonly hosted: boolean;
}

/** To be called every minute, by one process of all that share the KV or by each. */
export async function everyMinute({ deps }: Upkept): Promise<void> {
  await attempt(deps.log, "blocks_not_swept", () => deps.query.meter.sweepBlocks());
  await attempt(deps.log, "leftovers_not_swept", () => sweepLeftovers(deps));
  await attempt(deps.log, "mails_not_swept", async () => await deps.published.mail?.sweep());
  await attempt(deps.log, "late_backups_not_told", () => noteLateBackups(deps));
  await deps.webhooks.deliverer.sweep();
  await attempt(deps.log, "lifetimes_not_swept", () => sweepLifetimes(deps.kv, deps.clock.now()));
}

/** To be called every minute, by itself: nothing else waits for a backup, which may take an hour where the archive is slow. */
export async function backUpEveryMinute({ deps, backups }: Upkept): Promise<void> {
  await attempt(deps.log, "backup_not_archived", async () => await backups?.tick());
}

/** To be called every ten minutes. */
export async function everyTenMinutes({ deps }: Upkept): Promise<void> {
  await attempt(deps.log, "tenants_not_swept", () => deps.tenants.sweep());
  await attempt(deps.log, "exports_not_swept", async () => await deps.exports?.sweep());
}

/** Starts what every process does for itself; what it answers ends that. */
export function startTimers(upkept: TimedUpkeep): () => void {
  const { deps, hosted } = upkept;
  const unfinished = new UnfinishedMessages({ sockets: deps.hrana.sockets, nativeBytes });
  const timers = [
    ...hosted ? [] : minuteTimers(upkept),
    setInterval(() => deps.bodyWatch.sweep(), BODY_SWEEP_MS),
    setInterval(() => void deps.query.meter.tick(), METER_MS),
    setInterval(
      () => void attempt(deps.log, "blocks_not_swept", () => deps.query.meter.sweepBlocks()),
      SWEEP_EVERY_MS,
    ),
    setInterval(() => void writeTokenUses(deps), TOKEN_USE_WRITE_MS),
    setInterval(() => void attempt(deps.log, "revoked_not_ended", () => endRevoked(deps)), REVOKED_MS),
    setInterval(() => {
      const ended = unfinished.look();
      if (ended > 0) deps.log("warn", "sockets_ended", { ended });
    }, SOCKETS_MS),
  ];
  return () => timers.forEach((timer) => clearInterval(timer));
}

/**
 * A cron of a process goes by the machine's clock: where that is put back, it stands still until the clock has come again to
 * where it was, an hour or a year. These do not.
 */
function minuteTimers(upkept: Upkept): ReturnType<typeof setInterval>[] {
  return [
    setInterval(oneAtATime(() => everyMinute(upkept)), MINUTE_MS),
    setInterval(oneAtATime(() => backUpEveryMinute(upkept)), MINUTE_MS),
    setInterval(oneAtATime(() => everyTenMinutes(upkept)), 10 * MINUTE_MS),
  ];
}

/** The work, left out while it is still being done. It may not reject. */
function oneAtATime(work: () => Promise<void>): () => void {
  let running: Promise<void> | null = null;
  return () => running ??= work().finally(() => running = null);
}

/** Writes when tokens were used last. Never rejects: a failure is logged. */
export function writeTokenUses(deps: AppDeps): Promise<void> {
  return attempt(deps.log, "token_uses_not_written", () => deps.control.tokenUses.write());
}
