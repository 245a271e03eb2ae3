// The setting of the archive: its form, and what it needs beside it.
import { resolve } from "node:path";
import { type Form, forms, type TenantsUrl } from "./config_forms.ts";
import { optional, row, secret } from "./config_row.ts";
import { ConfigError } from "./core/errors.ts";

/** Where the archive is. */
export type ArchiveUrl =
  | { readonly kind: "folder"; readonly folder: string }
  | {
    readonly kind: "s3";
    readonly bucket: string;
    /** Ends with a slash. */
    readonly prefix: string;
    readonly endpoint: string;
    readonly region: string;
  };

/** An empty folder or prefix is none: an archive never shares its place with anything else. */
function archiveUrl(): Form<ArchiveUrl> {
  return {
    form: "file:<folder> or s3://<bucket>/<prefix>?endpoint=https://<host>&region=<region>",
    parse: (text) => folderUrl(text) ?? s3Url(text),
  };
}

function folderUrl(text: string): ArchiveUrl | undefined {
  const [, folder] = /^file:((?!\/\/)[^\s\p{Cc}](?:[^\p{Cc}]*[^\s\p{Cc}])?)$/u.exec(text) ?? [];
  if (folder === undefined || /^[./]+$/.test(folder)) return undefined;
  return { kind: "folder", folder: folder.replace(/\/+$/, "") };
}

const S3 = new RegExp(
  "^s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])/([A-Za-z0-9_-][A-Za-z0-9._/-]{0,200})" +
    "\\?endpoint=(https?://[^\\s/?#&@]+)/?&region=([a-z0-9-]{1,40})$",
);

function s3Url(text: string): ArchiveUrl | undefined {
  const [, bucket, path, endpoint, region] = S3.exec(text) ?? [];
  if (bucket === undefined || path === undefined || endpoint === undefined || region === undefined) {
    return undefined;
  }
  const prefix = path.replace(/\/+$/, "");
  if (!URL.canParse(endpoint) || prefix.split("/").some((part) => /^\.*$/.test(part))) return undefined;
  return { kind: "s3", bucket, prefix: `${prefix}/`, endpoint, region };
}

/** Their rows in the table of settings. */
export const archiveRows = {
  archiveUrl: optional(
    "ARCHIVE_URL",
    archiveUrl(),
    "Where databases of `file:` are archived, outside of `DATA_DIR`; unset: nowhere",
  ),
  archiveAccessKeyId: secret("ARCHIVE_ACCESS_KEY_ID", forms.visible(1, 200), "Name of the key for `s3:`"),
  archiveSecretAccessKey: secret("ARCHIVE_SECRET_ACCESS_KEY", forms.visible(1, 500), "The key for `s3:`"),
  archiveDays: row("ARCHIVE_DAYS", "30", forms.wholeNumber(1, 3650), "Days that moments can be restored"),
  archiveSpoolMb: row(
    "ARCHIVE_SPOOL_MB",
    "1024",
    forms.wholeNumber(64, 1_048_576),
    "MB that wait in `DATA_DIR` while the archive does not answer; beyond them there is a gap",
  ),
  archiveTakeOver: row(
    "ARCHIVE_TAKE_OVER",
    "0",
    forms.flag(),
    "Whether to go on with another installation's archive",
  ),
} as const;

/** The settings that have to fit each other. */
interface ArchiveConfig {
  readonly dataDir: string;
  readonly archiveUrl: ArchiveUrl | null;
  readonly archiveAccessKeyId: string | null;
  readonly archiveSecretAccessKey: string | null;
  readonly tenantsUrl: TenantsUrl;
}

/** Throws `ConfigError` where a setting is missing, or has no meaning. */
export function checkArchive(
  { archiveUrl: url, archiveAccessKeyId, archiveSecretAccessKey, tenantsUrl, dataDir }: ArchiveConfig,
): void {
  if (url === null) return;
  if (tenantsUrl.kind !== "file") {
    throw new ConfigError("Unset ARCHIVE_URL; it archives databases of TENANTS_URL file: only");
  }
  // It would be lost with what it archives, and lie among the spool.
  if (url.kind === "folder" && `${resolve(url.folder)}/`.startsWith(`${resolve(dataDir)}/`)) {
    throw new ConfigError(
      "Set ARCHIVE_URL to a folder outside of DATA_DIR, best on another disk; it is in it",
    );
  }
  if (url.kind === "s3" && (archiveAccessKeyId === null || archiveSecretAccessKey === null)) {
    throw new ConfigError(
      "Set ARCHIVE_ACCESS_KEY_ID and ARCHIVE_SECRET_ACCESS_KEY; ARCHIVE_URL s3://… needs them",
    );
  }
}
