import type { OptionSpec } from "./spec.js";

/** Options of every command; they may stand before or after its name. */
export const GLOBAL_OPTIONS = {
  json: { summary: "Prints one JSON object per line, each with schemaVersion; exports and scripts stay as they are." },
  quiet: { short: "q", summary: "Leaves out remarks; prints results and errors." },
  color: { negated: true, summary: "Prints without colour, as the variable NO_COLOR does." },
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
