import type { SandboxOptions } from "pigeonhole/sandbox";
import { describe, expect, test } from "vitest";
import { refusalOf } from "../../support/error-of.js";
import { DAY } from "../api/support.js";
import { START } from "../support.js";
import { openWorld } from "./support.js";

const iso = (ms: number) => new Date(ms).toISOString();
const BROADCAST = { stream: "broadcast" };
/** Recipients of one message. */
const many = (count: number) => Array.from({ length: count }, (_, index) => `a${index}@x.example`);

function openLanes(options: SandboxOptions = {}) {
  const { sandbox, client, clientOf } = openWorld(options);
  const lane = async (stream = "broadcast") => {
    const found = (await client.sending.streams()).find((one) => one.stream === stream);
    if (found === undefined) throw new Error(`There is no lane ${stream}.`);
    return found;
  };
  /** A message to so many people, and what became of the first of them. */
  const send = (to: number, { bounced = 0, complained = 0, stream = "broadcast" } = {}) => {
    const { data } = sandbox.emit("email.sent", { to: many(to), cc: [], stream }).event;
    const { messageId } = data as { messageId: string };
    for (const recipient of many(bounced)) sandbox.emit("email.bounced", { messageId, recipient, stream });
    for (const recipient of many(complained)) sandbox.emit("email.complained", { messageId, recipient, stream });
  };
  return { sandbox, client, clientOf, lane, send };
}

describe("sending lanes", () => {
  test("a lane has the figures of what was emitted in it, each recipient of a message once", async () => {
    const { sandbox, lane, send } = openLanes();
    send(50, { bounced: 2, complained: 1 });
    sandbox.emit("email.sent", { to: "Ada <ADA@x.example>, b@x.example", cc: [], ...BROADCAST }, { story: "one" });
    sandbox.emit("email.delivered", { recipient: "ada@x.example", ...BROADCAST }, { story: "one" });
    sandbox.emit("email.opened", { ...BROADCAST });
    sandbox.emit("email.sent", { to: ["a@x.example", 5], stream: "elsewhere" });
    const window = { recipients: 52, bounced: 2, complained: 1, bounceRate: 2 / 52, complaintRate: 1 / 52 };
    expect(await lane()).toMatchObject({ status: "active", window });
    expect(await lane("transactional")).toMatchObject({ status: "active", limits: null, window: { recipients: 0 } });
  });

  test.each([
    ["4 % bounced and 0.2 % complained", { bounced: 40, complained: 2 }, null],
    ["more than 4 % bounced", { bounced: 41 }, "bounce-rate"],
    ["more than 0.2 % complained", { complained: 3 }, "complaint-rate"],
  ])("the broadcast lane is held to the documented rates: %s", async (_, fates, pausedReason) => {
    const { lane, send } = openLanes();
    send(1000, fates);
    const pausedAt = pausedReason === null ? null : iso(START);
    const status = pausedReason === null ? "active" : "paused";
    expect(await lane()).toMatchObject({ status, pausedAt, pausedReason, resumedAt: null });
  });

  test("a flood of bounces pauses the lane once enough recipients were reached", async () => {
    const { sandbox, lane } = openLanes();
    for (let count = 0; count < 99; count += 1) sandbox.emit("email.bounced", BROADCAST);
    expect(await lane()).toMatchObject({ status: "active", limits: { minRecipients: 100 } });
    sandbox.emit("email.bounced", BROADCAST);
    expect(await lane()).toMatchObject({ status: "paused", window: { recipients: 100, bounceRate: 1 } });
  });

  test("good news pauses the lane on bounces that became a larger part as others left the window", async () => {
    const { sandbox, lane, send } = openLanes({ receiverTime: "machine" });
    send(200);
    await sandbox.advance(DAY);
    send(200, { bounced: 10 });
    expect(await lane()).toMatchObject({ status: "active", window: { recipients: 400, bounceRate: 0.025 } });
    await sandbox.advance(6 * DAY);
    sandbox.emit("email.delivered", BROADCAST);
    expect(await lane()).toMatchObject({ status: "paused", window: { recipients: 201, bounced: 10 } });
  });

  test("the transactional lane is always active", async () => {
    const { lane, send } = openLanes();
    send(200, { bounced: 200, stream: "transactional" });
    expect(await lane("transactional")).toMatchObject({ status: "active", window: { bounced: 200 } });
    expect(await lane()).toMatchObject({ window: { recipients: 0 } });
  });

  test("a recipient counts for 7 days of the emulator's clock after the last event about them", async () => {
    const { sandbox, lane } = openLanes({ receiverTime: "machine" });
    const mailed = (data: object) => sandbox.emit("email.sent", { to: ["a@x.example"], cc: [], ...data });
    mailed({ messageId: "msg_1", ...BROADCAST });
    mailed({ messageId: "msg_2", ...BROADCAST });
    await sandbox.advance(3 * DAY);
    sandbox.emit("email.bounced", { messageId: "msg_1", recipient: "A@x.example", ...BROADCAST });
    await sandbox.advance(4 * DAY - 1);
    expect(await lane()).toMatchObject({ window: { recipients: 2, bounced: 1, bounceRate: 0.5 } });
    await sandbox.advance(1);
    expect(await lane()).toMatchObject({ window: { recipients: 1, bounced: 1, bounceRate: 1 } });
    await sandbox.advance(3 * DAY);
    expect(await lane()).toMatchObject({ window: { recipients: 0, bounced: 0, bounceRate: 0 } });
  });

  test("a paused lane is resumed by the owner, counts from then on, and pauses again", async () => {
    const { sandbox, client, clientOf, lane, send } = openLanes();
    const by = (apiKey: string) => clientOf(apiKey).sending.resume("broadcast");
    send(100, { bounced: 5 });
    expect(await lane()).toMatchObject({ status: "paused", pausedAt: iso(START) });
    await sandbox.advance(DAY);
    const resumed = await client.sending.resume("broadcast");
    const active = { status: "active", pausedAt: null, pausedReason: null, resumedAt: iso(START + DAY) };
    expect(resumed).toMatchObject({ ...active, window: { recipients: 0, bounced: 0 } });
    expect(await lane()).toEqual(resumed);
    send(100, { bounced: 4 });
    expect(await lane()).toMatchObject({ status: "active" });
    send(100, { complained: 1 });
    expect(await lane()).toMatchObject({ status: "paused", resumedAt: iso(START + DAY) });
    expect(await by(sandbox.callers.owner({ verified: true }))).toMatchObject({ status: "active" });
    sandbox.reset();
    expect(await lane()).toMatchObject({ status: "active", resumedAt: null, window: { recipients: 0 } });
  });

  test("the client sends no resume of another lane", async () => {
    const { client } = openLanes();
    const refused = await refusalOf(() => client.sending.resume("transactional"));
    expect(refused).toEqual({ code: "invalid_parameter", param: "stream" });
  });
});

