import type { OptionSpec } from "./spec.js";

/** Options of every command; they may be before or after its name. */
export const GLOBAL_OPTIONS = {
  json: { summary: "Prints one JSON object per line, each with schemaVersion; exports and scripts stay as they are." },
  quiet: { short: "q", summary: "Prints results and errors only, no remarks." },
  color: { negated: true, summary: "Prints without colour, like the variable NO_COLOR." },
  cwd: { short: "C", value: "folder", summary: "Works in this folder." },
  yes: { short: "y", summary: "Answers questions with yes." },
} as const satisfies Record<string, OptionSpec>;

export interface GlobalOptions {
  json?: boolean;
  quiet?: boolean;
  color: boolean;
  cwd?: string;
  yes?: boolean;
}
