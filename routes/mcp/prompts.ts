// Prompts that a user can choose in a client.
import type { GetPromptResult, Prompt as ListedPrompt } from "@modelcontextprotocol/server";
import { z } from "zod";
import { issuesOf } from "../middleware/issues.ts";
import { invalidParams } from "./failure_boundary.ts";

/** A prompt: its arguments, and the text that they make. */
interface Prompt {
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject<z.ZodRawShape, z.core.$strict>;
  readonly text: (given: Readonly<Record<string, string | undefined>>) => string;
}

const database = z.string().max(200).optional().describe("Slug, or slug@ref of a branch");

const table: Readonly<Record<string, Prompt>> = {
  safe_change: {
    title: "Change data safely",
    description: "Shows a change before it runs, and runs it once you agree",
    input: z.strictObject({
      change: z.string().min(1).max(2000).describe("What is to be changed"),
      database,
    }),
    text: ({ change = "", database }) =>
      `Make this change${where(database)}: ${change}\n\n` +
      "Find the tables with describe_database. Show me the change with propose_write, or for several statements with " +
      "write and dryRun: how many rows, and what they are before and after. Wait for my word, then run exactly that. " +
      "Where a rule holds it, give me the approvalUrl and wait with get_approval. At the end tell me how many rows " +
      "changed and which snapshot brings the state before back, if one was taken.",
  },
  explore: {
    title: "Explore a database",
    description: "What is in a database, and what stands out",
    input: z.strictObject({ database }),
    text: ({ database }) =>
      `Explore the database${where(database)} for me without changing anything. Read its schema with ` +
      "describe_database and the findings of doctor, look at a few rows of each important table with query, and tell " +
      "me in one page what it holds, how its tables belong together, and what stands out.",
  },
};

function where(database: string | undefined): string {
  return database === undefined ? "" : ` ${database}`;
}

/** As clients list them. */
export const prompts: readonly ListedPrompt[] = Object.entries(table).map((
  [name, { title, description, input }],
) => ({
  name,
  title,
  description,
  arguments: Object.entries(input.shape).map(([argument, schema]) => ({
    name: argument,
    required: !(schema instanceof z.ZodOptional),
  })),
}));

/** Throws the protocol's error for an unknown name and for wrong arguments. */
export function getPrompt(name: string, given: Readonly<Record<string, string>>): GetPromptResult {
  const prompt = Object.hasOwn(table, name) ? table[name] : undefined;
  if (prompt === undefined) throw invalidParams("Send the name of a prompt that prompts/list lists");
  const [issue] = issuesOf(prompt.input, given);
  if (issue !== undefined) throw invalidParams(`${issue.path}: ${issue.message}`);
  const { description, text } = prompt;
  return { description, messages: [{ role: "user", content: { type: "text", text: text(given) } }] };
}
