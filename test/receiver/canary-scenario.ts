import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import { type Alarm, DoNotRetry, type Logger, createReceiver, createSqliteStore } from "pigeonhole";
import { signDelivery } from "pigeonhole/testing";

/** In whatever must not be told: secrets, bodies, addresses, headers. */
export const CANARY = "cAnArY";

const SECRET = `whsec_${CANARY}${"s".repeat(37)}`;
const OLD_SECRET = `whsec_${CANARY}${"o".repeat(37)}`;
const WRONG_SECRET = `whsec_${CANARY}${"w".repeat(37)}`;
const BODY = `${CANARY}.body@example.com`;

export interface CanaryRun {
  /** Everything that the API gave back: answers, numbers, errors, alarms. */
  told: string[];
  /** The signatures that were sent; none may be told either. */
  signatures: string[];
  /** Outcomes in the order of the deliveries. */
  outcomes: (string | null)[];
}

/** Runs into everything that is told about, with canaries wherever the sender or the user puts something. */
export async function runCanaries(logger?: Logger): Promise<CanaryRun> {
  const told: string[] = [];
  const signatures: string[] = [];
  const outcomes: (string | null)[] = [];
  const tell = (what: unknown): void => void told.push(typeof what === "string" ? what : JSON.stringify(what));
  const tellError = async (call: () => unknown): Promise<void> => {
    try {
      await call();
      tell("no error");
    } catch (error) {
      tell(error instanceof Error ? `${error.stack} ${JSON.stringify(error)}` : typeof error);
    }
  };

  let storeFails = false;
  let secretsFail = false;
  const real = createSqliteStore({ file: ":memory:" });
  const throwBody = (): never => {
    throw new Error(`cannot handle ${BODY}\nwith ${BODY}`);
  };
  const receiver = createReceiver({
    secrets() {
      if (secretsFail) throw new Error(`cannot read ${SECRET}`);
      return [SECRET, OLD_SECRET];
    },
    store: {
      ...real,
      accept: (event) => (storeFails ? Promise.reject(new Error(`cannot store ${BODY}`)) : real.accept(event)),
    },
    schemas: {
      "email.bounced": z.object({ recipient: z.email() }),
      "email.clicked": z.object({}).transform(throwBody),
    },
    retry: { initialMs: 1, jitter: 0, maxAttempts: 2 },
    // As in production, since the tests run where NODE_ENV is test.
    logErrorMessages: false,
    ...(logger && { logger }),
    onAlarm(alarm: Alarm) {
      tell(alarm);
      throw new Error(BODY);
    },
  });
  receiver.on("email.sent", throwBody, { key: throwBody });
  receiver.on("email.opened", () => {
    throw new DoNotRetry(BODY);
  });
  receiver.on("email.queued", () => {
    throw BODY;
  });
  receiver.on("email.failed", async (_, ctx) => {
    await ctx.step(BODY, () => BODY);
    await ctx.step("twice", () => 1);
    await ctx.step("twice", () => 1);
  });
  receiver.on("email.delivered", (_, ctx) => ctx.commit(throwBody));
  receiver.on("email.received", () => new Promise(() => undefined), { timeoutMs: 20 });
  receiver.on("email.replied", () => new Promise(() => undefined));
  receiver.on("email.bounced", () => undefined);

  async function send(body: string, secret = SECRET, at = Date.now(), headers: Record<string, string> = {}) {
    const signature = signDelivery({ body, secret, timestamp: at });
    const signed = { ...signature, "x-forwarded-for": CANARY, ...headers };
    signatures.push(signature["x-svc-signature"]?.split("v1=")[1] ?? "none");
    const request = new Request(`http://pigeonhole.test/?token=${CANARY}`, { method: "POST", body, headers: signed });
    const response = await receiver.fetch(request);
    outcomes.push(response.headers.get("x-pigeonhole-outcome"));
    tell(`${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`);
  }
  const event = (type: string, data: object = { to: BODY }, id = `evt_${outcomes.length}`) =>
    JSON.stringify({ id, type, createdAt: "2026-01-01T00:00:00Z", data });

  await send(event("email.sent"));
  await receiver.start();
  const handled = ["sent", "opened", "queued", "failed", "delivered", "received", "replied"].map(
    (name) => `email.${name}`,
  );
  for (const type of handled) await send(event(type));
  await send(event("email.bounced", { recipient: BODY }));
  await send(event("email.bounced", { recipient: `<${BODY}>` }));
  await send(event("email.clicked"));
  await send(event("email.unheard"));
  await send(event("email.sent", { test: true, note: BODY }));
  await send(BODY);
  await send(JSON.stringify({ id: 1, type: [BODY], createdAt: BODY, data: BODY }));
  await send(event("email.sent", { a: BODY }, "evt_1"));
  await send(event("email.bounced", { recipient: BODY }), OLD_SECRET);
  secretsFail = true;
  for (let count = 0; count < 4; count += 1) await send(event("email.sent"), WRONG_SECRET);
  await send(event("email.sent"), SECRET, Date.now() - 400_000);
  await send(event("email.sent"), SECRET, Date.now(), { "x-svc-signature": `t=1,v1=${CANARY}` });
  await send(event("email.sent"), SECRET, Date.now(), { "content-encoding": CANARY });
  storeFails = true;
  await send(event("email.sent"));
  storeFails = false;

  // All failed for good but the one that never ends.
  for (let left = 1; left > 0; await setImmediate()) {
    const { pending, retrying, running } = await receiver.stats();
    left = pending + retrying + Math.max(0, running - 1);
  }
  tell(await receiver.stats());
  tell(await receiver.inbox.retryAll({ state: "parked" }));
  tell(await receiver.inbox.discard("evt_2"));
  await tellError(() => receiver.inbox.retry("evt_none"));
  await tellError(() => receiver.inbox.list({ limit: 0 }));
  await tellError(() => receiver.on("email.sent", () => undefined));
  for (const secrets of [`"${SECRET}"`, ` ${SECRET}`, SECRET.slice(0, 20), `svc_live_${CANARY}`, [SECRET, ""]]) {
    await tellError(() => createReceiver({ secrets, store: ":memory:" }));
  }
  await receiver.stop({ timeoutMs: 1 });
  await send(event("email.sent"));
  await tellError(() => receiver.start());
  tell(await receiver.stats());
  await tellError(() => receiver.inbox.list());
  return { told, signatures, outcomes };
}
