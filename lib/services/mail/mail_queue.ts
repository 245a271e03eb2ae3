// Sends the mails that endpoints were asked for, beside their requests: a bounded number at once and waiting, each tried
// a few times, and what fails is on record.
import { actRecord, type Audit } from "../../control/audit.ts";
import { type HeldJob, type MailJobs, MAX_PAUSE_MS } from "../../control/mail_jobs.ts";
import { type Clock, HOUR_MS, MINUTE_MS } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { MailJobRecord } from "../../store/account_records.ts";
import type { Also } from "../../store/until_committed.ts";
import type { Mail, Mailer, SendOutcome } from "./mailer.ts";

/** A mail that somebody has asked for. */
export type MailRequest = Omit<MailJobRecord, "holder" | "dueMs" | "attempts" | "askedMs">;

/** What the queue needs. */
export interface MailQueueParts {
  readonly jobs: MailJobs;
  readonly mailer: Mailer;
  readonly clock: Clock;
  readonly log: Log;
  /** Writes the mail; null: there is none to be sent. Throws what may pass. */
  readonly write: (request: MailRequest) => Promise<Mail | null>;
  /** Has a record of each mail that will never be sent. */
  readonly audit: Audit;
}

const AT_ONCE = 4;
/** Mails that wait in this process, in all and of one namespace. */
const MAX_WAITING = 1000;
const MAX_OF_NAMESPACE = 100;
/** Milliseconds before a mail is tried again, and after which nobody waits for it any more. */
const PAUSES_MS = [MINUTE_MS, 5 * MINUTE_MS, MAX_PAUSE_MS];
const TOO_LATE_MS = HOUR_MS;

/** The queue of one process. Without it what waits stays in KV, and `sweep` of any process goes on with it. */
export class MailQueue {
  readonly #waiting: HeldJob[] = [];
  readonly #byNamespace = new Map<string, number>();
  readonly #running = new Set<Promise<void>>();
  /** Mails that a server has taken, and that nobody will try again, since the start of the process. */
  readonly ended = { sent: 0, failed: 0 };

  constructor(private readonly parts: MailQueueParts) {}

  /** Answers when the mail can no longer be lost silently. Errors: `mail_busy`, `meter_unreachable`, `storage_full`. */
  async add(request: MailRequest): Promise<void> {
    const own = this.#byNamespace.get(request.namespaceId) ?? 0;
    if (this.#waiting.length >= MAX_WAITING || own >= MAX_OF_NAMESPACE) throw new AppError("mail_busy");
    this.#count(request.namespaceId, 1);
    try {
      this.#enqueue(await this.parts.jobs.add({ ...request, askedMs: this.parts.clock.now() }));
    } catch (error) {
      this.#count(request.namespaceId, -1);
      throw error;
    }
  }

  /** Goes on with mails that are to be tried again, and with those of processes that have died. Every minute. */
  async sweep(): Promise<void> {
    const room = MAX_WAITING - this.#waiting.length;
    for (const job of await this.parts.jobs.takeDue(room)) {
      this.#count(job.record.namespaceId, 1);
      this.#enqueue(job);
    }
  }

  /** Once nothing waits or runs here. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #enqueue(job: HeldJob): void {
    this.#waiting.push(job);
    while (this.#running.size < AT_ONCE && this.#waiting.length > 0) {
      const running: Promise<void> = this.#work().finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
  }

  async #work(): Promise<void> {
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) {
      try {
        await this.#send(job);
      } catch (error) {
        // It stays in KV, and is tried again once its lease is over.
        this.parts.log("warn", "mail_put_off", {
          reason: error instanceof AppError ? error.code : "internal",
        });
      } finally {
        this.#count(job.record.namespaceId, -1);
      }
    }
  }

  async #send(waiting: HeldJob): Promise<void> {
    const { jobs, clock, log } = this.parts;
    const job = await jobs.renew(waiting);
    if (job === null) return;
    const { askedMs, attempts } = job.record;
    const outcome: SendOutcome = clock.now() - askedMs > TOO_LATE_MS
      ? { ok: false, isFinal: true, reason: "too late" }
      : await this.#attempt(job.record);
    const pauseMs = PAUSES_MS[attempts];
    if (!outcome.ok && !outcome.isFinal && pauseMs !== undefined) {
      // At once: what keeps every mail back (no TLS, a wrong password) is the operator's to mend.
      const { namespaceId, slug: endpoint } = job.record;
      log("warn", "mail_put_off", { namespaceId, endpoint, reason: outcome.reason });
      return await jobs.putOff(job, pauseMs);
    }
    if (outcome.ok) return await jobs.end(job);
    await jobs.end(job, this.#withFailure(job.record, outcome.reason));
    this.#noteFailed(job.record, outcome.reason);
  }

  async #attempt(request: MailRequest): Promise<SendOutcome> {
    try {
      const mail = await this.parts.write(request);
      if (mail === null) return { ok: true };
      const outcome = await this.parts.mailer.send(mail);
      if (outcome.ok) this.ended.sent++;
      return outcome;
    } catch (error) {
      return { ok: false, isFinal: false, reason: error instanceof AppError ? error.code : "internal" };
    }
  }

  #noteFailed({ namespaceId, slug }: MailRequest, reason: string): void {
    this.ended.failed++;
    this.parts.log("warn", "mail_failed", { namespaceId, endpoint: slug, reason });
  }

  /** Puts the mail on record in the commit that ends it: never twice, and none is gone without. */
  #withFailure({ namespaceId, databasePath, slug }: MailRequest, reason: string): Also {
    const { audit, clock } = this.parts;
    const act = { actor: "service", actorName: "the service", action: "mail.failed" } as const;
    const about = { database: databasePath, target: slug, facts: { reason } };
    const record = actRecord(clock.now(), { namespaceId, ...act, ...about });
    return (commit) => audit.addTo(commit, record);
  }

  #count(namespaceId: string, change: number): void {
    const count = (this.#byNamespace.get(namespaceId) ?? 0) + change;
    if (count > 0) this.#byNamespace.set(namespaceId, count);
    else this.#byNamespace.delete(namespaceId);
  }
}
