// Applies migration files: each in one transaction together with its record, in the order of their names, once.
import { requireRole } from "../../access/caller.ts";
import { replayScope } from "../../access/replay_scope.ts";
import type { ReplayScope } from "../../control/replays.ts";
import { AppError, failedWith } from "../../core/errors.ts";
import { InTurn } from "../../core/in_turn.ts";
import type { HeldMigrations } from "../../query/migration_ask.ts";
import { plainCall } from "../../query/plain_call.ts";
import type { CallReplay } from "../../query/query_call.ts";
import { decide, run } from "../../query/run.ts";
import { newestOf } from "../../sql/service/migration_records.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import {
  type MigrationFile,
  pendingFiles,
  type ReadFile,
  readFiles,
  statementsOf,
} from "./migration_files.ts";
import { lostObjects } from "../../sql/hints/lost_objects.ts";
import { fileError, setError } from "./migration_errors.ts";
import { type MigrateAnswer, type Migrated, migratedBefore } from "./migrated_before.ts";
import { readState } from "./migration_state.ts";
import { addFigures, addWarnings, type MigrateMeta, NO_FIGURES } from "./migrate_meta.ts";

/** By database: who has waited finds nothing to do. */
const turns = new InTurn();

/** Files to apply. */
export interface MigrateInput {
  readonly files: readonly MigrationFile[];
  /** True: the files are recorded as applied, and do not run. */
  readonly baseline: boolean;
  /** The step of a plan that it is: held, the answer of its run is that step's too. Absent: it is none. */
  readonly plan?: ReplayScope | undefined;
  /** The keys of what a person has approved; they take the place of those of `plan`. */
  readonly replay?: CallReplay | null;
  /** Set where a person has approved exactly these files. */
  readonly approved?: ApprovedFiles;
  /** Aborted when nobody waits any more: then no further file is begun. */
  readonly signal: () => AbortSignal | null;
}

/** The approval of files, and the state of the database for which it was given. */
export interface ApprovedFiles extends Pick<HeldMigrations, "after" | "schemaVersion"> {
  /** As `approved` of a call. */
  readonly covers: readonly string[];
  /** The person wants a snapshot, destructive or not. */
  readonly snapshotFirst: boolean;
}

/** How often the files are looked at anew because somebody else applies some at the same moment. */
const MAX_TRIES = 100;

/**
 * Applies what is pending of the files, or nothing where all are applied, or tells what the same step of a plan has applied
 * (`replayed`). Somebody who applies files at the same moment is waited for. Errors: `role_too_low`; those of `readFiles` and `pendingFiles`; `rule_denied` and `approval_required`
 * for all files together, before anything has run; `effect_changed` where the database has changed since an approval;
 * every error of the pipeline for one file, with `file`,
 * `failedIndex`, `line`, `applied` and `pending`: nothing of that file stays, those before it do.
 */
export async function applyMigrations(
  ctx: StatementsContext,
  input: MigrateInput,
): Promise<MigrateAnswer & { readonly replayed: boolean }> {
  requireRole(ctx.target, "admin");
  const earlier = await migratedBefore({ ...ctx, plan: input.plan, replay: input.replay });
  if (earlier !== null) return { ...earlier, replayed: true };
  const files = await readFiles(ctx, input.files);
  return await turns.run(ctx.target.databaseId, async () => {
    const { drift } = await readState(ctx);
    const run = new Run(ctx, input, drift);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (await run.pass(files)) return { ...run.answer(), replayed: false };
    }
    throw new AppError("database_busy", { message: "Try again shortly; others keep applying migrations" });
  });
}

/** One call's way through its files. */
class Run {
  readonly #applied: string[] = [];
  #snapshot: string | null = null;
  #meta: MigrateMeta = NO_FIGURES;
  #passed = false;
  #heldOnce = false;

  constructor(
    private readonly ctx: StatementsContext,
    private readonly input: MigrateInput,
    private readonly drift: Migrated["drift"],
  ) {}

