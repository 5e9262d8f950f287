import { createSandbox } from "pigeonhole/sandbox";
import { describe, expect, test } from "vitest";
import { openSandbox, fire } from "./support.js";
import { refusalOf } from "../support/error-of.js";

const OPTION = { code: "invalid_option" };
const ARGUMENT = { code: "invalid_argument" };
const misspelt = { misspelt: "1" } as never;
const open = () => openSandbox({ receive: () => new Response(null, { status: 503 }) });

describe("misspelt options", () => {
  test.each<[what: string, call: (sandbox: ReturnType<typeof open>) => unknown]>([
    ["waitFor", (sandbox) => sandbox.waitFor(misspelt)],
    ["waitFor, of an answer", (sandbox) => sandbox.waitFor({ answered: "5XX" as never })],
    ["waitForContactEvent", (sandbox) => sandbox.waitForContactEvent(misspelt)],
    ["deliveries", (sandbox) => sandbox.deliveries(misspelt)],
    ["reset", (sandbox) => sandbox.reset(misspelt)],
    ["a key's field", (sandbox) => sandbox.apiKeys.add({ token: "key", scope: [] } as never)],
    ["a key's mode", (sandbox) => sandbox.apiKeys.add({ token: "key", mode: "tset" as never })],
    ["a key's scopes", (sandbox) => sandbox.apiKeys.add({ token: "key", scopes: "contacts:write" as never })],
    ["a key's list", (sandbox) => sandbox.apiKeys.add({ token: "key", addressAllowlist: "a@b.example" as never })],
    ["a key without a token", (sandbox) => sandbox.apiKeys.add({} as never)],
    ["a key that is none", () => createSandbox({ apiKeys: [null as never] })],
    ["an automation's filter", () => createSandbox({ automations: [{ id: "a", trigger: "t", filter: {} } as never] })],
    ["an automation without a trigger", () => createSandbox({ automations: [{ id: "a" } as never] })],
    ["an automation that is none", () => createSandbox({ automations: [null as never] })],
  ])("an option that is misspelt is refused, since it would apply to more than intended: %s", async (_, call) => {
    const sandbox = open();
    sandbox.endpoints.create({ url: "http://127.0.0.1/hook" });
    await fire(sandbox);
    expect(await refusalOf(() => call(sandbox))).toEqual(OPTION);
    expect(sandbox.endpoints.list()).toHaveLength(1);
  });

  const slips = [{ id: "" }, { id: 5 }, { address: 5 }, { address: null }, { address: [null] }];
  test.each(slips)("an option of emit that is misspelt is refused: %j", async (slip) => {
    const sandbox = open();
    sandbox.endpoints.create({ url: "http://127.0.0.1/hook", domainAllowlist: ["acme.example.com"] });
    expect(await refusalOf(() => sandbox.emit("email.sent", {}, slip as never))).toEqual(ARGUMENT);
    expect(sandbox.openDeliveries).toBe(0);
  });
});
