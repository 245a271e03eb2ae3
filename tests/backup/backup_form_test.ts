// What a backup is as a file: whole, or refused with one sentence.
import { assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { surplus } from "../../lib/services/backup/archived_backups.ts";
import { faultsOf } from "../../lib/services/backup/check_money.ts";
import { makeBackup } from "../../lib/services/backup/run_backup_child.ts";
import { memberNames, tarHead } from "../../lib/services/backup/tar.ts";
import { unpackBackup } from "../../lib/services/backup/unpack_backup.ts";
import { dataFormat, noteFormat, readFormat, requireKnownFormat } from "../../lib/store/data_format.ts";
import { configFromEnvironment } from "../../lib/config.ts";
import type { BalanceRecord } from "../../lib/store/money_records.ts";

/** The sum of a head, as tar defines it. */
function sumOf(head: Uint8Array): number {
  return head.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 32 : byte), 0);
}

const { engineEnvironment: environment } = configFromEnvironment();
const TAKEN = Date.UTC(2026, 10, 22, 14, 30);

async function withBackup(work: (folder: string, backup: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const kv = await Deno.openKv(`${folder}/kv.sqlite3`);
    for (let at = 0; at < 50; at++) await kv.set(["thing", at], "x".repeat(3000));
    await Deno.mkdir(`${folder}/made`);
    const backup = await makeBackup(`${folder}/kv.sqlite3`, TAKEN, { folder: `${folder}/made`, environment });
    kv.close();
    await work(folder, backup);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a backup is a tar file that any tar reads, and comes apart into what went in", async () => {
  await withBackup(async (folder, backup) => {
    const listed = await new Deno.Command("tar", { args: ["tf", backup] }).output();
    assertEquals(new TextDecoder().decode(listed.stdout).split("\n").filter(Boolean), [
      "format.json",
      "kv.sqlite3",
      "SHA256SUMS",
    ]);
    await Deno.mkdir(`${folder}/apart`);
    const { format, kvPath } = await unpackBackup(backup, `${folder}/apart`);
    assertEquals(format, { ...dataFormat, takenAt: "2026-11-22T14:30:00.000Z" });
    const kv = await Deno.openKv(kvPath);
    assertEquals((await Array.fromAsync(kv.list({ prefix: ["thing"] }))).length, 50);
    kv.close();
  });
});

Deno.test("a backup that is cut, altered or longer is refused wherever that is, and leaves nothing", async () => {
  await withBackup(async (folder, backup) => {
    const whole = await Deno.readFile(backup);
    const refused = async (bytes: Uint8Array, why: string) => {
      await Deno.writeFile(`${folder}/bad.tar`, bytes);
      await Deno.mkdir(`${folder}/apart`);
      const found = await unpackBackup(`${folder}/bad.tar`, `${folder}/apart`).then(() => why, String);
      assertMatch(found, /^ConfigError: (?:Take another backup|Bring format.json back)/, why);
      assertEquals(await Array.fromAsync(Deno.readDir(`${folder}/apart`)), [], why);
      await Deno.remove(`${folder}/apart`);
    };
    for (const length of [0, 100, 512, 600, 1536, 4000, whole.length - 2000, whole.length - 1]) {
      await refused(whole.subarray(0, length), `cut at ${length}`);
    }
    // Owners, modes and what stands behind a text are nobody's: all else counts.
    for (
      const at of [
        0,
        130,
        520,
        560,
        1024,
        1155,
        1600,
        9000,
        whole.length - 2500,
        whole.length - 1500,
        whole.length - 3,
      ]
    ) {
      const altered = whole.slice();
      altered[at] = (altered[at] ?? 0) ^ 1;
      await refused(altered, `altered at ${at}`);
    }
    await refused(new Uint8Array([...whole, 0]), "longer");
    const below = whole.slice();
    below.set(tarHead({ name: memberNames.format, sizeBytes: 0 }, TAKEN));
    below.set(new TextEncoder().encode("-0000000001"), 124);
    below.set(new TextEncoder().encode(sumOf(below.subarray(0, 512)).toString(8).padStart(6, "0")), 148);
    await refused(below, "less than nothing");
  });
});

