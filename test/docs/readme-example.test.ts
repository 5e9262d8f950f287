import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { sampleEvent } from "pigeonhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { startContactEventService } from "../support/contact-event-service.js";
import { readRows } from "../support/inbox-file.js";
import { makeExampleFolder } from "./example-folder.js";
import { blocksOf, readDocument } from "./markdown.js";
import { postSigned, startListening } from "./run-example.js";

// The program of docs/contact-events.md, as it stands there, between real deliveries and an API on this machine.

const [program] = blocksOf(readDocument("docs/contact-events.md"), "ts").filter(
  ({ remark }) => remark === "example: contact events",
);

test("a bounce arrives twice, and one contact event is sent", async () => {
  const service = await startContactEventService();
  onTestFinished(() => service.close());
  const folder = makeExampleFolder();
  writeFileSync(join(folder, "receiver.ts"), program?.block ?? "");
  const api = { PIGEONHOLE_API_KEY: "svc_test_readme", PIGEONHOLE_BASE_URL: service.baseUrl };
  const { url, stop } = await startListening(folder, "receiver", api);
  const event = sampleEvent("email.bounced", { recipient: "ada@example.com" });
  for (const outcome of ["accepted", "duplicate"]) expect(await postSigned(url, event)).toEqual([200, outcome]);
  const rows = () => readRows(join(folder, "pigeonhole.db"), "SELECT state, code FROM outbox_event");
  await expect.poll(rows).toEqual([{ state: "done", code: null }]);
  expect(service.stored.map(({ event: stored }) => stored)).toEqual([
    expect.objectContaining({ name: "address.bounced", email: "ada@example.com", properties: { eventId: event.id } }),
  ]);
  expect(service.calls.map(({ authorization }) => authorization)).toEqual(["Bearer svc_test_readme"]);
  expect(await stop()).toBe(0);
});
