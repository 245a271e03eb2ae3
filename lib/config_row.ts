// One setting of the service: its environment variable, default, form and meaning.
import type { Form } from "./config_forms.ts";

/** One environment variable. `parse` answers undefined for text that does not have the wanted `form`. */
export interface ConfigRow<Value> {
  readonly variable: string;
  /** What an unset variable counts as; null: there is none and the setting is null. */
  readonly default: string | null;
  /** Completes the sentence "Set NAME to …". */
  readonly form: string;
  readonly parse: (text: string) => Value | undefined;
  /** Never echoed, and not enumerable in the record, so that no log or dump lists it. */
  readonly secret: boolean;
  readonly meaning: string;
}

/** A setting that always has a value. */
export function row<Value>(
  variable: string,
  preset: string,
  form: Form<Value>,
  meaning: string,
): ConfigRow<Value> {
  return { variable, default: preset, ...form, secret: false, meaning };
}

/** A setting that is null unless given. */
export function optional<Value>(
  variable: string,
  form: Form<Value>,
  meaning: string,
): ConfigRow<Value | null> {
  return { variable, default: null, ...form, secret: false, meaning };
}

/** The same, and its value is shown nowhere. */
export function secret<Value>(variable: string, form: Form<Value>, meaning: string): ConfigRow<Value | null> {
  return { variable, default: null, ...form, secret: true, meaning };
}
