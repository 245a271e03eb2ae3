// A page of the documentation as the table of pages has it.

/** A part of the contents. */
export type DocGroup = "Start" | "Guides" | "Reference" | "Design";

/** A row of the table of pages. */
export interface DocPage {
  readonly group: DocGroup;
  /** Its address is `/docs/<slug>`. */
  readonly slug: string;
  /** As its first heading says; of the README, what contents call it. */
  readonly title: string;
  /** One sentence for lists of pages. */
  readonly about: string;
  /** The file, from this folder: what links in other pages name. */
  readonly file: string;
  /** The file's text. */
  readonly load: () => Promise<{ readonly default: string }>;
}