  /** With the file that is about to be applied, if any. */
  answer(...next: readonly string[]): MigrateAnswer {
    const applied = [...this.#applied, ...next];
    return { data: { applied, pending: [], snapshot: this.#snapshot, drift: this.drift }, meta: this.#meta };
  }

  /** Applies what is pending. False: somebody else has applied something meanwhile, or is left. */
  async pass(files: readonly ReadFile[]): Promise<boolean> {
    const { records, objects } = await readState(this.ctx);
    const pending = pendingFiles(files, records);
    if (!this.input.baseline) {
      const lost = await lostObjects(objects, statementsOf(pending).map(({ sql }) => sql));
      this.#meta = addWarnings(this.#meta, lost);
    }
    let after = newestOf(records);
    const { approved } = this.input;
    // Whether another look is worth while is told by that nothing was applied.
    if (approved && (this.#passed || approved.after !== after)) throw this.#changed(pending);
    this.#passed = true;
    for (const group of alike(pending)) {
      if (!this.input.baseline) {
        await this.#decide(group, after).catch((error) => {
          throw setError(error, group, this.#progress(pending));
        });
      }
      for (const file of group) {
        const appliedAt = this.ctx.clock.now();
        try {
          await this.ctx.readmit(this.ctx);
          after = await this.#apply(file, { after, appliedAt, isLast: file === pending.at(-1) });
        } catch (error) {
          if (await this.#isMoved(error, after, { ...file, appliedAt })) return false;
          throw fileError(
            error,
            file,
            this.#progress(pending, failedWith(error, "outcome_unknown") ? file : null),
          );
        }
      }
    }
    return true;
  }

  /** Rules decide about these files together, before the first of them runs. Errors: those of `decide`. */
  async #decide(pending: readonly ReadFile[], after: string | null): Promise<void> {
    const { ctx, input } = this;
    const { target, tokenId } = ctx;
    const rules = await ctx.rules.of(target.databaseId) ?? [];
    if (!rules.some(({ enabled }) => enabled)) return;
    const files = pending.map(({ name, sql }) => ({ name, sql }));
    const statements = statementsOf(pending);
    const content = JSON.stringify([after, ...pending.map(({ name, sha256 }) => [name, sha256])]);
    const call = plainCall({ target, tokenId, operation: "migrate", statements }, {
      batch: true,
      approved: input.approved?.covers ?? [],
      migrations: { files, after },
      replay: input.plan ? { idempotency: null, plan: input.plan } : null,
      // The same files, sent again, wait for the same decision.
      heldAs: () => replayScope(["migrate", tokenId, target.databaseId], content),
    });
    await decide(ctx, call);
  }

  /** Applies one file behind the newest record. Answers what tells its own record. */
  async #apply(
    { name, sha256, statements }: ReadFile,
    { after, appliedAt, isLast }: {
      readonly after: string | null;
      readonly appliedAt: number;
      readonly isLast: boolean;
    },
  ): Promise<string | null> {
    const { ctx, input: { baseline, approved, signal } } = this;
    const { target, tokenId } = ctx;
    if (signal()?.aborted) throw new AppError("store_unavailable");
    const isFirst = this.#applied.length === 0;
    const record = { name, sha256, appliedAt, tokenId, snapshot: this.#snapshot, ran: !baseline };
    const own = baseline ? [] : statements.map(({ sql }) => ({ sql, params: [] }));
    const { meta } = await run(
      ctx,
      plainCall({ target, tokenId, operation: "migrate", statements: own }, {
        batch: true,
        approved: approved?.covers ?? [],
        snapshots: this.#snapshot === null,
        snapshotFirst: isFirst && approved?.snapshotFirst === true,
        migration: {
          record,
          after,
          approvedVersion: isFirst ? approved?.schemaVersion ?? null : null,
          before: isLast ? JSON.stringify(this.answer(name)) : "",
        },
        // Of files that are not all applied there is no answer yet.
        replay: isLast ? keysOf(this.input) : null,
        opensRequest: isFirst,
        heldAs: "never",
      }),
    );
    this.#applied.push(name);
    this.#snapshot ??= meta.snapshot;
    this.#meta = addFigures(this.#meta, meta);
    return newestOf([record]);
  }

  #changed(pending: readonly ReadFile[]): AppError {
    return new AppError("effect_changed", { extra: this.#progress(pending) });
  }

  /**
   * What has become of the files; `pending`: those that were not applied at the last look. Of `unknown` nobody knows, so it is
   * neither.
   */
  #progress(
    pending: readonly ReadFile[],
    unknown: ReadFile | null = null,
  ): Pick<Migrated, "applied" | "pending"> {
    const names = pending.filter((file) => file !== unknown).map(({ name }) => name);
    return { applied: this.#applied, pending: names.filter((name) => !this.#applied.includes(name)) };
  }

  /**
   * Whether a failure may be due to somebody else, who has applied a migration, or to a rule that has just come; or is none,
   * because the file was committed and only its answer lost.
   */
  async #isMoved(
    error: unknown,
    after: string | null,
    { name, sha256, appliedAt }: Pick<ReadFile, "name" | "sha256"> & { readonly appliedAt: number },
  ): Promise<boolean> {
    if (!(error instanceof AppError)) return false;
    if (error.code === "transaction_held" && !this.#heldOnce) return this.#heldOnce = true;
    const state = await readState(this.ctx).catch(() => null);
    if (state === null || newestOf(state.records) === after) return false;
    const own = failedWith(error, "outcome_unknown") &&
      state.records.some((one) =>
        one.name === name && one.sha256 === sha256 && one.appliedAt === appliedAt &&
        one.tokenId === this.ctx.tokenId
      );
    if (own) this.#applied.push(name);
    return true;
  }
}

function keysOf({ plan, replay }: MigrateInput): CallReplay | null {
  return replay ?? (plan ? { idempotency: null, plan } : null);
}

/** Without foreign keys nothing cascades, so files with and without them are not decided about together. */
function alike(files: readonly ReadFile[]): ReadFile[][] {
  const groups: ReadFile[][] = [];
  for (const file of files) {
    const last = groups.at(-1);
    if (last?.at(-1)?.foreignKeysOff === file.foreignKeysOff) last.push(file);
    else groups.push([file]);
  }
  return groups;
}
