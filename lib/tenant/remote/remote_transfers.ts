// Exports and imports of databases that are elsewhere: a copy of the database on the server is read over the network into a
// file here, and a file that was built here is written into a new location, which becomes a snapshot.
import type { DatabaseIds } from "../../core/database_ids.ts";
import { AppError } from "../../core/errors.ts";
import { folderOf } from "../../core/folder_of.ts";
import { frameOf, itemOf } from "../transfer/child/frames.ts";
import { endBytes, FRAME_HEAD } from "../transfer/frame_form.ts";
import { transferFiles } from "../transfer/job.ts";
import type { Item } from "../transfer/child/items.ts";
import type { TransferRoom, TransferRun } from "../transfer/transfer_room.ts";
import type { TransferStore } from "../transfer/transfer_store.ts";
import { serviceTableStatements } from "../../sql/words/service_tables.ts";
import { SERVER_NOW } from "./locations/catalog.ts";
import { requireDatabase } from "./locations/claims.ts";
import { fillLocation } from "./locations/fill_location.ts";
import { copied } from "./locations/location_keeper.ts";
import { sizeOfLocation } from "./locations/locations.ts";
import { rowsAt, runOwn } from "./server/remote_context.ts";
import { locationItems } from "./locations/remote_items.ts";
import type { RemoteSnapshots } from "./copies/remote_snapshots.ts";
import type { RemoteTenant } from "./remote_tenant.ts";
import { AUTOMATIC, insertSnapshot } from "./copies/run_restore.ts";
import { reachable } from "./connection/until_answered.ts";

/** Milliseconds between two notes that a location is being worked on: without them it counts as left behind. */
const NOTE_MS = 60_000;

/** The transfers of this store. */
export class RemoteTransfers implements TransferStore {
  constructor(
    private readonly snapshots: RemoteSnapshots,
    private readonly tenant: (databaseId: string) => RemoteTenant,
    readonly room: TransferRoom,
  ) {}

  copyOut({ databaseId }: DatabaseIds, transferId: string): Promise<void> {
    return reachable(async () => {
      const { locations, context } = this.snapshots;
      const tenant = this.tenant(databaseId);
      const to = this.snapshots.newLocation(databaseId);
      const copy = await locations.copying([to], async (end) => {
        const made = await tenant.inSlot(() =>
          this.snapshots.copy(tenant.connection, { snapshot: null }, to)
        );
        await this.snapshots.catalog.change([end]);
        return made;
      });
      try {
        await this.#whileNoted(copy, () => this.#build(transferId, locationItems(context, copy)));
      } finally {
        await locations.letGo([copy], []);
      }
    });
  }

  adopt({ databaseId }: DatabaseIds, built: string, label: string): Promise<void> {
    return reachable(async () => {
      const { locations, context, catalog } = this.snapshots;
      const to = this.snapshots.newLocation(databaseId);
      await locations.copying([to], async (end) => {
        await context.platform.create(to);
        await catalog.change([end]);
      });
      try {
        await this.#whileNoted(to, () => this.#fill(to, built));
        const createdAt = context.clock.now();
        const sizeBytes = await sizeOfLocation(context, to);
        const snapshot = {
          label,
          location: to,
          createdAt,
          sizeBytes,
          automatic: label.startsWith(AUTOMATIC),
        };
        const isListed = await catalog.made(
          [requireDatabase(databaseId), insertSnapshot(databaseId, snapshot), copied(to)],
          async () => (await catalog.snapshots(databaseId)).some((one) => one.location === to),
        );
        if (!isListed) throw new AppError("store_unavailable");
      } catch (error) {
        await locations.letGo([to], []).catch(() => {});
        throw error;
      }
    });
  }

  async forget({ databaseId }: DatabaseIds, label: string): Promise<void> {
    await this.snapshots.dropUnused(databaseId, label);
  }

  /** Builds the copy of what is read over the network, in a child. */
  async #build(transferId: string, items: AsyncIterable<Item>): Promise<void> {
    const run = await this.room.start(transferId, { do: "copy" });
    try {
      await run.process.stdout.cancel();
      const input = run.process.stdin.getWriter();
      for await (const item of items) await input.write(frameOf(item));
      await input.write(endBytes());
      await input.close();
      const { state, failure } = await run.ended;
      if (state !== "done") {
        throw new AppError(failure?.kind === "room" ? "storage_full" : "store_unavailable");
      }
    } finally {
      run.kill();
      await run.ended;
      await run.process.stdin.abort().catch(() => {});
    }
  }

  /** A child reads the file that another one has built: this process holds no engine. */
  async #fill(location: string, built: string): Promise<void> {
    const { context } = this.snapshots;
    const steps = serviceTableStatements.map((sql) => ({ stmt: { sql } }));
    const results = await runOwn(context, { location, mode: "write" }, steps);
    for (const at of steps.keys()) rowsAt(results, at);
    const folder = folderOf(built);
    await Deno.rename(built, `${folder}/${transferFiles.upload}`);
    const run = await this.room.startIn(folder, { do: "read", format: "sqlite" });
    try {
      await run.process.stdin.close();
      await fillLocation(context, location, itemsOf(run));
    } finally {
      run.kill();
      await run.ended;
      await run.process.stdout.cancel().catch(() => {});
    }
  }

  /** Until its end the location counts as orphaned, and as young. */
  async #whileNoted<Value>(location: string, work: () => Promise<Value>): Promise<Value> {
    const { catalog } = this.snapshots;
    const note = () =>
      void catalog.change([[`INSERT OR REPLACE INTO loose VALUES (?, ${SERVER_NOW})`, [location]]]).catch(
        () => {},
      );
    const timer = setInterval(note, NOTE_MS);
    try {
      return await work();
    } finally {
      clearInterval(timer);
    }
  }
}

/** The items that a child writes. Errors: `store_unavailable` where it ends in the middle. */
async function* itemsOf(run: TransferRun): AsyncGenerator<Item> {
  let rest: Uint8Array = new Uint8Array();
  for await (const chunk of run.process.stdout) {
    const bytes = new Uint8Array(rest.length + chunk.length);
    bytes.set(rest);
    bytes.set(chunk, rest.length);
    let at = 0;
    while (bytes.length - at >= FRAME_HEAD) {
      const whole = FRAME_HEAD + new DataView(bytes.buffer, at).getUint32(0);
      if (bytes.length - at < whole) break;
      yield itemOf(bytes.subarray(at + FRAME_HEAD, at + whole));
      at += whole;
    }
    rest = bytes.slice(at);
  }
  if (rest.length > 0 || (await run.ended).state !== "done") throw new AppError("store_unavailable");
}
