// What a database publishes about endpoints of accounts, for programs and for the pages of people.
import { assert, assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/2020";
import { endpointExamples } from "../../lib/core/endpoint_examples.ts";
import { endpointSpec } from "../../lib/core/endpoint_spec.ts";
import { FormFields } from "../../routes/console/frame/read_form.ts";
import { specIn, valuesOf } from "../../routes/console/pages/endpoints/endpoint_form.ts";
import { accountWorld } from "../published/account_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("account documents", run);

test("programs are told the two ways in which a reset and a verification are called", async () => {
  await using world = await accountWorld();
  const { endpoints } = JSON.parse((await world.call(".well-known/endpoints.json")).text);
  const schemaOf = (slug: string) => {
    const { input_schema: { $schema: _, ...schema } } = endpoints.find((one: { slug: string }) =>
      one.slug === slug
    );
    return new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  };
  const [reset, verify, logout] = [schemaOf("reset"), schemaOf("verify"), schemaOf("logout")];
  const email = "ada@shop.example";
  const [token, password] = ["pacc_x", "battery staple"];
  for (const input of [{ email }, { token, password }]) assert(reset(input), JSON.stringify(input));
  for (
    const input of [{}, { email, token, password }, { token }, { token, password: "short" }, { email: null }]
  ) {
    assert(!reset(input), JSON.stringify(input));
  }
  assert(verify({ email }) && verify({ token }) && !verify({ email, token }) && !verify({}));
  assert(logout({}) && logout({ all: true }) && !logout({ all: 1 }));
  const { paths } = JSON.parse((await world.call("openapi.json")).text);
  const content = paths["/reset"].post.requestBody.content["application/json"];
  assertEquals(content.example, { email: "ada@example.com" });
  assertEquals(paths["/password"].post.security, [{ session: [] }]);
  const { text } = await world.call("client.ts");
  for (
    const line of ["  | { email: string }", "  | { token: string; password: string }", "= { done: true };"]
  ) {
    assert(text.includes(line), line);
  }
  assert(!(await world.call("client.js")).text.includes(": string }"));
});

test("the console's form says everything that a specification of accounts says", () => {
  for (const example of endpointExamples.map((one) => endpointSpec.parse(one))) {
    if (!example.kind.startsWith("auth_")) continue;
    const fields = new FormFields(new URLSearchParams(valuesOf(example)));
    assertEquals(endpointSpec.parse(specIn(fields)), example, example.slug);
  }
});
