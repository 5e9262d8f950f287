import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { NamedSecret } from "../../capture/model/judge-signature.js";
import { type Forward, parseForward } from "../../dev/forward/forward-rules.js";
import { makeSecret } from "../../protocol/secret.js";
import { DEFAULT_APP_PORT, PORT_VARIABLE, findAppPort } from "../app/app-process.js";
import { usageError } from "../frame/command-error.js";
import type { CommandInput } from "../frame/context.js";
import type { Output } from "../frame/output.js";
import { readTarget } from "../values/flag-values.js";
import { findSecrets, reportSecrets, checkSandboxSecret } from "../values/secret-option.js";
import type { dev } from "./spec.js";

/** What dev shares with the app and the emulated service. */
export interface DevSetup {
  secrets: NamedSecret[];
  forwards: Forward[];
  /** Where the app that is started will be, and the variable or the flag that says so. */
  app: { url: URL; by: string };
}

/** Reads it from the options and the environment; throws for what cannot be used. `out` gets warnings. */
export function readSetup({ options, context }: CommandInput<typeof dev>, out: Output): DevSetup {
  const { start, withSandbox, register, forwardTo } = options;
  if (withSandbox !== undefined && register) {
    throw usageError(
      "--with-sandbox emulates the service, and --register asks the real one to send here: give one of them.",
    );
  }
  const secrets = checkedSecrets(options.secret, context, out);
  const [first] = secrets;
  if (withSandbox !== undefined && first !== undefined) checkSandboxSecret(first);
  // The app gets it.
  if (first === undefined && start !== undefined) secrets.push({ ref: "made for this run", value: makeSecret() });
  const forwards = forwardTo.map(parseForward);
  const isNamed = forwards.length > 0;
  if (!isNamed && start !== undefined) forwards.push({ target: findAppPort(context) });
  const by = isNamed ? "--forward-to" : PORT_VARIABLE;
  return { secrets, forwards, app: { url: readTarget(by, forwards[0]?.target ?? DEFAULT_APP_PORT), by } };
}

const OTHERS_READ = 0o044;

/** Warns once now, instead of a mismatch at every delivery. */
function checkedSecrets(
  given: readonly string[],
  context: CommandInput<typeof dev>["context"],
  out: Output,
): NamedSecret[] {
  const secrets = findSecrets(given, context);
  const file = resolve(context.cwd, ".env");
  const mode = process.platform === "win32" ? 0 : (statSync(file, { throwIfNoEntry: false })?.mode ?? 0);
  if ((mode & OTHERS_READ) !== 0 && findSecrets([], { ...context, env: {} }).length > 0) {
    out.note(`${out.paint.yellow("!")} ${file} has a secret, and other users can read it: chmod 600 .env`);
  }
  for (const { status, message, fix } of secrets.length === 0 ? [] : reportSecrets(secrets)) {
    if (status !== "pass") out.note(`${out.paint.yellow("!")} ${message} ${fix ?? ""}`.trimEnd());
  }
  return secrets;
}
