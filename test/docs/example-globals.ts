/**
 * What the documents' fragments of TypeScript may use without saying where it comes from: the package's own names, and
 * the reader's app as the text describes it.
 */
export const EXAMPLE_GLOBALS = `
import type { Express } from "express";
import type { AnyEvent, Handler, Receiver } from "pigeonhole";
import type { TestAPI, ExpectStatic } from "vitest";

declare global {
  const createReceiver: typeof import("pigeonhole").createReceiver;
  const createClient: typeof import("pigeonhole/client").createClient;
  const createServer: typeof import("node:http").createServer;
  const readFile: typeof import("node:fs/promises").readFile;
  const z: typeof import("zod");
  const createApp: typeof import("../examples/app.js").createApp;
  const test: TestAPI;
  const expect: ExpectStatic;

  const receiver: Receiver<{ "email.bounced": import("zod").ZodType<{ recipient: string }> }>;
  const handler: Handler<AnyEvent>;
  const secrets: string[];
  const newSecret: string;
  const oldSecret: string;
  const apiKey: string;
  const baseUrl: string;
  const body: Uint8Array;
  const req: import("express").Request;
  const app: Express;
  const requireLogin: import("express").RequestHandler;
  const isOnCall: (req: import("express").Request) => boolean;
  const userOf: (req: import("express").Request) => string;
  const createDashboard: typeof import("pigeonhole/dashboard").createDashboard;
  const dashboard: import("pigeonhole/dashboard").Dashboard;
  const mountedDashboard: import("pigeonhole/dashboard").Dashboard;
  const allow: () => import("pigeonhole/dashboard").DashboardPerson;
  const hono: import("hono").Hono;
  const crm: { find(address: unknown): Promise<{ id: number }> };
  const mailer: { notify(person: { id: number }, options: { idempotencyKey: string }): Promise<void> };
}
`;
