import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import type { NamedSecret } from "../../capture/model/judge-signature.js";
import { checkServiceSecret, SECRET_SHAPE, secretMistakes } from "../../protocol/secret.js";
import { type CheckResult, checksNamed } from "../frame/check-result.js";
import { EXIT, CommandError, refusedAs, usageError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";
import { withValue } from "../frame/spec.js";

/** The variable with the default secret. */
export const SECRET_VARIABLE = "WEBHOOK_SECRET";

/** `--secret` of every command that signs or verifies. */
export const secretOption = withValue(
  "secret",
  `Webhook secret as env:NAME, file:path or the value itself (then others on this machine can see it). Default: ${SECRET_VARIABLE} of the environment or of .env.`,
  { repeat: true },
);

type Surroundings = Pick<CommandContext, "env" | "cwd">;

/** The given secrets, or the default one; an empty list if there is none. */
export function findSecrets(given: readonly string[], place: Surroundings): NamedSecret[] {
  if (given.length > 0) return given.map((text) => readNamed("--secret", text, place));
  const value = readVariable(SECRET_VARIABLE, place);
  return value === undefined ? [] : [{ ref: `env:${SECRET_VARIABLE}`, value }];
}

/** The error if there is none. */
const NO_SECRET = `No webhook secret: give --secret env:NAME or --secret file:path, or set ${SECRET_VARIABLE} in the environment or in .env.`;

/** How to make a secret without the service. The line works in every shell. */
const MAKE_SECRET = `On this machine any secret of the right shape works, if the app has the same one: node -p "'${SECRET_SHAPE.prefix}' + require('crypto').randomBytes(32).toString('base64url')" prints one.`;

/** Reads `env:NAME`, `file:path` or the value itself. Errors name the flag and never the value. */
export function readNamed(flag: string, text: string, place: Surroundings): NamedSecret {
  if (text.startsWith("env:")) {
    const name = text.slice("env:".length);
    const value = readVariable(name, place);
    if (value !== undefined) return { ref: text, value };
    throw usageError(`${flag}: the variable ${name} is not set, neither in the environment nor in .env.`);
  }
  if (text.startsWith("file:")) return { ref: text, value: readSecretFile(flag, text.slice("file:".length), place) };
  if (text.trim() === "") throw usageError(`${flag} is empty.`);
  return { ref: flag, value: text };
}

/** Of a running `dev`: the address and a key of its emulated API, and the database that the app has opened. */
export const DEV_FILE = ".pigeonhole/dev.env";

/** A variable of the environment, of `.env` in the working folder, or of a `dev` there. An empty one is not set. */
export function readVariable(name: string, { env, cwd }: Surroundings): string | undefined {
  const read = (file: string) => readFromEnvFile(name, resolve(cwd, file));
  return filled(env[name]) ?? read(".env") ?? read(DEV_FILE);
}

function filled(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value;
}

function readFromEnvFile(name: string, path: string): string | undefined {
  const bytes = readEnvFile(path);
  if (bytes === undefined) return undefined;
  const value = filled(parseEnv(bytes.toString("utf8"))[name]);
  if (value === undefined && filled(parseMarked(bytes)[name]) !== undefined) {
    throw usageError(
      `${name} is in ${path}, but that file begins with a byte order mark, as some editors and shells of Windows write it, so neither Node nor this command can read it. Save the file as UTF-8 without that mark.`,
    );
  }
  return value;
}

/** No bytes if there is no such file. `.env` may also be the folder of another tool. */
function readEnvFile(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") return undefined;
    throw usageError(`${path} may not be read by this user: permissions forbid it.`);
  }
}

/** The content without its byte order mark; nothing if it has none. */
function parseMarked(bytes: Buffer): NodeJS.Dict<string> {
  const isWide = bytes[0] === 0xff && bytes[1] === 0xfe;
  const text = bytes.toString(isWide ? "utf16le" : "utf8");
  return text.startsWith("\uFEFF") ? parseEnv(text.slice(1)) : {};
}

/** Editors add a line end to a file, which is not part of the secret. */
function readSecretFile(flag: string, path: string, { cwd }: Surroundings): string {
  let text: string;
  try {
    text = readFileSync(resolve(cwd, path), "utf8");
  } catch (error) {
    throw new CommandError(EXIT.usage, "usage", `${flag}: the file ${path} cannot be read.`, { cause: error });
  }
  const value = text.replace(/\r?\n$/, "");
  if (value.trim() === "") throw usageError(`${flag}: the file ${path} is empty.`);
  return value;
}

/**
 * The secret to sign with. An obviously invalid one is refused, since no correctly set up app accepts its signatures.
 */
export function requireSigningSecret(given: readonly string[], context: CommandContext): NamedSecret {
  const [secret] = findSecrets(given, context);
  if (secret === undefined) throw usageError(`${NO_SECRET} ${MAKE_SECRET}`);
  return checked(secret, context);
}

/** Like {@link requireSigningSecret}; undefined if there is none. */
export function findSigningSecret(given: readonly string[], context: CommandContext): NamedSecret | undefined {
  const [secret] = findSecrets(given, context);
  return secret === undefined ? undefined : checked(secret, context);
}

/** The service's secrets have a fixed length, and the sandbox refuses any other. */
export function checkSandboxSecret({ ref, value }: NamedSecret): void {
  refusedAs(
    (message) => `${ref}: ${message}`,
    () => checkServiceSecret(value),
  );
}

function checked(secret: NamedSecret, { out }: CommandContext): NamedSecret {
  for (const { status, message, fix } of reportSecrets([secret])) {
    const words = `${message} ${fix ?? ""}`.trimEnd();
    if (status === "fail") throw usageError(words);
    // A secret of another length still signs, and the app may have the same one.
    if (status === "warn") out.note(`${out.paint.yellow("!")} ${words}`);
  }
  return secret;
}

/** Checks the shape of each secret. The messages never contain one. */
export function reportSecrets(secrets: readonly NamedSecret[]): CheckResult[] {
  const { fail, pass, warn } = checksNamed("secret");
  const how = `Set ${SECRET_VARIABLE} in the environment or in .env, or give --secret env:NAME. ${MAKE_SECRET}`;
  if (secrets.length === 0) return [warn("No webhook secret was found.", how)];
  return secrets.map(({ ref, value }) => {
    const [mistake] = secretMistakes(value);
    if (mistake === undefined) return pass(`${ref} looks like a webhook secret.`);
    const report = mistake.code === "secret_has_other_length" ? warn : fail;
    return report(`${ref} ${mistake.what}.`, mistake.fix);
  });
}
