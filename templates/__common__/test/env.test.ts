import { expect, test } from "vitest";
import { apiOf, readEnv } from "../src/env.js";

const WEBHOOK_SECRET = `whsec_${"x".repeat(43)}`;

test("a secret is all that must be set", () => {
  expect(readEnv({ WEBHOOK_SECRET, PORT: "" })).toMatchObject({ WEBHOOK_SECRET, PORT: 3000, LOG_LEVEL: "info" });
});

test("the API is its address and a key, or neither", () => {
  const baseUrl = "https://mail.example.com/api";
  expect(() => readEnv({ WEBHOOK_SECRET, PIGEONHOLE_BASE_URL: baseUrl })).toThrow(/PIGEONHOLE_API_KEY go together/);
  const env = readEnv({ WEBHOOK_SECRET, PIGEONHOLE_BASE_URL: baseUrl, PIGEONHOLE_API_KEY: "svc_live_1" });
  expect(apiOf(env)).toEqual({ baseUrl, apiKey: "svc_live_1" });
  expect(apiOf(readEnv({ WEBHOOK_SECRET }))).toBeUndefined();
});

test("every bad variable is named, and no value is shown", () => {
  const read = () => readEnv({ WEBHOOK_SECRET: "private", PORT: "http" });
  expect(read).toThrow(/WEBHOOK_SECRET must be the whole secret[\s\S]*PORT must be a port/);
  expect(read).not.toThrow(/private/);
});
