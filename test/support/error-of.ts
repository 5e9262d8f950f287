import { expect } from "vitest";

/** The error that a call throws or rejects with; fails the test when it does neither. */
export async function errorOf(call: () => unknown): Promise<Error & { code?: string }> {
  try {
    await call();
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
    return error as Error;
  }
  throw new Error("expected an error");
}

/** What a refusal of the service has of status, code and param. */
export async function refusalOf(call: () => unknown): Promise<{ status?: number; code?: string; param?: string }> {
  const { status, code, param } = (await errorOf(call)) as { status?: number; code?: string; param?: string };
  return {
    ...(status === undefined ? {} : { status }),
    ...(code === undefined ? {} : { code }),
    ...(param === undefined ? {} : { param }),
  };
}
