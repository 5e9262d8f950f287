import type { AppPackage } from "./find-app-file.js";

/** What serves an app, and how a receiver is mounted there. The table of docs/mounting.md has the same lines. */
export interface AppHost {
  name: string;
  /** The package that shows it; bare Node has none. */
  dependency?: string;
  /** Where the line belongs. */
  place: string;
  line: string;
  /** Its example has the receiver in a file of its own, and starts it. */
  hasOwnReceiver?: true;
}

export const EXPRESS: AppHost = {
  name: "Express",
  dependency: "express",
  place: "in the app's file, above app.use(express.json()) and every other body parser",
  line: 'app.post("/webhooks/mail", mailReceiver.middleware());',
};

/** Of two that an app depends on, the first serves it. */
const HOSTS: readonly AppHost[] = [
  {
    name: "NestJS",
    dependency: "@nestjs/core",
    place: "in main.ts, between NestFactory.create() and app.listen()",
    line: 'app.use("/webhooks/mail", mailReceiver.middleware());',
  },
  {
    name: "Next.js",
    dependency: "next",
    place:
      "in app/webhooks/mail/route.ts; node_modules/pigeonhole/examples/hosts/next has openReceiver() with your handlers in lib/receiver.ts",
    line: "export const POST = async (request: Request) => (await openReceiver()).fetch(request);",
    hasOwnReceiver: true,
  },
  {
    name: "Fastify",
    dependency: "fastify",
    place: 'where the app is made, beside its other options; createServer is of "node:http"',
    line: 'const app = Fastify({ serverFactory: (next) => createServer(mailReceiver.listener({ path: "/webhooks/mail", next })) });',
  },
  {
    name: "Koa",
    dependency: "koa",
    place: 'instead of app.listen(); createServer is of "node:http"',
    line: 'createServer(mailReceiver.listener({ path: "/webhooks/mail", next: app.callback() })).listen(3000);',
  },
  {
    name: "Hono",
    dependency: "hono",
    place: "above every middleware that reads the body",
    line: 'app.post("/webhooks/mail", (c) => mailReceiver.fetch(c.req.raw));',
  },
  EXPRESS,
];

const NODE: AppHost = {
  name: "node:http",
  place: "where the server is made; next is the app's own listener",
  line: 'createServer(mailReceiver.listener({ path: "/webhooks/mail", next })).listen(3000);',
};

/** The host whose package the app depends on; bare Node without any. */
export function appHostOf({ dependencies }: AppPackage): AppHost {
  return HOSTS.find(({ dependency = "" }) => dependencies?.[dependency] !== undefined) ?? NODE;
}
