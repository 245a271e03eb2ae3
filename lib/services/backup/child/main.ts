// A throw-away process: copies the control plane in one step, while others write it, and makes a backup of the copy. It may
// write one folder.
import { createHash } from "node:crypto";
import { backup, DatabaseSync } from "node:sqlite";
import { backupExits, backupFiles, type BackupJob } from "../backup_job.ts";
import { memberNames, paddingOf, sumsText, TAR_BLOCK, tarHead } from "../tar.ts";
import { writeAll } from "../../../store/write_all.ts";

/** More pages than any file has: with all of them in one step, nobody's write comes between. */
const ALL_PAGES = 2 ** 31 - 1;
/** Milliseconds that the copy waits for a lock, which writers hold for less than that. */
const LOCK_MS = 10_000;
const PIECE = 1024 * 1024;

class Damaged extends Error {}

const [folder, text] = Deno.args;
if (folder === undefined || text === undefined) Deno.exit(backupExits.fault);
const job = parseJob(text);
try {
  if (job.do === "fold") fold(job.kv);
  else {
    await copyKv(job.kv, `${folder}/${backupFiles.copy}`);
    if (job.do === "back up") await writeBackup(folder, job);
  }
} catch (error) {
  // What was wrong is told by a number: texts hold paths.
  Deno.exit(exitOf(error));
}

async function copyKv(kv: string, copy: string): Promise<void> {
  const source = new DatabaseSync(kv, { readOnly: true, timeout: LOCK_MS });
  try {
    await backup(source, copy, { rate: ALL_PAGES });
  } finally {
    source.close();
  }
  const made = new DatabaseSync(copy);
  try {
    requireSound(made);
  } finally {
    made.close();
  }
}

function requireSound(database: DatabaseSync): void {
  const line = database.prepare("PRAGMA quick_check(1)").get();
  if (line?.["quick_check"] !== "ok") throw new Damaged();
}

function fold(kv: string): void {
  const database = new DatabaseSync(kv, { timeout: LOCK_MS });
  try {
    requireSound(database);
    const line = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    if (line?.["busy"] !== 0) throw new Error("somebody has it open");
  } finally {
    database.close();
  }
}

async function writeBackup(
  folder: string,
  { formatJson, atMs }: Extract<BackupJob, { do: "back up" }>,
): Promise<void> {
  const copy = `${folder}/${backupFiles.copy}`;
  const { size } = await Deno.stat(copy);
  using from = await Deno.open(copy);
  using to = await Deno.open(`${folder}/${backupFiles.backup}`, {
    createNew: true,
    write: true,
    mode: 0o600,
  });
  const format = new TextEncoder().encode(formatJson);
  await writeMember(to, { name: memberNames.format, bytes: format, atMs });
  await writeAll(to, tarHead({ name: memberNames.kv, sizeBytes: size }, atMs));
  const hash = createHash("sha256");
  const piece = new Uint8Array(PIECE);
  for (let count = await from.read(piece); count !== null; count = await from.read(piece)) {
    hash.update(piece.subarray(0, count));
    await writeAll(to, piece.subarray(0, count));
  }
  await writeAll(to, new Uint8Array(paddingOf(size)));
  const sums = { format: createHash("sha256").update(format).digest("hex"), kv: hash.digest("hex") };
  await writeMember(to, { name: memberNames.sums, bytes: new TextEncoder().encode(sumsText(sums)), atMs });
  await writeAll(to, new Uint8Array(2 * TAR_BLOCK));
  await to.sync();
  await Deno.remove(copy);
}

async function writeMember(
  to: Deno.FsFile,
  { name, bytes, atMs }: { readonly name: string; readonly bytes: Uint8Array; readonly atMs: number },
): Promise<void> {
  await writeAll(to, tarHead({ name, sizeBytes: bytes.length }, atMs));
  await writeAll(to, bytes);
  await writeAll(to, new Uint8Array(paddingOf(bytes.length)));
}

/** By SQLite's own words: what a copy fails with has no number. A limit of file sizes is a failed write to it. */
function exitOf(error: unknown): number {
  const message = error instanceof Error ? error.message : "";
  if (error instanceof Damaged || /malformed|not a database/.test(message)) return backupExits.damaged;
  const isFull = /database or disk is full|disk I\/O error/.test(message) ||
    ["ENOSPC", "EFBIG", "EDQUOT"].includes(String(Reflect.get(Object(error), "code")));
  return isFull ? backupExits.noRoom : backupExits.fault;
}

/** Guarantee: the service, or the command, wrote the job. */
function parseJob(json: string): BackupJob {
  return JSON.parse(json);
}
