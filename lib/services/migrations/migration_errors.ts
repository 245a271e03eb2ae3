// Errors of migration files: which file, which statement of it, and what has become of the others.
import { AppError } from "../../core/errors.ts";
import type { ReadFile } from "./migration_files.ts";

/** What has become of the files of a call. */
interface Progress {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
}

/** The error of a file that has failed; `failedIndex` counts all of its statements. */
export function fileError(error: unknown, { name, statements }: ReadFile, progress: Progress): unknown {
  if (!(error instanceof AppError)) return error;
  const failedIndex = error.facts.extra?.["failedIndex"];
  const statement = statements[Number(failedIndex ?? NaN)];
  const where = statement === undefined ? name : `${name}, line ${statement.line}`;
  return error.with({
    // What is not about the file says so in its own words.
    ...(error.status < 500 && failedIndex !== undefined ? { message: `${where}: ${error.message}` } : {}),
    extra: {
      file: name,
      failedIndex: statement?.index ?? null,
      line: statement?.line ?? null,
      ...progress,
    },
  });
}

/** The error of a decision about files together, which counts the statements of all of them. */
export function setError(error: unknown, files: readonly ReadFile[], progress: Progress): unknown {
  if (!(error instanceof AppError)) return error;
  const { failedIndex, data: _, ...extra } = error.facts.extra ?? {};
  let at = Number(failedIndex ?? NaN);
  for (const file of files) {
    if (at < file.statements.length) {
      return fileError(
        new AppError(error.code, { ...error.facts, extra: { ...extra, failedIndex: at } }),
        file,
        progress,
      );
    }
    at -= file.statements.length;
  }
  return new AppError(error.code, { ...error.facts, extra: { ...extra, ...progress } });
}
