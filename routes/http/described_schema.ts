// The schemas of the API's description. The description has some hundred of them, and each is made in a turn of its own: at once
// they would keep the thread that serves for a third of a second.
import { resolver } from "hono-openapi";
import type { z } from "zod";
import { ownTurn } from "../../lib/core/own_turn.ts";

type Described = ReturnType<typeof resolver<z.ZodType>>;

/** What the generator of the description asks for the schema. */
export function describedSchema(schema: z.ZodType): Described {
  const described = resolver(schema);
  return {
    ...described,
    toOpenAPISchema: async (options) => {
      await ownTurn();
      return await described.toOpenAPISchema(options);
    },
  };
}
