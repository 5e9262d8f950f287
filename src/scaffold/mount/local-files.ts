import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makeSecret } from "../../protocol/secret.js";
import type { FileChange } from "./write-mount.js";

/** Secrets, captures of `dev`, and the database with its `-wal`, `-shm` and `-owner` files. */
const IGNORED = [".env", ".pigeonhole/", "pigeonhole.db*"];

/** What an app needs on this machine alone: a secret in `.env`, and lines that keep its files out of git. */
export function planLocalFiles(folder: string): FileChange[] {
  return [
    ...addLines(folder, ".gitignore", (text) => IGNORED.filter((line) => !text.split(/\s+/).includes(line))),
    ...addLines(folder, ".env", (text) =>
      /^(?:export )?WEBHOOK_SECRET *= *\S/m.test(text) ? [] : [`WEBHOOK_SECRET=${makeSecret()}`],
    ),
  ];
}

/** The text of `.env` as it may be shown. */
export function withoutValues(text: string): string {
  return text.replaceAll(/(?<=^WEBHOOK_SECRET=).*|^(?!WEBHOOK_SECRET=).+/gm, "…");
}

function addLines(folder: string, path: string, missing: (text: string) => string[]): FileChange[] {
  const file = join(folder, path);
  const before = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  const lines = missing(before ?? "");
  const gap = before === undefined || /(?:^|\n)$/.test(before) ? "" : "\n";
  return lines.length === 0 ? [] : [{ path, before, after: `${before ?? ""}${gap}${lines.join("\n")}\n` }];
}
