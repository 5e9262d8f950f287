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
