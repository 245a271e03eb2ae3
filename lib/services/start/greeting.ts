// What a start prints: where the service is, and the secrets that it has made.
import { startUrl } from "../people/link_urls.ts";
import { DEMO_SLUG, type DemoSecrets } from "./first_start.ts";

/** What this start has made. */
export interface GreetingInput {
  /** Where the port is bound: what a proxy is pointed at. */
  readonly boundUrl: string;
  readonly baseUrl: string;
  /** Set when this start has made the demo. */
  readonly demo: DemoSecrets | null;
}

/**
 * Says the key that this start has made. Only its hash is kept: so it is said before anything else can fail, or the start be
 * ended.
 */
export function keyGreeting(operatorKey: string): string {
  return `The operator key makes namespaces. It is shown this once:\n  ${operatorKey}\n\n`;
}

/** Lines for standard output. Secrets appear here once and nowhere else. */
export function greeting({ boundUrl, baseUrl, demo }: GreetingInput): string {
  // Behind a path that a proxy takes away pages have no address: they begin at the root.
  const hasPath = new URL(baseUrl).pathname !== "/";
  const pages = hasPath ? boundUrl : baseUrl;
  const lines = [
    `Cubby listens on ${boundUrl}`,
    ...baseUrl === boundUrl ? [] : [`Its address is ${baseUrl}`],
    ...hasPath ? ["Only the API works behind that path; pages need a BASE_URL without one"] : [],
    `Its console is at ${pages}/console`,
    `Its documentation is at ${pages}/docs`,
  ];
  if (demo !== null) {
    lines.push(
      "",
      `A demo shop is in namespace "${DEMO_SLUG}", database "${DEMO_SLUG}". Its admin token, shown this once:`,
      `  ${demo.token}`,
      "",
      "Become its first admin in the console, by this link, once and within a day:",
      `  ${startUrl(pages, demo.startToken)}`,
      "",
      "Try it:",
      ...demoCalls(baseUrl, demo.token).map((line) => `  ${line}`),
    );
  }
  return `${lines.join("\n")}\n`;
}

function demoCalls(baseUrl: string, token: string): string[] {
  const database = `${baseUrl}/v1/db/${DEMO_SLUG}/${DEMO_SLUG}`;
  const bearer = `-H 'Authorization: Bearer ${token}'`;
  const query = (sql: string, params: unknown[]) =>
    `curl -s ${database}/query ${bearer} -d '${JSON.stringify({ sql, params })}'`;
  return [
    `curl -s ${baseUrl}/p/${DEMO_SLUG}/${DEMO_SLUG}/list-products`,
    query("SELECT name, price_cents FROM products WHERE price_cents > ? ORDER BY price_cents", [1500]),
    query("INSERT INTO products (name, price_cents) VALUES (?, ?)", ["Eraser", 90]),
  ];
}
