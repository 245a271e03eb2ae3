// Arguments that several tools take.
import { z } from "zod";
import { MAX_SQL_LENGTH } from "../../../lib/core/limits.ts";
import { tellOddValues } from "../../v1/sql_schemas.ts";

/** Described in a few words: every client reads the list of tools again and again. */
const params = z.array(z.any()).check(({ value, issues }) => tellOddValues(value, [], issues)).optional()
  .describe('One value for each ?: text, number, true, false, null or {"$blob": base64}');

/** One statement with its values. */
export const statement = {
  sql: z.string().max(MAX_SQL_LENGTH).describe("One statement; ? and ?N are placeholders"),
  params,
} as const;

/** A branch of the database. */
export const branchRef = z.string().min(1).max(64).describe("Ref of the branch, without the database");
