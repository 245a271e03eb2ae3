// Reads the report that `deno test` writes when it ends (JUnit's XML).

/** Steps of a test count as tests. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** What is said of tests that never ran, because of an error outside of all tests. */
export const CANCELLED = "Cancelled";

export interface FailedTest {
  /** Of a step: the names of the tests around it before it. */
  readonly test: string;
  /** What it said. */
  readonly text: string;
}

/** Of the tests that are written in one file. */
export interface FileReport extends Tally {
  readonly failures: readonly FailedTest[];
}

/** Paths from the folder in which it ran → what came of the tests there. Empty where the run broke off. */
export function readReport(xml: string): Map<string, FileReport> {
  const suites = xml.matchAll(/<testsuite\s([^>]*)>(.*?)<\/testsuite>/gs);
  return new Map([...suites].map(([, tag = "", body = ""]) => {
    const count = (name: string) => Number(attribute(tag, name));
    const [failed, skipped] = [count("failures") + count("errors"), count("disabled") + count("skipped")];
    const passed = Math.max(0, count("tests") - failed - skipped);
    return [attribute(tag, "name").replace(/^\.\//, ""), {
      passed,
      failed,
      skipped,
      failures: failuresIn(body),
    }];
  }));
}

function failuresIn(suite: string): FailedTest[] {
  const cases = [...suite.matchAll(/<testcase\s([^>]*)>(.*?)<\/testcase>/gs)];
  return cases.flatMap(([, tag = "", body = ""]) => {
    const [, said, text = ""] =
      /<(?:failure|error)\s([^>]*?)(?:\/>|>(.*?)<\/(?:failure|error)>)/s.exec(body) ?? [];
    return said === undefined
      ? []
      : [{ test: attribute(tag, "name"), text: decoded(text) || attribute(said, "message") }];
  });
}

function attribute(tag: string, name: string): string {
  return decoded(new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(tag)?.[1] ?? "");
}

const MARKS: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function decoded(text: string): string {
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name) => MARKS[name] ?? "");
}
