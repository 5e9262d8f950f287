/** `skip`: there was nothing to check. */
export type CheckStatus = "pass" | "warn" | "fail" | "skip";

/** The result of one check of the doctor. */
export interface CheckResult {
  /** Stable name, in one word or two. */
  name: string;
  status: CheckStatus;
  /** The finding, in a sentence. */
  message: string;
  /** What to do; null if nothing. */
  fix: string | null;
}

export function pass(name: string, message: string): CheckResult {
  return { name, status: "pass", message, fix: null };
}

export function skip(name: string, message: string, fix: string | null = null): CheckResult {
  return { name, status: "skip", message, fix };
}

export function warn(name: string, message: string, fix: string): CheckResult {
  return { name, status: "warn", message, fix };
}

export function fail(name: string, message: string, fix: string): CheckResult {
  return { name, status: "fail", message, fix };
}
