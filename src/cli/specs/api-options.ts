import type { OptionSpec } from "../frame/spec.js";

/** Options of every command that calls the API. */
export const apiOptions = {
  baseUrl: { value: "url", summary: "Where the API is. Default: PIGEONHOLE_BASE_URL of the environment or of .env." },
  apiKey: {
    value: "key",
    summary:
      "API key as env:NAME, file:path or the value itself. Default: PIGEONHOLE_API_KEY of the environment or of .env.",
  },
} as const satisfies Record<string, OptionSpec>;
