import { expect, test } from "vitest";
import { type Death, startKilledExample } from "./killed-example.js";
import { RECIPES, killRecipe } from "./killed-recipes.js";

// The recipes under examples/ as processes, killed where it tells most; recipes.long.test.ts kills them everywhere.

const after = (call: string): Death => ({ call, when: "after" });

test.each<[keyof typeof RECIPES, Death[]]>([
  ["sign-up-to-crm", [after("PUT /contacts/*/audiences")]],
  ["prepared-answer", [after("POST /drafts"), { call: "GET /drafts", when: "before" }]],
  ["attachment-archive", [after("GET /files/*/content")]],
])(
  "examples/%s.ts has each effect once, though SIGKILL ends it after the service did what it asked",
  async (name, deaths) => {
    await killRecipe(RECIPES[name], deaths);
  },
);

test("examples/sign-up-to-crm.ts keeps the audiences of two forms that one person confirms at the same time", async () => {
  const audiences = ["aud_customers", "aud_first", "aud_second"].map((id) => ({ id, name: id }));
  const { input } = RECIPES["sign-up-to-crm"];
  const { sandbox, client, untilDone } = await startKilledExample({ ...input, sandbox: { audiences } });
  const email = "ada@customer.example.com";
  const confirm = async (audienceId: string): Promise<void> => {
    const settings = { doubleOptIn: true, senderAddress: "support@acme.example.com", audienceIds: [audienceId] };
    const form = await client.forms.create({ name: audienceId, starter: "newsletter", settings, publish: true });
    await client.forms.subscribe(form.id, { email, name: "Ada" });
    expect(sandbox.confirmSignUp(form.id, email)).toBe(true);
  };
  // The first run learns its audiences, and goes on when a second run could have ended.
  sandbox.faults.api.add({ fault: { kind: "delay", delayMs: 2_000 }, calls: "contacts.update", times: 1 });
  await confirm("aud_first");
  await expect.poll(() => sandbox.faults.api.list()).toEqual([]);
  await confirm("aud_second");
  await untilDone(2);
  const contact = await client.contacts.get(email);
  expect(contact.audiences.map(({ id }) => id).slice(1)).toEqual(audiences.map(({ id }) => id));
});
