// No pattern of the service tries, where it does not match, all ways in which a text can be divided: whoever writes the text
// would stop every other call with some thirty characters.
import { assertEquals } from "@std/assert";
import recheck from "recheck";
import { sourceFiles } from "../architecture/source_files.ts";

interface Pattern {
  readonly source: string;
  readonly flags: string;
}

/** What the search says of a pattern, of which it finds the texts that take longest. */
interface Found {
  readonly status: "safe" | "vulnerable" | "unknown";
  readonly complexity?: { readonly type: string };
}

/** As the library documents it; its module for browsers has no types. */
interface Library {
  checkSync(source: string, flags: string, options: { timeout: number }): Found;
}

const { checkSync }: Library = recheck;

/** A group that comes more than once: no other pattern takes more than a power of its text's length. */
const REPEATED = /\)[*+{]/;

/** Reports each pattern as a finding. */
const patternReader: Deno.lint.Plugin = {
  name: "patterns",
  rules: {
    literals: {
      create: (context) => ({
        Literal(node) {
          if (!(node.value instanceof RegExp)) return;
          const { source, flags } = node.value;
          context.report({ node, message: JSON.stringify({ source, flags }) });
        },
      }),
    },
  },
};

function patternsIn(url: URL, text: string): Pattern[] {
  return Deno.lint.runPlugin(patternReader, url.pathname, text).map(({ message }) => JSON.parse(message));
}

function timeOf({ source, flags }: Pattern): string {
  // On a quiet machine the longest takes three seconds, beside other tests several times that.
  const { status, complexity } = checkSync(source, flags, { timeout: 60_000 });
  return status === "unknown" ? status : complexity?.type ?? status;
}

Deno.test("no pattern takes time that doubles with each character", async () => {
  const files = (await sourceFiles()).filter(({ path }) => !path.startsWith("tests/"));
  const patterns = files.flatMap(({ path, url, text }) =>
    patternsIn(url, text).map((pattern) => ({ path, ...pattern }))
  );
  const repeated = patterns.filter(({ source }) => REPEATED.test(source));
  // A reader that finds none would find nothing wrong.
  assertEquals(patterns.length > 500 && repeated.length > 10, true, `${patterns.length}, ${repeated.length}`);
  const wrong = repeated.map((pattern) => `${pattern.path}: ${pattern.source}: ${timeOf(pattern)}`)
    .filter((line) => /: (exponential|unknown)$/.test(line));
  assertEquals(wrong, []);
  const first = { source: String.raw`^(?:\s|\/\*[^]*?\*\/)*(?:BEGIN|END)\b`, flags: "i" };
  assertEquals([REPEATED.test(first.source), timeOf(first)], [true, "exponential"]);
});