describe("dedicated IPs", () => {
  test("a dedicated IP warms up on the emulator's clock, and its figure moves every five minutes", async () => {
    const { sandbox, client } = openLanes({ dedicatedIps: ["192.0.2.10"] });
    const read = () => client.sending.dedicatedIp("192.0.2.10");
    const assigned = { ip: "192.0.2.10", pool: "default", assignedAt: iso(START), readyAt: null };
    expect(await read()).toMatchObject({ ...assigned, status: "warming", warmupPercent: 0, checkedAt: iso(START) });
    await sandbox.advance(15 * DAY + 299_999);
    expect(await read()).toMatchObject({ status: "warming", warmupPercent: 50, checkedAt: iso(START + 15 * DAY) });
    await sandbox.advance(15 * DAY - 299_999 - 1);
    expect(await read()).toMatchObject({ status: "warming", warmupPercent: 99, readyAt: null });
    await sandbox.advance(1);
    const ready = { status: "ready", warmupPercent: 100, readyAt: iso(START + 30 * DAY) };
    expect(await read()).toMatchObject(ready);
    expect((await client.sending.dedicatedIps()).map(({ ip }) => ip)).toEqual(["192.0.2.10"]);
    expect(await refusalOf(() => client.sending.dedicatedIp("192.0.2.11"))).toMatchObject({ status: 404 });
  });

  test("a workspace without the add-on has no dedicated IP", async () => {
    expect(await openLanes().client.sending.dedicatedIps()).toEqual([]);
  });
});
