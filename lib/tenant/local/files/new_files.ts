// Makes the files of new databases: an engine child makes the first one of this process, the others are copies of it as
// it was then, before anybody could write to it. So a new database takes one sync and waits for nobody's work.
import { folderOf } from "../../../core/folder_of.ts";
import { databasePath, makeFolder } from "./tenant_paths.ts";
import { removeIfThere } from "../../../store/if_there.ts";
import { writeAll } from "../../../store/write_all.ts";

/** What this needs of the store. */
export interface NewFilesOptions {
  /** The folder of all databases. */
  readonly tenants: string;
  /** Has an engine child make the file, whole and on the disk. Rejects with the code that the caller is told. */
  readonly makeInChild: (databaseId: string) => Promise<unknown>;
}

/** The files of new databases. */
export class NewFiles {
  #template: Uint8Array | null = null;
  /** Never rejects. */
  #learning: Promise<void> | null = null;

  constructor(private readonly options: NewFilesOptions) {}

  /** Makes the file of a new, empty database, on the disk when this resolves with its bytes. Errors: those of `makeInChild`. */
  async make(databaseId: string): Promise<number> {
    // Those that come while the first one is being made wait for it; where that fails, the next one is the first.
    while (this.#learning !== null) await this.#learning;
    if (this.#template !== null && await this.#copy(this.#template, databaseId)) return this.#template.length;
    const made = this.#makeInChild(databaseId);
    if (this.#template === null) {
      this.#learning = made.then(() => {}, () => {}).then(() => {
        this.#learning = null;
      });
    }
    return await made;
  }

  async #makeInChild(databaseId: string): Promise<number> {
    await makeFolder(this.options.tenants, databaseId);
    await this.options.makeInChild(databaseId);
    this.#template ??= await Deno.readFile(databasePath(this.options.tenants, databaseId));
    return this.#template.length;
  }

  /** Whether there is a copy now; after a failure, which a child can tell better, there is nothing. */
  async #copy(template: Uint8Array, databaseId: string): Promise<boolean> {
    const path = databasePath(this.options.tenants, databaseId);
    try {
      await this.#write(template, path, databaseId);
      return true;
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) await removeIfThere(path);
      return false;
    }
  }

  async #write(template: Uint8Array, path: string, databaseId: string): Promise<void> {
    using file = await this.#open(path, databaseId);
    await writeAll(file, template);
    using folder = await Deno.open(folderOf(path));
    // Both take part in one commit of the file system.
    await Promise.all([file.sync(), folder.sync()]);
  }

  async #open(path: string, databaseId: string): Promise<Deno.FsFile> {
    const open = () => Deno.open(path, { createNew: true, write: true, mode: 0o600 });
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      await makeFolder(this.options.tenants, databaseId);
      using parent = await Deno.open(this.options.tenants);
      await parent.sync();
      return await open();
    }
  }
}
