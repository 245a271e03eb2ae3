// Migration files as they come in, and which of them are still to be applied.
import { AppError, type Issue } from "../../core/errors.ts";
import { compareNames, type MigrationRecord } from "../../sql/service/migration_records.ts";
import { charactersOf } from "../../core/plain_text.ts";
import { LONG_TEXT, type LongTexts } from "../../query/long_texts.ts";
import type { QueryContext } from "../../query/query_call.ts";
import {
  migrationDigest,
  type MigrationStatement,
  type MigrationText,
  readMigration,
} from "../../sql/service/migration_text.ts";

/** A file as it comes in. */
export interface MigrationFile {
  readonly name: string;
  /** Absent: only the digest is known, so that the file can be recorded and not applied. */
  readonly sql?: string | undefined;
  readonly sha256?: string | undefined;
}

/** A file that can be applied. */
export interface ReadFile {
  readonly name: string;
  readonly sql: string;
  /** Of its normal text, hex. */
  readonly sha256: string;
  readonly statements: readonly MigrationStatement[];
  readonly foreignKeysOff: boolean;
}

/** Statements of one file: each costs a savepoint and, in a remote store, a request. */
const MAX_FILE_STATEMENTS = 1000;

/**
 * Reads the files. Errors: `validation_failed` with an issue for each that cannot be applied as a whole, or that has the
 * name of another one; `migration_out_of_order` where their names do not rise.
 */
export async function readFiles(
  { facts }: Pick<QueryContext, "facts">,
  files: readonly MigrationFile[],
): Promise<ReadFile[]> {
  const texts = await readTexts(facts.longTexts, files.map(({ sql }) => sql ?? ""));
  return checkFiles(files.flatMap((file, at) => texts[at] ? [{ ...file, text: texts[at] }] : []));
}

function readTexts(
  longTexts: LongTexts | undefined,
  texts: readonly string[],
): readonly MigrationText[] | Promise<readonly MigrationText[]> {
  if (longTexts === undefined || charactersOf(texts) < LONG_TEXT) return texts.map(readMigration);
  return longTexts.read("migration", texts);
}

function checkFiles(files: readonly (MigrationFile & { readonly text: MigrationText })[]): ReadFile[] {
  const issues: Issue[] = [];
  const names = new Set<string>();
  const read = files.flatMap(({ name, sql: sent, sha256: told, text }, at): ReadFile[] => {
    const sql = sent ?? "";
    const path = `files[${at}].sql`;
    if (names.has(name)) {
      issues.push({ path: `files[${at}].name`, message: "Send each file once; this name was sent before" });
    }
    names.add(name);
    if (!text.ok) issues.push({ path, message: `${text.message} (${name}, line ${text.line})` });
    else if (text.statements.length > MAX_FILE_STATEMENTS) {
      issues.push({ path, message: `Split ${name}; a file has at most ${MAX_FILE_STATEMENTS} statements` });
    }
    // A record says what has run, whatever the caller says of it.
    const sha256 = sent === undefined && told !== undefined ? told : migrationDigest(sql);
    if (told !== undefined && told !== sha256) {
      issues.push({ path: `files[${at}].sha256`, message: `Leave it out; it is not that of ${name}` });
    }
    if (!text.ok) return [];
    const { statements, foreignKeysOff } = text;
    return [{ name, sql, sha256, statements, foreignKeysOff }];
  });
  if (issues.length > 0) throw new AppError("validation_failed", { issues });
  for (const [at, { name }] of read.entries()) {
    const before = read[at - 1];
    if (before !== undefined && compareNames(before.name, name) >= 0) {
      throw outOfOrder(`Send ${name} before ${before.name}, or rename one of them`, {
        file: name,
        behind: before.name,
      });
    }
  }
  return read;
}

/**
 * The files that are still to be applied. Errors: `migration_changed` for a file whose content is not that which was
 * applied, `migration_out_of_order` for one that comes before the newest.
 */
export function pendingFiles(files: readonly ReadFile[], records: readonly MigrationRecord[]): ReadFile[] {
  const applied = new Map(records.map((one) => [one.name, one]));
  for (const { name, sha256 } of files) {
    const record = applied.get(name);
    if (record !== undefined && record.sha256 !== sha256) {
      throw new AppError("migration_changed", {
        message: `Put ${name} back as it was and write a new file; it was applied with another content`,
        extra: { file: name, sha256, appliedSha256: record.sha256 },
      });
    }
  }
  const pending = files.filter(({ name }) => !applied.has(name));
  const newest = records.reduce<string | null>(
    (last, { name }) => last === null || compareNames(name, last) > 0 ? name : last,
    null,
  );
  const early = pending.find(({ name }) => newest !== null && compareNames(name, newest) < 0);
  if (early !== undefined && newest !== null) {
    throw outOfOrder(`Rename ${early.name} so that it comes after ${newest}`, {
      file: early.name,
      behind: newest,
    });
  }
  return pending;
}

/** The statements of the files, one file after the other, as a call has them. */
export function statementsOf(files: readonly ReadFile[]): { sql: string; params: [] }[] {
  return files.flatMap(({ statements }) => statements.map(({ sql }) => ({ sql, params: [] })));
}

function outOfOrder(step: string, extra: { readonly file: string; readonly behind: string }): AppError {
  const message = `${step}; files are applied in the order of their names`;
  return new AppError("migration_out_of_order", { message, extra });
}
