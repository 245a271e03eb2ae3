// What a request to the console carries, beyond what every request carries.
import type { PersonCaller } from "../../lib/access/caller.ts";
import type { Proofs } from "../../lib/services/people/own_account.ts";
import type { Glance } from "../../lib/services/money/glance_at.ts";

/** One request, as pages need it. */
export interface Visit {
  /** Of this answer's Content-Security-Policy. */
  readonly nonce: string;
  readonly assets: AssetPlace;
  /** What the reader has chosen; null: as the system says. */
  readonly theme: "light" | "dark" | null;
  /** Unix milliseconds. */
  readonly now: number;
  /** Path and query of this page, for links that lead back. */
  readonly here: string;
  /** Null for whoever is not signed in. */
  readonly person: Person | null;
  /** What the rail of a namespace says. Errors: those of reading the namespace. */
  readonly railOf: (namespaceSlug: string) => Promise<Glance>;
  /** By what whoever is signed in can confirm who it is. Errors: `person_required`, `session_ended`. */
  readonly proofs: () => Promise<Proofs>;
}

/** Where style and scripts are. */
export interface AssetPlace {
  /** `/console/-/assets/<hash of all>/`, in front of a name. */
  readonly prefix: string;
  /** Whether this runtime can make scripts; without them pages still do their job. */
  readonly scripted: boolean;
  /** The modules of the SQL editor: name by which they are imported → address. Loads them. */
  readonly editorAddresses: () => Promise<Readonly<Record<string, string>>>;
}

/** Whoever is signed in. */
export interface Person {
  readonly caller: PersonCaller;
  /** Goes with every form: hidden, as `csrf`. */
  readonly csrf: string;
  /** For the rail and the account page. */
  readonly name: string;
  readonly detail: string;
}
