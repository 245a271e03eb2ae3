// What a form has sent: fields by name, each once, as text.
import type { Context } from "hono";
import { AppError, invalidInput } from "../../../lib/core/errors.ts";
import { bodyText } from "../../middleware/body_text.ts";
import type { Env } from "../../http/env.ts";

/**
 * Fields that a form may have: the widest one is that of a row of a thousand columns, with three each. To read millions would
 * take seconds, and anybody may send them.
 */
const MOST_FIELDS = 20_000;
/** Characters of a field of a form that strangers send and see again: no browser has a longer address. */
const MOST_OF_STRANGERS = 65_536;

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

/** Whether a text of a form has more fields than any form of the console. */
export function hasTooManyFields(text: string): boolean {
  let count = 1;
  for (let at = text.indexOf("&"); at >= 0; at = text.indexOf("&", at + 1)) {
    if (++count > MOST_FIELDS) return true;
  }
  return false;
}

/** The form of a request. Errors: `validation_failed` for another type and for too many fields, and those of `bodyText`. */
export async function readForm(c: Context<Env>): Promise<FormFields> {
  const type = c.req.header("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) {
    throw invalidInput("content-type", "Send a form of a page of the console");
  }
  const text = await bodyText(c);
  if (hasTooManyFields(text)) {
    const message = `Send at most ${MOST_FIELDS} fields`;
    throw new AppError("validation_failed", { message });
  }
  return new FormFields(new URLSearchParams(text));
}

/**
 * The same of a page that is there for anybody, which shows again what was sent. `typed` is as long as the form that waits.
 * Errors: those of `readForm`.
 */
export async function readStrangersForm(c: Context<Env>): Promise<FormFields> {
  const form = await readForm(c);
  for (const [name, value] of form.fields) {
    if (name === "typed" || value.length <= MOST_OF_STRANGERS) continue;
    throw invalidInput(
      name.slice(0, 100),
      `Use at most ${MOST_OF_STRANGERS} characters; these are ${value.length}`,
    );
  }
  return form;
}
