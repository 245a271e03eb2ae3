// How many passkeys a member has at most, however many devices are registered at once.
import { assert, assertEquals } from "@std/assert";
import { authenticateSession } from "../../lib/access/authenticate_session.ts";
import { MAX_PASSKEYS } from "../../lib/control/passkeys.ts";
import {
  addPasskey,
  beginPasskey,
  listPasskeys,
  removePasskey,
} from "../../lib/services/people/use_passkeys.ts";
import { SoftwarePasskey } from "../testing/software_passkey.ts";
import { refusal, testPeople } from "./people_world.ts";

testPeople("the bound of passkeys", {
  "holds for devices that are registered at once in two processes; a removal makes room": async (world) => {
    const { secret } = await world.join("collector@example.com", "viewer");
    const signedIn = await authenticateSession(world.people, secret, { now: true });
    assert(signedIn !== null);
    const { caller } = signedIn;
    const ctx = { ...world.people, caller };
    const register = async (name: string, process = world.people) => {
      const device = await SoftwarePasskey.in({ origin: "http://localhost", rpId: "localhost" });
      const here = { ...process, caller };
      return await addPasskey(here, { name, answer: await device.make(await beginPasskey(here)) });
    };
    for (let n = 2; n < MAX_PASSKEYS; n++) await register(`device ${n}`);
    const last = await Promise.allSettled(
      Array.from({ length: 4 }, (_, at) => register(`last ${at}`, at % 2 ? world.elsewhere : world.people)),
    );
    assertEquals(last.filter(({ status }) => status === "fulfilled").length, 2);
    const own = await listPasskeys(ctx);
    assertEquals(own.length, MAX_PASSKEYS);
    assertEquals((await refusal(register("one more")))[0], "validation_failed");
    await removePasskey(ctx, own[0]?.id ?? "");
    await register("instead");
    assertEquals((await listPasskeys(ctx)).length, MAX_PASSKEYS);
  },
});
