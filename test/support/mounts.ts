import { createRequire } from "node:module";
import { getRequestListener } from "@hono/node-server";
import express, { type RequestHandler } from "express";
import { Hono } from "hono";
import { createFetch } from "#pigeonhole/http/fetch-mount.js";
import { createListener, createMiddleware } from "#pigeonhole/http/node-mount.js";
import type { MountTarget } from "./probe.js";
import { type RunningServer, serve } from "./serve.js";

/** One way to put the receiver behind HTTP, at /hooks. */
export interface Mount {
  name: string;
  start(target: MountTarget): Promise<RunningServer>;
}

// express4 is Express 4 under another name and has no types of its own; what the tests use did not change.
const express4: typeof express = createRequire(import.meta.url)("express4");

/** The two Express versions, for tests of what stands in front of the mount. */
export const expressVersions = [
  { name: "express 5", create: express },
  { name: "express 4", create: express4 },
] as const;

/** An Express app of the version with the handlers in front of the mount. */
export function serveExpress(
  create: typeof express,
  { handle, clock }: MountTarget,
  before: RequestHandler[] = [],
): Promise<RunningServer> {
  const app = create();
  for (const handler of before) app.use(handler);
  app.all("/hooks", createMiddleware(handle, clock));
  return serve(app);
}

export const mounts: Mount[] = [
  ...expressVersions.map(({ name, create }) => ({
    name,
    start: (target: MountTarget) => serveExpress(create, target),
  })),
  { name: "node:http", start: ({ handle, clock }) => serve(createMiddleware(handle, clock)) },
  {
    name: "listener",
    start: ({ handle, clock }) =>
      serve(createListener(createMiddleware(handle, clock), { path: "/hooks", next: express() })),
  },
  {
    name: "fetch",
    start({ handle }) {
      const receive = createFetch(handle);
      const app = new Hono();
      app.all("/hooks", (context) => receive(context.req.raw));
      const listener = getRequestListener(app.fetch);
      return serve((req, res) => void listener(req, res));
    },
  },
];
