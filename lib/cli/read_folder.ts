// Finds the migration files in a folder, whichever tool has made it, in the order in which they are applied.
import { compareNames } from "../sql/service/migration_records.ts";

/** One file. */
export interface FolderFile {
  readonly name: string;
  readonly sql: string;
}

/** Why nothing can be taken from a folder, in one sentence for whoever runs the command. */
export class FolderError extends Error {
  override readonly name = "FolderError";
}

/**
 * Reads a folder of drizzle-kit (`meta/_journal.json` tells the order), of prisma and newer drizzle-kit (a folder with
 * `migration.sql` each), or of plain `.sql` files: wrangler, supabase, dbmate and others. A folder `migrations` inside
 * of the one given counts in its place, as `prisma/`, `supabase/` and `db/` have one. Errors: `FolderError`.
 */
export async function readFolder(folder: string): Promise<FolderFile[]> {
  const entries = await entriesOf(folder);
  if (entries.get("meta") === "folder" && await exists(`${folder}/meta/_journal.json`)) {
    return await journal(folder);
  }
  if (entries.get("migrations") === "folder") return await readFolder(`${folder}/migrations`);
  const files: FolderFile[] = [];
  for (const [name, kind] of entries) {
    if (name.startsWith(".")) continue;
    if (kind === "file" && /\.sql$/i.test(name) && !/\.down\.sql$/i.test(name)) {
      files.push({ name, sql: await readText(`${folder}/${name}`) });
    } else if (kind === "folder" && await exists(`${folder}/${name}/migration.sql`)) {
      files.push({ name, sql: await readText(`${folder}/${name}/migration.sql`) });
    }
  }
  if (files.length === 0) throw new FolderError(`No migration files are in ${folder}`);
  return files.sort((a, b) => compareNames(a.name, b.name));
}

async function entriesOf(folder: string): Promise<Map<string, "file" | "folder">> {
  const entries = new Map<string, "file" | "folder">();
  try {
    for await (const entry of Deno.readDir(folder)) {
      entries.set(entry.name, entry.isDirectory ? "folder" : "file");
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory)) throw error;
    throw new FolderError(`There is no folder ${folder}`);
  }
  return entries;
}

interface Journal {
  readonly dialect?: unknown;
  readonly entries?: readonly { readonly idx: number; readonly tag: string }[];
}

/** A tag without a number (`prefix: "none"`) gets that of its entry, so that names rise. */
async function journal(folder: string): Promise<FolderFile[]> {
  const { dialect, entries = [] } = parseJournal(await readText(`${folder}/meta/_journal.json`), folder);
  if (dialect !== undefined && dialect !== "sqlite" && dialect !== "turso") {
    throw new FolderError(`The files in ${folder} are for ${String(dialect)}; this takes those for sqlite`);
  }
  if (entries.length === 0) throw new FolderError(`The journal in ${folder} names no files`);
  const ordered = [...entries].sort((a, b) => a.idx - b.idx);
  return await Promise.all(ordered.map(async ({ idx, tag }) => ({
    name: `${/^\d/.test(tag) ? "" : `${String(idx).padStart(4, "0")}_`}${tag}.sql`,
    sql: await readText(`${folder}/${tag}.sql`),
  })));
}

function parseJournal(text: string, folder: string): Journal {
  try {
    return JSON.parse(text);
  } catch {
    throw new FolderError(`${folder}/meta/_journal.json is no JSON`);
  }
}

async function readText(path: string): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await Deno.readFile(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new FolderError(`${path} is missing`);
    if (error instanceof TypeError) throw new FolderError(`${path} is not UTF-8`);
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(({ isFile }) => isFile, () => false);
}
