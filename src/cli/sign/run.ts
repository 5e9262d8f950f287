import { quoteForShell } from "../../base/text.js";
import { signDelivery } from "../../protocol/sign-delivery.js";
import type { RunCommand } from "../frame/context.js";
import type { sign } from "./spec.js";
import { readInput } from "../values/read-input.js";
import { requireSigningSecret } from "../values/signing-secret.js";

/** Prints the headers of a delivery. The signature is the result, the secret is never shown. */
export const run: RunCommand<typeof sign> = async ({ options, context }) => {
  const secret = requireSigningSecret(options.secret, context);
  const body = await readInput("--body", options.body, context);
  const { format, encoding, at } = options;
  const headers = signDelivery({
    body,
    secret: secret.value,
    encoding,
    format,
    timestamp: at,
  });
  if (options.curl === undefined) {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    context.out.result({ headers }, lines.join("\n"));
    return;
  }
  const flags = ["content-type: application/json", ...Object.entries(headers).map((pair) => pair.join(": "))];
  const source = options.body === "-" ? "@-" : `@${options.body}`;
  const words = ["curl", "--data-binary", source, ...flags.flatMap((flag) => ["-H", flag]), options.curl];
  const command = words.map(quoteForShell).join(" ");
  context.out.result({ headers, command }, command);
};
