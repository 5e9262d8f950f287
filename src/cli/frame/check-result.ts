/** The result of one check of the doctor. */
export interface CheckResult {
  /** Stable name, in one word or two. */
  name: string;
  /** `skip`: there was nothing to check. */
  status: "pass" | "warn" | "fail" | "skip";
  /** The finding, in a sentence. */
  message: string;
  /** What to do; null if nothing. */
  fix: string | null;
}

/** What makes the results of the check with this name. */
export function checksNamed(name: string) {
  return {
    pass: (message: string): CheckResult => ({ name, status: "pass", message, fix: null }),
    skip: (message: string, fix: string | null = null): CheckResult => ({ name, status: "skip", message, fix }),
    warn: (message: string, fix: string): CheckResult => ({ name, status: "warn", message, fix }),
    fail: (message: string, fix: string): CheckResult => ({ name, status: "fail", message, fix }),
  };
}
