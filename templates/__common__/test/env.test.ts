import { expect, test } from "vitest";
import { readEnv } from "../src/env.js";

const WEBHOOK_SECRET = `whsec_${"x".repeat(43)}`;

test("a secret is all that must be set", () => {
  expect(readEnv({ WEBHOOK_SECRET, PORT: "" })).toMatchObject({ WEBHOOK_SECRET, PORT: 3000, LOG_LEVEL: "info" });
});

test("every bad variable is named, and no value is shown", () => {
  const read = () => readEnv({ WEBHOOK_SECRET: "private", PORT: "http" });
  expect(read).toThrow(/WEBHOOK_SECRET must be the whole secret[\s\S]*PORT must be a port/);
  expect(read).not.toThrow(/private/);
});
