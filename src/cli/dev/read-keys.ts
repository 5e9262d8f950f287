import { emitKeypressEvents, type Key } from "node:readline";
import type { CommandContext } from "../frame/context.js";

/** The action of a key, and its name in help. */
export interface KeyAction {
  what: string;
  press: () => void | Promise<void>;
}

/** Listens to single keys in a terminal; without one it does nothing. Returns a function that ends it. */
export function readKeys({ stdin, out }: CommandContext, keys: Readonly<Record<string, KeyAction>>): () => void {
  if (!stdin.isTTY || !out.isTerminal) return () => undefined;
  const help = Object.entries(keys).map(([key, { what }]) => `${out.paint.bold(key)} ${what}`);
  out.note(`  ${out.paint.dim("keys")}        ${help.join(", ")}\n`);
  const press = (_: string | undefined, key: Key): void => {
    // In raw mode Ctrl-C is an ordinary key.
    if (key.ctrl === true && key.name === "c") process.kill(process.pid, "SIGINT");
    else if (key.name !== undefined && Object.hasOwn(keys, key.name)) {
      Promise.resolve(keys[key.name]?.press()).catch((error: unknown) => out.fail(error));
    }
  };
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.on("keypress", press);
  stdin.resume();
  return () => {
    stdin.off("keypress", press);
    stdin.setRawMode(false);
    stdin.pause();
  };
}
