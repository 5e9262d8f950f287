import { PigeonholeError } from "#pigeonhole/base/error.js";
import { asPageApiError } from "#pigeonhole/web/error-answer.js";
import { expect, test } from "vitest";

test.each([
  "store_busy",
  "store_unreachable",
  "store_replaced",
  "store_not_primary",
  "store_corrupt",
  "server_unusable",
] as const)("a store with %s is answered 503, with what happened", (code) => {
  const body = { code, message: "What happened." };
  expect(asPageApiError(new PigeonholeError(code, body.message))).toMatchObject({ status: 503, ...body });
});
