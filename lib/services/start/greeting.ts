// What the start prints for the person in front of it.
import { DEMO_SLUG } from "./first_start.ts";

/** What this start has made. */
export interface GreetingInput {
  readonly baseUrl: string;
  /** Set when this start has made the key. */
  readonly operatorKey: string | null;
  /** Set when this start has made the demo. */
  readonly demoToken: string | null;
}

/** Lines for standard output. Secrets appear here once and nowhere else. */
export function greeting({ baseUrl, operatorKey, demoToken }: GreetingInput): string {
  const lines = [`Cubby listens on ${baseUrl}`, `Its documentation is at ${baseUrl}/docs`];
  if (operatorKey !== null) {
    lines.push("", "The operator key makes namespaces. It is shown this once:", `  ${operatorKey}`);
  }
  if (demoToken !== null) {
    lines.push(
      "",
      `A demo shop is in namespace "${DEMO_SLUG}", database "${DEMO_SLUG}". Its admin token, shown this once:`,
      `  ${demoToken}`,
      "",
      "Try it:",
      ...demoCalls(baseUrl, demoToken).map((line) => `  ${line}`),
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
