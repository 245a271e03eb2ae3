// Opens the store that `ARCHIVE_URL` names.
import type { ArchiveUrl } from "../../config_archive.ts";
import { FolderObjects } from "./folder_objects.ts";
import type { ObjectStore } from "../object_store.ts";

/** The keys of a bucket. */
export interface ArchiveKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** What signs requests is loaded for a bucket only. */
export async function openObjectStore(url: ArchiveUrl, keys: ArchiveKeys | null): Promise<ObjectStore> {
  if (url.kind === "folder") return new FolderObjects(url.folder);
  if (keys === null) throw new TypeError("a bucket needs keys");
  const { S3Objects } = await import("./s3_objects.ts");
  return new S3Objects({ ...url, ...keys });
}
