// Which place the states in a data folder speak of. An operator may name another one: nothing of what is noted as sent is
// there, so everything is sent anew.
import { ifThere } from "../../store/if_there.ts";

/** A place, as `owner.json` names it. */
export interface ArchivePlace {
  readonly id: string;
  /** It had no name until now: an earlier version has archived there, and has noted no place in its folder. */
  readonly isNamedNow: boolean;
}

/** The place that the states in a folder speak of. */
export class NotedPlace {
  readonly #path: string;

  constructor(private readonly folder: string) {
    this.#path = `${folder}/place`;
  }

  /** Whether there are states that speak of another one. */
  async isOther(place: ArchivePlace): Promise<boolean> {
    return (await this.#statesOfOther(place)).length > 0;
  }

  /** Notes the place, and forgets what speaks of another one: first that, so that an end between the two leaves neither. */
  async settle(place: ArchivePlace): Promise<void> {
    for (const state of await this.#statesOfOther(place)) await Deno.remove(state, { recursive: true });
    await Deno.writeTextFile(`${this.#path}.part`, place.id, { mode: 0o600 });
    await Deno.rename(`${this.#path}.part`, this.#path);
  }

  /** Folders of states. */
  async #statesOfOther({ id, isNamedNow }: ArchivePlace): Promise<string[]> {
    const noted = await ifThere(Deno.readTextFile(this.#path));
    if (noted === id || noted === null && isNamedNow) return [];
    const entries = await Array.fromAsync(Deno.readDir(this.folder));
    return entries.filter(({ isDirectory }) => isDirectory).map(({ name }) => `${this.folder}/${name}`);
  }
}
