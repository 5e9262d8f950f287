import { existsSync } from "node:fs";
import { loadEnvFile } from "node:process";
import * as z from "zod";
import { databaseVariables } from "./database-variables.js";

const secret = z
  .string("is missing: give the endpoint's secret")
  .regex(/^whsec_\S+$/, "must be the whole secret, whsec_ included, without quotes and spaces");

const fields = z.object({
  WEBHOOK_SECRET: secret,
  WEBHOOK_SECRET_OLD: secret.optional(),
  PORT: z.coerce.number("must be a port").int("must be a port").min(0).max(65_535).default(3000),
  HOST: z.string().default("127.0.0.1"),
  ...databaseVariables,
  PIGEONHOLE_BASE_URL: z.url({ protocol: /^https?$/, error: "must be the address of the API" }).optional(),
  PIGEONHOLE_API_KEY: z.string().optional(),
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"], "must be a level such as info")
    .default("info"),
});

const schema = fields.refine(
  (env) => (env.PIGEONHOLE_BASE_URL === undefined) === (env.PIGEONHOLE_API_KEY === undefined),
  { path: ["PIGEONHOLE_BASE_URL"], error: "and PIGEONHOLE_API_KEY go together: set both, or none" },
);

/** The workspace's API, and who asks. */
export interface ApiAccess {
  baseUrl: string;
  apiKey: string;
}

export type Env = z.output<typeof schema>;

/** Checks all variables at once; the error names each bad one and never shows a value. */
export function readEnv(variables: NodeJS.ProcessEnv): Env {
  // `PORT=` in a file means that it is not set.
  const set = Object.fromEntries(Object.entries(variables).filter(([, value]) => value?.trim() !== ""));
  const result = schema.safeParse(set);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `  ${path.join(".")} ${message}`);
  throw new Error(`The environment cannot be used:\n${problems.join("\n")}\nSee .env.example.`);
}

/** Where contact events go; undefined where none are sent. */
export function apiOf({ PIGEONHOLE_BASE_URL: baseUrl, PIGEONHOLE_API_KEY: apiKey }: Env): ApiAccess | undefined {
  return baseUrl === undefined || apiKey === undefined ? undefined : { baseUrl, apiKey };
}

/** The environment, with `.env` behind it where there is one. Ends the process when it cannot be used. */
export function loadEnv(): Env {
  if (existsSync(".env")) loadEnvFile(".env");
  try {
    return readEnv(process.env);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
