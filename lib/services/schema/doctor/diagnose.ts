// Runs every check of the table over what was read.
import { doctorChecks } from "./doctor_checks.ts";
import type { Examined } from "./examined.ts";
import type { CheckCode, Finding } from "./finding.ts";

/** Findings in the order of the table, then of the schema. */
export function diagnose(examined: Examined): Finding[] {
  return codes().flatMap((code) => {
    const { severity, find } = doctorChecks[code];
    return find(examined).map((found) => ({ code, severity, ...found }));
  });
}

/** Guarantee: the keys of the table are its type's. */
function codes(): CheckCode[] {
  return Object.keys(doctorChecks) as CheckCode[];
}
