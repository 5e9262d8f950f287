import { createServer } from "node:http";
import { signDelivery, verifySignature } from "pigeonhole/protocol";
import { createSandbox } from "pigeonhole/sandbox";
import { TEST_SECRET, createTestReceiver, deliver, replayDirectory, sampleEvent } from "pigeonhole/testing";
import { onTestFinished, test, expect } from "vitest";

// A misspelt option is ignored by JavaScript, and nobody notices until it is missed. Further calls have theirs beside
// their other tests.

const receiver = createTestReceiver();
const sandbox = createSandbox();
const misspelt = { misspelt: 1 } as never;

test.each<[place: string, call: () => unknown]>([
  ["stop", () => receiver.stop(misspelt)],
  ["listener", () => receiver.listener({ path: "/", next: createServer(), ...(misspelt as object) } as never)],
  ["inbox.list", () => receiver.inbox.list(misspelt)],
  ["inbox.retryAll", () => receiver.inbox.retryAll(misspelt)],
  ["inbox.backup", () => receiver.inbox.backup("copy.db", misspelt)],
  ["contactEvents.list", () => receiver.contactEvents.list(misspelt)],
  ["contactEvents.record", () => receiver.contactEvents.record({} as never, misspelt)],
  ["signature", () => createTestReceiver({ signature: misspelt })],
  ["deliver", () => deliver(receiver, sampleEvent("email.sent"), misspelt)],
  ["replayDirectory", () => replayDirectory(".", receiver, misspelt)],
  ["sampleEvent", () => sampleEvent("email.sent", {}, misspelt)],
  ["signDelivery", () => signDelivery({ body: "", secret: TEST_SECRET, ...(misspelt as object) })],
  ["verifySignature", () => verifySignature({ body: "", headers: {}, secrets: TEST_SECRET, ...(misspelt as object) })],
  ["sandbox.emit", () => sandbox.emit("email.sent", {}, misspelt)],
  ["sandbox.listen", () => sandbox.listen(misspelt)],
])("%s refuses an unknown option and names its own", async (place, call) => {
  onTestFinished(() => receiver.stop());
  const error: unknown = await Promise.resolve()
    .then(call)
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: "invalid_option",
    message: expect.stringMatching(new RegExp(`^${place} has no option "misspelt"\\. Its options: \\w`)) as string,
  });
});
