import type { Receiver, ReceiverOptions, RepairReport, Store } from "pigeonhole";
import { type Sandbox, type SandboxOptions, createSandbox } from "pigeonhole/sandbox";
import { TEST_SECRET } from "pigeonhole/testing";
import { onTestFinished } from "vitest";
import { openReceiver } from "./receiver.js";
import type { RepairOptions } from "#pigeonhole/receiver/repair-endpoint.js";

/** The emulated service, and a receiver whose events it may lose. */
export interface LossyService {
  sandbox: Sandbox;
  receiver: Receiver;
  /** Of the endpoint. */
  id: string;
  secret: string;
  /** A time after the inbox was begun and before the first event. */
  since: number;
  /** Ids of events, in the order in which the handler had them. */
  handled: string[];
  /** Fires so many events, whose first attempts are answered. */
  emit(count: number, data?: object): Promise<string[]>;
  /** {@link emit}, answered with this status in place of the receiver. */
  lose(count: number, status: number): Promise<string[]>;
  /** Answers with this status in place of the receiver, from now on. */
  breakWith(status: number): void;
  repair(options?: Partial<RepairOptions>): Promise<RepairReport>;
}

export interface LossyServiceOptions extends SandboxOptions {
  /** Changes the text of the answers of the API. */
  editAnswer?: (text: string) => string;
  role?: ReceiverOptions["role"];
  /** @default in memory */
  store?: string | Store<unknown>;
  /** Repairs the endpoint so often; the receiver has the clock of the sandbox then. @default only by `repair` */
  every?: NonNullable<ReceiverOptions["repair"]>["every"];
  onAlarm?: ReceiverOptions["onAlarm"];
  /** Name of the endpoint's secret. @default none */
  source?: string;
  logger?: ReceiverOptions["logger"];
}

/** The service, and a receiver whose inbox has just been begun. */
export async function openLossyService({
  editAnswer,
  role,
  store,
  every,
  onAlarm,
  logger,
  source = "",
  ...options
}: LossyServiceOptions = {}): Promise<LossyService> {
  const sandbox = createSandbox({
    clock: "manual",
    receiverTime: every === undefined ? "machine" : "sandbox",
    receive: (request) => receiver.fetch(request),
    ...options,
  });
  onTestFinished(() => sandbox.close());
  const { id, secret } = sandbox.endpoints.create({ url: "http://127.0.0.1/hook" });
  const receiver: Receiver = openReceiver({
    secrets: source === "" ? secret : { [source]: secret, other: TEST_SECRET },
    role,
    onAlarm,
    ...(logger !== undefined && { logger }),
    ...(every !== undefined && { repair: { endpointId: id, source, every }, clock: sandbox.clock }),
    api: {
      ...sandbox.clientOptions,
      fetch: async (url, init) => {
        const answer = await sandbox.fetch(url, init);
        return editAnswer === undefined ? answer : new Response(editAnswer(await answer.text()), answer);
      },
    },
    // What is used of a store here does not depend on its transactions.
    ...(store !== undefined && { store: store as string | Store }),
  });
  const handled: string[] = [];
  receiver.on("email.bounced", (event) => void handled.push(event.id));
  await receiver.start();
  await sandbox.advance("1m");
  const since = sandbox.clock.now();
  const emit = async (count: number, data?: object): Promise<string[]> => {
    const ids = Array.from({ length: count }, () => sandbox.emit("email.bounced", data).event.id);
    await sandbox.settle();
    return ids;
  };
  const breakWith = (status: number): void => void sandbox.faults.deliveries.add({ fault: { kind: "status", status } });
  return {
    sandbox,
    receiver,
    id,
    secret,
    since,
    handled,
    emit,
    async lose(count, status) {
      breakWith(status);
      const ids = await emit(count);
      sandbox.faults.clear();
      return ids;
    },
    breakWith,
    repair: (changes) => receiver.repair({ endpointId: id, source, since, ...changes }),
  };
}
