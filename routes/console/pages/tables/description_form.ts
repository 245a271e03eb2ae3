// The form of descriptions: of the database, or of one table with its columns.
import type { DescriptionsInput } from "../../../../lib/services/schema/describe_schema.ts";
import type { FormFields } from "../../frame/read_form.ts";

/** Characters of one description: people read them, and every answer of `describe` carries all. */
export const MOST_CHARACTERS = 10_000;

/** The name of the field that says what another one showed. */
export function shownName(name: string): string {
  return `was-${name}`;
}

/**
 * A form without a table is about the database. Texts are cut at their bound, which the fields have too. What stands as it was
 * shown is left out: somebody else may have written it anew meanwhile.
 */
export function readDescriptions(fields: FormFields): DescriptionsInput {
  const text = (name: string) => fields.text(name).slice(0, MOST_CHARACTERS);
  const about = (name: string) => {
    const [sent, shown] = [text(name), shownName(name)];
    return fields.has(shown) && text(shown) === sent ? undefined : sent;
  };
  if (!fields.has("table")) return { databaseDescription: about("about") };
  const columns = fields.all("column").map((column, at) => ({ column, description: about(`about-${at}`) }));
  return { tables: [{ table: fields.exact("table"), description: about("about"), columns }] };
}
