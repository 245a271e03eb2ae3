// What a form has sent: fields by name, each once, as text.
import type { Context } from "hono";
import { invalidInput } from "../../../lib/core/errors.ts";
import { bodyText } from "../../middleware/body_text.ts";
import type { Env } from "../../http/env.ts";

/** The fields of a form. */
export class FormFields {
  constructor(readonly fields: URLSearchParams) {}

  /** Of a text field, without spaces around it; empty where it was left empty. */
  text(name: string): string {
    return this.exact(name).trim();
  }

  /** As typed: passwords, values, SQL. Browsers send the end of a line as two characters; here it is one. */
  exact(name: string): string {
    return (this.fields.get(name) ?? "").replaceAll("\r\n", "\n");
  }

  /** Undefined where it was left empty. */
  optional(name: string): string | undefined {
    return this.text(name) === "" ? undefined : this.text(name);
  }

  /** Of boxes with the same name. */
  all(name: string): string[] {
    return this.fields.getAll(name);
  }

  /** Of a text field that takes several names. */
  names(name: string): string[] {
    return this.text(name).split(/[\s,]+/).filter((one) => one !== "");
  }

  /** Whether a box was ticked. */
  has(name: string): boolean {
    return this.fields.has(name);
  }
}

/** The form of a request. Errors: `validation_failed` for another type, and those of `bodyText`. */
export async function readForm(c: Context<Env>): Promise<FormFields> {
  const type = c.req.header("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) {
    throw invalidInput("content-type", "Send a form of a page of the console");
  }
  return new FormFields(new URLSearchParams(await bodyText(c)));
}
