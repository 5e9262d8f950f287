import type { OptionSpec } from "../frame/spec.js";

/** `--store` of every command that reads captures. */
export const storeOption = {
  value: "folder",
  default: ".pigeonhole",
  summary: "Where captures are kept.",
} as const satisfies OptionSpec;
