// Who writes an archive: one installation, and of it one process. A prefix that somebody else writes is never touched.
import { ConfigError } from "../../core/errors.ts";
import type { ArchivePlace, NotedPlace } from "./archive_place.ts";
import type { ObjectStore } from "../object_store.ts";
import { type Installation, isSame } from "./installation.ts";

const KEY = "owner.json";

/** The record of the owner. */
interface OwnerRecord extends Installation {
  /** One start of the installation. */
  readonly start: string;
  /** Which place this is; absent: an earlier version wrote the record. */
  readonly place?: string;
}

/** This process as the owner of an archive. */
export class ArchiveOwner {
  readonly #start = crypto.randomUUID();
  #tag: string | null = null;

  /** `takeOver`: another installation's archive becomes this one's. */
  constructor(
    private readonly store: Pick<ObjectStore, "get" | "put">,
    private readonly installation: Installation,
    private readonly options: {
      readonly takeOver: boolean;
      readonly noted: NotedPlace;
    },
  ) {}

  /**
   * Becomes the owner. `isOpen`: databases are archived already, from what was known at the start. Rejects where the store does
   * not answer; throws `ConfigError` where somebody else is, and where it is another place than that of an open archive.
   */
  async claim({ isOpen }: { readonly isOpen: boolean }): Promise<void> {
    const found = await this.store.get(KEY);
    const known = found === null ? {} : parse(found.bytes) ?? {};
    if (found !== null && !this.options.takeOver && !isSame(known, this.installation)) {
      throw new ConfigError(
        "Give ARCHIVE_URL a prefix of its own, or set ARCHIVE_TAKE_OVER=1 once where the other one has ended for good; " +
          "another installation, or the one that this data folder is a copy of, archives there",
      );
    }
    const { noted } = this.options;
    const isNamedNow = found !== null && known.place === undefined;
    const place: ArchivePlace = { id: known.place ?? crypto.randomUUID(), isNamedNow };
    if (isOpen && await noted.isOther(place)) {
      throw new ConfigError(
        "Start the service anew; ARCHIVE_URL is another place than before, and did not answer",
      );
    }
    const record: OwnerRecord = { ...this.installation, start: this.#start, place: place.id };
    const bytes = new TextEncoder().encode(JSON.stringify(record));
    if (!await this.store.put(KEY, bytes, found?.tag ?? null)) {
      throw new ConfigError(
        "Start one service at a time on ARCHIVE_URL; another one has just begun to archive there",
      );
    }
    await noted.settle(place);
    this.#tag = (await this.store.get(KEY))?.tag ?? null;
  }

  /** Whether this process still is the owner; before it has claimed the prefix, it claims it. */
  async holds(): Promise<boolean> {
    if (this.#tag === null) {
      try {
        await this.claim({ isOpen: true });
      } catch (error) {
        if (error instanceof ConfigError) return false;
        throw error;
      }
    }
    const found = await this.store.get(KEY);
    return found !== null && parse(found.bytes)?.start === this.#start;
  }
}

function parse(bytes: Uint8Array): Partial<OwnerRecord> | null {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}
