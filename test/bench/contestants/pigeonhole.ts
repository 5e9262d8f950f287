import { IncomingMessage, ServerResponse, createServer, type Server } from "node:http";
import express from "express";
import { createReceiver } from "pigeonhole";
import { EVENT_TYPE, HANDLER_NAME, HOOK_PATH, SECRET } from "../sample-delivery.js";
import type { ContestantContext, RunningContestant } from "./contestant.js";
import { quietLogger } from "./quiet-logger.js";

type Receiver = ReturnType<typeof createReceiver>;

async function startReceiver(
  context: ContestantContext,
  createHttpServer: (receiver: Receiver) => Server,
): Promise<RunningContestant> {
  let handled = 0;
  const receiver = createReceiver({
    secrets: SECRET,
    store: context.databaseFile,
    logger: quietLogger,
    telemetry: false,
  });
  receiver.on(
    EVENT_TYPE,
    () => {
      handled += 1;
    },
    { name: HANDLER_NAME },
  );
  await receiver.start();
  return {
    server: createHttpServer(receiver),
    countHandled: () => handled,
    stop: () => receiver.stop(),
  };
}

/** An ordinary Express route. */
export function startRoute(context: ContestantContext): Promise<RunningContestant> {
  return startReceiver(context, (receiver) => createServer(createApp(receiver)));
}

/** A listener that answers the hook path and hands all else to Express. */
export function startFront(context: ContestantContext): Promise<RunningContestant> {
  return startReceiver(context, (receiver) => createServer(receiver.listener({ path: HOOK_PATH, next: express() })));
}

/** The Express route on a server that makes requests and responses with Express's prototypes from the start. */
export function startPrototypes(context: ContestantContext): Promise<RunningContestant> {
  return startReceiver(context, (receiver) => {
    const app = createApp(receiver);
    const constructors = {
      IncomingMessage: withPrototype(IncomingMessage, app.request),
      ServerResponse: withPrototype(ServerResponse, app.response),
    };
    return createServer(constructors, app);
  });
}

/** A constructor that does what `base` does to an object with this very prototype; Express then has nothing to change. */
function withPrototype<C extends typeof IncomingMessage | typeof ServerResponse>(base: C, prototype: object): C {
  function Construct(this: object, ...args: unknown[]): void {
    Reflect.apply(base, this, args);
  }
  Construct.prototype = prototype;
  return Object.setPrototypeOf(Construct, base);
}

function createApp(receiver: Receiver): express.Express {
  const app = express();
  app.disable("x-powered-by");
  app.post(HOOK_PATH, receiver.middleware());
  return app;
}
