import { rotateApiKey, rotateSecret } from "pigeonhole";
import { createClient } from "pigeonhole/client";
import { createSandbox } from "pigeonhole/sandbox";
import { describe, expect, it } from "vitest";

describe("the options of a rotation", () => {
  for (const handOver of [undefined, null, "a text"]) {
    it(`refuses handOver ${String(handOver)} before any call`, async () => {
      const sandbox = createSandbox();
      const { id } = sandbox.endpoints.create({ url: "http://127.0.0.1:3000/webhooks/mail" });
      let calls = 0;
      const client = createClient({
        ...sandbox.clientOptions,
        fetch: (input, init) => {
          calls += 1;
          return sandbox.fetch(input, init);
        },
      });
      const refused = {
        code: "invalid_option",
        message: expect.stringContaining("handOver must be a function") as string,
      };
      // @ts-expect-error: not a function
      await expect(rotateApiKey({ client, handOver })).rejects.toMatchObject(refused);
      // @ts-expect-error: not a function
      await expect(rotateSecret({ client, endpointId: id, handOver })).rejects.toMatchObject(refused);
      expect(calls).toBe(0);
    });
  }

  it("names a missing client", async () => {
    const refused = { code: "invalid_option", message: expect.stringContaining("client must be an object") as string };
    // @ts-expect-error: no client
    await expect(rotateApiKey({ handOver: () => {} })).rejects.toMatchObject(refused);
    // @ts-expect-error: no client
    await expect(rotateSecret({ endpointId: "whe_", handOver: () => {} })).rejects.toMatchObject(refused);
  });
});
