import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { endWithTest } from "../../support/end-with-test.js";

/** A process of a test, which talks in lines, and ends with the test. */
export interface Child {
  /** The next line it prints; rejects when it ends instead. */
  line(): Promise<string>;
  say(text: string): void;
  /** Ends it at once, without any clean-up of its own; resolves when it is gone. */
  kill(): Promise<void>;
}

export const childFile = (name: string): string => fileURLToPath(new URL(`${name}.mjs`, import.meta.url));

export function startChild(name: string, ...args: string[]): Child {
  const command = [childFile(name), ...args];
  const child = endWithTest((mark) =>
    spawn(process.execPath, command, { env: { ...process.env, ...mark }, stdio: ["pipe", "pipe", "inherit"] }),
  );
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const ended = once(child, "exit");
  return {
    async line() {
      const { value, done } = (await lines.next()) as IteratorResult<string, undefined>;
      if (done === true) throw new Error(`${name} ended`);
      return value;
    },
    say: (text) => void child.stdin.write(`${text}\n`),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** A process that owns the store in the file, with a lease on one event. */
export async function startOwner(file: string, ...umask: string[]): Promise<Child> {
  const child = startChild("own-store", file, ...umask);
  expect(await child.line()).toBe("owner true");
  return child;
}
