// Pulls the plug of the disk while the service writes, by hand and as root: `deno run -A tests/faults/power_cuts.ts --cuts 20`.
// `DATA_DIR` is on a disk that is a file. A copy of that file, made at one instant, is what a real disk would hold if the power
// failed then: what the service and the system still had in memory is not in it. The copy is mounted, a second service starts
// on it, and all that was answered before has to be there. Needs Linux, mkfs.xfs (the copy at one instant is XFS's) and, for
// `--disk ext4`, mkfs.ext4. Ends with code 1 on any loss.
import { DatabaseSync } from "node:sqlite";
import { pause } from "../../lib/core/pause.ts";
import { print } from "../testing/print.ts";
import { type Moment, type PowerWorld, startActs } from "./power_acts.ts";
import { type RunningService, startService } from "../testing/start_service.ts";

const HOST_BYTES = 16 * 1024 ** 3;
const DISK_BYTES = 2 * 1024 ** 3;
/** Milliseconds between two cuts. The service puts files to rest after a minute, so that a long run has such too. */
const BETWEEN_MS = 4000;

const options = new Map<string, string>();
for (let at = 0; at < Deno.args.length; at += 2) options.set(Deno.args[at] ?? "", Deno.args[at + 1] ?? "");
const cuts = Number(options.get("--cuts") ?? 10);
const kind = options.get("--disk") ?? "ext4";
if (Deno.uid() !== 0 || !(cuts > 0) || !["ext4", "xfs"].includes(kind)) {
  throw new TypeError("As root: --cuts with a number from 1, --disk with ext4 or xfs");
}

async function run(...[command = "", ...args]: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args, stdout: "null" }).output();
  if (!success) throw new Error(`${command} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}

/** A file with a file system in it, mounted on a folder beside it. */
async function makeDisk(file: string, bytes: number, type: string): Promise<string> {
  await run("truncate", "-s", String(bytes), file);
  await run(`mkfs.${type}`, "-q", file);
  return await mount(file, type);
}

async function mount(file: string, type: string): Promise<string> {
  const folder = `${file}.mounted`;
  await Deno.mkdir(folder, { recursive: true });
  await run("mount", "-o", type === "xfs" ? "loop,nouuid" : "loop", file, folder);
  return folder;
}

const scratch = await Deno.makeTempDir({ prefix: "cubby_power_" });
const mounted: string[] = [];
const operatorKey = `cub_op_${crypto.randomUUID()}`;
const settings = { OPERATOR_KEY: operatorKey, DEMO: "0", TENANTS_URL: "file:", WELCOME_CREDIT_USD: "1000" };
let losses = 0;
let isEnded = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => isEnded = true);
try {
  const host = await makeDisk(`${scratch}/host`, HOST_BYTES, "xfs");
  mounted.push(host);
  const disk = `${host}/disk`;
  const folder = await makeDisk(disk, DISK_BYTES, kind);
  mounted.push(folder);
  await using service = await startService({ folder: `${folder}/data`, settings });
  const world: PowerWorld = { url: service.url, operatorKey };
  const acts = await startActs(world);
  for (let cut = 1; cut <= cuts && !isEnded; cut++) {
    await pause(BETWEEN_MS * (0.5 + Math.random()));
    const moment = await acts.during(() => run("cp", "--reflink=always", disk, `${disk}.${cut}`));
    const found = await lookAt(`${disk}.${cut}`, moment);
    losses += found.length;
    print(
      `cut ${cut}: ${moment.answered} answers before it${found.length === 0 ? "" : `, ${found.length} LOST`}`,
    );
    for (const line of found.slice(0, 10)) print(`  ${line}`);
  }
  await acts.stop();
  for (const line of errorsOf(service).slice(0, 5)) print(`log: ${line}`);
} finally {
  for (const one of mounted.reverse()) await run("umount", one);
  await Deno.remove(scratch, { recursive: true });
}
print(losses === 0 ? "nothing that was answered is lost" : `${losses} losses`);
Deno.exit(losses === 0 ? 0 : 1);

/** What is wrong on the copy of the disk. */
async function lookAt(copy: string, moment: Moment): Promise<string[]> {
  const folder = await mount(copy, kind);
  try {
    await using service = await startService({ folder: `${folder}/data`, settings });
    const found = await moment.look({ url: service.url, operatorKey });
    const { code } = await service.stop();
    if (code !== 0) found.push(`the service on the copy ended with ${code}`);
    found.push(...errorsOf(service), ...await damagedIn(`${folder}/data`));
    return found;
  } catch (error) {
    return [String(error)];
  } finally {
    await run("umount", folder);
    await Deno.remove(copy);
  }
}

function errorsOf(service: RunningService): string[] {
  return service.errors().split("\n").filter((line) => line.includes('"level":"error"'));
}

/** Of all files of SQLite in a folder, those that it finds damaged. */
async function damagedIn(folder: string): Promise<string[]> {
  const damaged: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) damaged.push(...await damagedIn(path));
    else if (/\.(?:db|sqlite3)$/.test(name)) {
      const database = new DatabaseSync(path);
      const told = database.prepare("PRAGMA integrity_check").all().map((row) => Object.values(row).join());
      database.close();
      if (told.join() !== "ok") damaged.push(`${path}: ${told.slice(0, 3).join("; ")}`);
    }
  }
  return damaged;
}
