import { type ErrorCode, PigeonholeError, isPigeonholeError } from "pigeonhole";
import {
  type ApiError,
  type ApiErrorCode,
  type InvalidInputError,
  type NoAnswerError,
  NotFoundError,
} from "pigeonhole/client";
import { expect, expectTypeOf, test } from "vitest";
import { apiErrorFor } from "#pigeonhole/client/errors.js";

const answered = { call: "webhooks.get", message: "Gone.", param: undefined, requestId: undefined };

test("an error of the package has a code of its list; an error of the API has the code of the service", () => {
  expectTypeOf<PigeonholeError["code"]>().toEqualTypeOf<ErrorCode>();
  expectTypeOf<NoAnswerError["code"]>().toEqualTypeOf<ErrorCode>();
  // The editor offers the documented codes, and any other text is allowed.
  expectTypeOf<ApiError["code"]>().toEqualTypeOf<ApiErrorCode | (string & {})>();
  expectTypeOf<NotFoundError["code"]>().toEqualTypeOf<ApiErrorCode | (string & {})>();
  expectTypeOf<"label_name_taken">().toExtend<ApiErrorCode>();
  expectTypeOf<string>().not.toExtend<ApiErrorCode>();
  expectTypeOf<InvalidInputError["code"]>().toExtend<string>();
  expectTypeOf<InvalidInputError["code"]>().not.toExtend<ErrorCode>();
  // @ts-expect-error -- not of the list
  expect(new PigeonholeError("made_up", "text").code).toBe("made_up");
});

test("isPigeonholeError narrows the code to those of the list only on request", () => {
  const error: unknown = apiErrorFor({ ...answered, status: 404, code: "brand_new", retryAfterMs: undefined });
  expect(error).toBeInstanceOf(NotFoundError);
  expect(error).toBeInstanceOf(PigeonholeError);
  expect(isPigeonholeError(error)).toBe(true);
  expect(isPigeonholeError(error, "not_found")).toBe(false);
  if (isPigeonholeError(error)) expectTypeOf(error.code).toEqualTypeOf<string>();
  if (isPigeonholeError(error, "not_found")) expectTypeOf(error.code).toEqualTypeOf<"not_found">();
});
