// The form of descriptions: of the database, or of one table with its columns.
import type { DescriptionsInput } from "../../../lib/services/schema/describe_schema.ts";
import type { FormFields } from "../frame/read_form.ts";

/** Characters of one description: people read them, and every answer of `describe` carries all. */
export const MOST_CHARACTERS = 10_000;

/** A form without a table is about the database. Texts are cut at their bound, which the fields have too. */
export function readDescriptions(fields: FormFields): DescriptionsInput {
  const about = (name: string) => fields.text(name).slice(0, MOST_CHARACTERS);
  if (!fields.has("table")) return { databaseDescription: about("about") };
  const columns = fields.all("column").map((column, at) => ({ column, description: about(`about-${at}`) }));
  return { tables: [{ table: fields.exact("table"), description: about("about"), columns }] };
}
