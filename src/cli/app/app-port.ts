import type { CommandContext } from "../frame/context.js";
import { readVariable } from "../values/secret-option.js";
import { portOf } from "./is-taken.js";

/** The variable that tells an app its port. */
export const PORT_VARIABLE = "PORT";

/** The port of an app that names none. */
export const DEFAULT_APP_PORT = "3000";

/** The port at which an app is expected if no flag says it. */
export function findAppPort(context: Pick<CommandContext, "env" | "cwd">): string {
  return readVariable(PORT_VARIABLE, context) ?? DEFAULT_APP_PORT;
}

/**
 * The variable for an app that is started, if it is expected there: it may not read `.env` by itself. Empty for an app
 * whose port was given in another way.
 */
export function portVariable(app: URL, context: Pick<CommandContext, "env" | "cwd">): Record<string, string> {
  const port = findAppPort(context);
  return String(portOf(app)) === port ? { [PORT_VARIABLE]: port } : {};
}
