// The readable parts of a specification that is wrong elsewhere, so that the validator can name every issue at once.
import type { z } from "zod";
import { endpointSpec, type FieldSpec, fieldSpec } from "../../../core/endpoint_spec.ts";
import { isObject } from "../../../core/json_of.ts";

const withoutInput = endpointSpec.omit({ input: true }).partial();

/** A specification without its missing and malformed members. */
export interface SpecParts extends z.output<typeof withoutInput> {
  /** Null stands for a malformed input. Undefined where there is no list of a legal length. */
  readonly input: readonly (FieldSpec | null)[] | undefined;
}

const MAX_INPUT = 100;

/** Reads what it can of an unchecked specification. Never throws. */
export function specParts(raw: unknown): SpecParts {
  if (!isObject(raw)) return { input: undefined };
  const { input, ...rest } = raw;
  return { ...readable(rest), input: readableInput(input) };
}

function readable(rest: Record<string, unknown>): z.output<typeof withoutInput> {
  const first = withoutInput.safeParse(rest);
  if (first.success) return first.data;
  const bad = new Set(
    first.error.issues.flatMap((issue) =>
      issue.code === "unrecognized_keys" && issue.path.length === 0 ? issue.keys : issue.path.slice(0, 1)
    ),
  );
  const second = withoutInput.safeParse(
    Object.fromEntries(Object.entries(rest).filter(([name]) => !bad.has(name))),
  );
  return second.success ? second.data : {};
}

function readableInput(input: unknown): SpecParts["input"] {
  if (!Array.isArray(input) || input.length > MAX_INPUT) return undefined;
  return input.map((field) => fieldSpec.safeParse(field).data ?? null);
}
