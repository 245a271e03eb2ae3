// A store whose databases are archived, and how its tests look at moments.
import { assert } from "@std/assert";
import { type Clock, systemClock } from "../../lib/core/clock.ts";
import { AppError } from "../../lib/core/errors.ts";
import { pause } from "../../lib/core/pause.ts";
import type { ArchiveUrl } from "../../lib/config_archive.ts";
import type { LocalStore } from "../../lib/tenant/local/local_store.ts";
import { Tenant } from "../contracts/tenant_store.ts";
import { openLocalStore } from "../testing/local_store.ts";
import { S3_KEYS, type S3Server, startS3 } from "../testing/s3_server.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

export interface ArchivedStoreOptions {
  readonly clock?: Clock;
  readonly spoolMb?: number;
  readonly takeOver?: boolean;
  readonly secretAccessKey?: string;
}

/** Opens a store on `folder` that archives there. */
export function openArchived(
  folder: string,
  url: ArchiveUrl,
  more: ArchivedStoreOptions = {},
): Promise<LocalStore> {
  const { clock = systemClock, spoolMb = 64, takeOver = false, secretAccessKey } = more;
  const keys = { ...S3_KEYS, ...(secretAccessKey === undefined ? {} : { secretAccessKey }) };
  return openLocalStore(folder, { clock, archive: { url, keys, days: 30, spoolMb, takeOver } });
}

/** A bucket of that server, as `ARCHIVE_URL` names it. */
export function bucketOf({ endpoint }: S3Server): ArchiveUrl {
  return { kind: "s3", bucket: "shop", prefix: "cubby/", endpoint, region: "eu-central-1" };
}

/** A bucket, and stores that archive there: each in a folder below `root`, closed at the end. */
interface BucketWorld {
  readonly s3: S3Server;
  readonly root: string;
  readonly clock: TurnableClock;
  open(folder: string, more?: ArchivedStoreOptions): Promise<LocalStore>;
}

/** Works with such a world, which is gone behind it. */
export async function withBucket(work: (world: BucketWorld) => Promise<void>): Promise<void> {
  const s3 = startS3();
  const root = await Deno.makeTempDir();
  const clock = new TurnableClock();
  s3.now = () => clock.now();
  const opened: LocalStore[] = [];
  const open: BucketWorld["open"] = async (folder, more) => {
    const store = await openArchived(`${root}/${folder}`, bucketOf(s3), { clock, ...more });
    opened.push(store);
    return store;
  };
  try {
    await work({ s3, root, clock, open });
  } finally {
    await Promise.all(opened.map((store) => store.close()));
    await s3.close();
    await Deno.remove(root, { recursive: true });
  }
}

/** The rows of `t` at a moment, read in a copy. */
export async function countAt(store: LocalStore, id: string, atMs: number, label: string): Promise<number> {
  assert(store.archive !== null);
  await store.archive.toSnapshot(id, { atMs, label });
  const copy = await Tenant.create(store);
  await store.drop(copy.id);
  await store.copy(copy.id, { databaseId: id, snapshot: label });
  const [[count] = []] = await Tenant.at(store, copy.id).rows("SELECT count(*) FROM t");
  return Number(count);
}

/** The code of the error, `done` without one. */
export async function codeOf(work: Promise<unknown> | undefined): Promise<string> {
  return await (work ?? Promise.resolve())
    .then(() => "done", (error) => error instanceof AppError ? error.code : String(error));
}

/** Waits until it is so. */
export async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!await holds()) await pause(10);
}