Deno.test("data of a newer version is refused by one sentence before anything of it is opened; what can be read is read", async () => {
  const newer = { format: 3, oldestReader: 2, writtenBy: "cubby 9" };
  assertThrows(
    () => readFormat(JSON.stringify(newer)),
    /Use a newer version: .*format 3 \(cubby 9\) which needs 2$/,
  );
  assertEquals(readFormat(JSON.stringify({ ...newer, oldestReader: 1 })).format, 3);
  for (
    const text of ["", "{}", "null", "[]", '{"format":"1"}', '{"format":0,"oldestReader":1,"writtenBy":""}']
  ) {
    assertThrows(() => readFormat(text), /^ConfigError: Bring format.json back/);
  }
  await withBackup(async (folder, backup) => {
    const bytes = await Deno.readFile(backup);
    // Of the same length, so that the form is whole but for the sums, which are not looked at.
    const text = JSON.stringify({ ...newer, takenAt: "2026-11-22T14:30:00.000Z" });
    const format = new TextDecoder().decode(bytes.subarray(512, 1024)).replace(/\0.*$/s, "");
    bytes.set(new TextEncoder().encode(text.padEnd(format.length, " ")), 512);
    await Deno.writeFile(backup, bytes);
    await assertRejects(() => unpackBackup(backup, `${folder}/nowhere`), /Use a newer version/);
    // A folder says the same, and one with what this version can read keeps its number.
    await Deno.writeTextFile(`${folder}/format.json`, JSON.stringify(newer));
    await assertRejects(() => requireKnownFormat(folder), /Use a newer version/);
    await noteFormat(folder);
    assertEquals(JSON.parse(await Deno.readTextFile(`${folder}/format.json`)), newer);
    await Deno.remove(`${folder}/format.json`);
    await noteFormat(folder);
    await requireKnownFormat(folder);
    assertEquals(JSON.parse(await Deno.readTextFile(`${folder}/format.json`)), dataFormat);
  });
});

Deno.test("the number of the format is on the disk before its file has its name", async () => {
  const folder = await Deno.makeTempDir();
  const [open, rename] = [Deno.open, Deno.rename];
  const steps: string[] = [];
  Deno.open = async (path, options) => {
    const file = await open(path, options);
    const sync = file.sync.bind(file);
    file.sync = async () => {
      steps.push(`sync ${(await Deno.readTextFile(path)).trim()}`);
      await sync();
    };
    return file;
  };
  Deno.rename = async (from, to) => {
    steps.push(`rename to ${to}`);
    await rename(from, to);
  };
  try {
    await noteFormat(folder);
    assertEquals(steps, [`sync ${JSON.stringify(dataFormat)}`, `rename to ${folder}/format.json`]);
  } finally {
    [Deno.open, Deno.rename] = [open, rename];
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("of archived backups all of the last hour stay, then one an hour for a day, then one a day; the newest always", () => {
  const now = Date.UTC(2026, 10, 22, 12, 30);
  const at = (minutes: number, isWhole = true) => ({ takenAtMs: now - minutes * 60_000, keys: [], isWhole });
  const minutesOf = (list: ReturnType<typeof at>[], days = 30) =>
    surplus(list, now, days).map(({ takenAtMs }) => (now - takenAtMs) / 60_000);
  assertEquals(minutesOf([at(1), at(2), at(59)]), []);
  assertEquals(minutesOf([at(1), at(70), at(80), at(95), at(130)]), [80, 130]);
  assertEquals(minutesOf([at(1), at(2000), at(2001), at(4000)]), [2001]);
  assertEquals(minutesOf([at(1), at(2000), at(4000), at(9000)], 2), [4000, 9000]);
  assertEquals(minutesOf([at(50_000), at(60_000)]), [60_000]);
  // One of a time to come stands for no other, and stays.
  assertEquals(minutesOf([at(-120), at(50_000), at(60_000)]), [60_000]);
  // One that never became whole is in the way of nobody, and may be being written.
  assertEquals(minutesOf([at(1, false), at(70, false), at(75)]), [70]);
});

Deno.test("money that does not add up is named", () => {
  const fine: BalanceRecord = {
    ...{ balanceNanoUsd: 5, reservedNanoUsd: 3, usedNanoUsd: 2, creditedNanoUsd: 10, writtenOffNanoUsd: 7 },
    ...{ monthlyCapNanoUsd: null, month: "2026-11", monthUsedNanoUsd: 2 },
  };
  assertEquals(faultsOf(fine, { blocks: 3, credits: 10 }), []);
  assertEquals(faultsOf({ ...fine, usedNanoUsd: 3 }, { blocks: 3, credits: 10 }), [
    "credited 10, but balance, reserved and used are 11",
  ]);
  assertEquals(faultsOf(fine, { blocks: 2, credits: 9 }).length, 2);
});
