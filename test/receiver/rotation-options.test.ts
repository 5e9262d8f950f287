import { rotateApiKey, rotateSecret } from "pigeonhole";
import { createClient } from "pigeonhole/client";
import { expect, test } from "vitest";

const client = createClient({
  apiKey: "svc_test_rotation",
  baseUrl: "https://api.example.com/v1",
  fetch: () => expect.unreachable("Options are checked before any call."),
});

test.each([undefined, null, "a text"])("a rotation refuses handOver %s before any call", async (handOver) => {
  const refused = { code: "invalid_option", message: expect.stringContaining("handOver must be a function") as string };
  await expect(rotateApiKey({ client, handOver: handOver as never })).rejects.toMatchObject(refused);
  const options = { client, endpointId: "whe_", handOver: handOver as never };
  await expect(rotateSecret(options)).rejects.toMatchObject(refused);
});

test("a rotation names a missing client", async () => {
  const refused = { code: "invalid_option", message: expect.stringContaining("client must be an object") as string };
  await expect(rotateApiKey({ handOver: () => undefined } as never)).rejects.toMatchObject(refused);
  await expect(rotateSecret({ endpointId: "whe_", handOver: () => undefined } as never)).rejects.toMatchObject(refused);
});
