// The number of what stands in the data folder and in a backup: a version that does not know it opens nothing there.
import { ConfigError } from "../core/errors.ts";
import { ifThere } from "./if_there.ts";
import { jsonOf } from "../core/json_of.ts";

/** What `format.json` holds. */
export interface DataFormat {
  /** Raised with every change of what is stored. */
  readonly format: number;
  /** The lowest number whose version can read this. */
  readonly oldestReader: number;
  /** The program that wrote it, for people. */
  readonly writtenBy: string;
}

/** What this version writes. */
export const dataFormat: DataFormat = { format: 1, oldestReader: 1, writtenBy: "cubby 1" };

const FILE = "format.json";

/** Reads the text of a `format.json`. Throws `ConfigError` where it is none, or is newer than this version can read. */
export function readFormat(text: string): DataFormat {
  const { format, oldestReader, writtenBy } = parse(text) ?? {};
  if (!isNumber(format) || !isNumber(oldestReader) || typeof writtenBy !== "string") {
    throw new ConfigError(`Bring ${FILE} back from a backup; it does not say which format the data has`);
  }
  if (oldestReader > dataFormat.format) {
    throw new ConfigError(
      `Use a newer version: this one knows formats up to ${dataFormat.format}, and this data has format ${format} ` +
        `(${writtenBy.replaceAll(/[^\w .()-]/g, "?").slice(0, 40)}) which needs ${oldestReader}`,
    );
  }
  return { format, oldestReader, writtenBy };
}

/** Throws `ConfigError` where the folder is of a newer version; one without a number is of the first. */
export async function requireKnownFormat(dataDir: string): Promise<void> {
  const text = await ifThere(Deno.readTextFile(`${dataDir}/${FILE}`));
  if (text !== null) readFormat(text);
}

/** Writes the number, unless the folder has this or a newer one. Where there is no room for it, the next start writes it. */
export async function noteFormat(dataDir: string): Promise<void> {
  const path = `${dataDir}/${FILE}`;
  const found = parse(await Deno.readTextFile(path).catch(() => ""));
  if (isNumber(found?.format) && found.format >= dataFormat.format) return;
  const part = `${path}.part`;
  try {
    await Deno.writeTextFile(part, `${JSON.stringify(dataFormat)}\n`, { mode: 0o600 });
    {
      // Where the power failed soon after the rename, the file would be there and empty, and no start would go on.
      using written = await Deno.open(part);
      await written.sync();
    }
    await Deno.rename(part, path);
  } catch {
    await Deno.remove(part).catch(() => {});
  }
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function parse(text: string): Partial<DataFormat> | null {
  const value = jsonOf(text);
  return typeof value === "object" ? value : null;
}
