import { EVENT_TYPES } from "pigeonhole/protocol";
import { expect, test } from "vitest";
import { serve } from "../support/serve.js";
import { openReceiver } from "../support/receiver.js";
import { openSandbox } from "./support.js";

test("a real receiver over HTTP answers 200 to every event type of the sandbox", async () => {
  const sandbox = openSandbox({ clock: "real" });
  const secret = `whsec_${"a".repeat(43)}`;
  const receiver = openReceiver({ secrets: secret, clock: sandbox.clock });
  const server = await serve(receiver.middleware());
  sandbox.endpoints.create({ url: `${server.url}/`, eventTypes: [...EVENT_TYPES] }, { secret });
  const seen = new Set<string>();
  receiver.on("*", (event) => void seen.add(event.type));
  await receiver.start();
  for (const type of EVENT_TYPES) sandbox.emit(type);
  await sandbox.settle();
  expect(new Set(sandbox.deliveries().map(({ responseCode }) => responseCode))).toEqual(new Set([200]));
  await expect.poll(() => seen.size).toBe(EVENT_TYPES.length);
});
