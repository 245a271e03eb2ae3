// Which place the states in a data folder speak of. An operator may name another one: nothing of what is noted as sent is
// there, so everything is sent anew.
import { ConfigError } from "../../core/errors.ts";

/** A place, as `owner.json` names it. */
export interface ArchivePlace {
  readonly id: string;
  /** Nobody has archived there before. */
  readonly isNew: boolean;
}

/**
 * Forgets what `folder` knows of databases where that is about another place. `isOpen`: the databases are archived already, from
 * what was known at the start; then it throws `ConfigError` instead. A folder of an earlier version speaks of a place that it
 * has written to.
 */
export async function settlePlace(
  folder: string,
  { id, isNew, isOpen }: ArchivePlace & { readonly isOpen: boolean },
): Promise<void> {
  const path = `${folder}/place`;
  const noted = await Deno.readTextFile(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  });
  if (noted === id) return;
  const states = noted === null && !isNew ? [] : await statesIn(folder);
  if (isOpen && states.length > 0) {
    throw new ConfigError(
      "Start the service anew; ARCHIVE_URL is another place than before, and did not answer",
    );
  }
  for (const state of states) await Deno.remove(state, { recursive: true });
  await Deno.writeTextFile(`${path}.part`, id, { mode: 0o600 });
  await Deno.rename(`${path}.part`, path);
}

async function statesIn(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  return entries.filter(({ isDirectory }) => isDirectory).map(({ name }) => `${folder}/${name}`);
}
