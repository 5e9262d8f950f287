import { join } from "node:path";
import { createReceiver, type EventType, type HandlerContext, type Receiver, type Store } from "pigeonhole";
import type { PostgresStore } from "pigeonhole/postgres";
import { deliver, sampleEvent } from "pigeonhole/testing";
import { onTestFinished } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { serve } from "../support/serve.js";
import { type CliResult, runCli, SECRET } from "../support/run-cli.js";
import { makeFolder } from "../support/folder.js";
import { createFailingHandler } from "../support/failing-handler.js";

/** A receiver behind HTTP, with its database on disk. */
export interface App {
  url: string;
  file: string;
  receiver: Receiver;
  /** Ids of events in the order in which the handler ran. */
  handled: string[];
  /** From now on the handler of `email.bounced` succeeds. */
  fix(): void;
  /** Runs a command on its database. */
  run(...args: string[]): Promise<CliResult>;
  /** Takes a sample with these members of `data`, and returns its id. */
  receive(type: EventType, data?: Record<string, unknown>): Promise<string>;
}

/**
 * Starts an app with a handler that gives up on `email.bounced` until it is fixed, one that fails on
 * `email.complained` after a step and runs again, and one of the newest `suppression.added` only. `work` is done for
 * each event. The store is a new file unless another is given.
 */
export async function startReceiverApp(
  work: () => Promise<void> | void = () => undefined,
  other?: Store | PostgresStore,
): Promise<App> {
  const file = join(makeFolder(), "inbox.db");
  const handled: string[] = [];
  const bounces = createFailingHandler(() => new Error("the mail server is away"));
  const receiver = createReceiver({
    secrets: SECRET,
    store: (other ?? file) as Store,
    logger: silentLogger,
    telemetry: false,
  });
  const handle = async ({ id }: { id: string }): Promise<void> => {
    handled.push(id);
    await work();
  };
  receiver.on("*", handle, { name: "all" });
  const complaints = createFailingHandler(() => new Error("try again later"));
  const complain = async (_: unknown, { step }: HandlerContext): Promise<void> => {
    await step("look up", () => 1);
    complaints.run();
  };
  // It does not run again by itself while a test looks.
  receiver.on("email.complained", complain, { name: "complaints", retry: { maxAttempts: 5, initialMs: 600_000 } });
  receiver.on("suppression.added", () => undefined, { name: "blocklist", key: () => "all", only: "newest" });
  receiver.on("email.bounced", bounces.run, { name: "bounces", retry: { maxAttempts: 1 } });
  await receiver.start();
  const server = await serve(receiver.middleware());
  onTestFinished(() => receiver.stop());
  return {
    url: `${server.url}/webhooks`,
    file,
    receiver,
    handled,
    fix: bounces.fix,
    run: (...args) => runCli([...args, "--db", file]),
    async receive(type, data) {
      const event = sampleEvent(type, data);
      await deliver(receiver, event, { secret: SECRET });
      return event.id;
    },
  };
}
