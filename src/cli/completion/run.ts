import { bashScript } from "./bash.js";
import { fishScript } from "./fish.js";
import { completionPlaces } from "./places.js";
import { zshScript } from "./zsh.js";
import type { RunCommand } from "../frame/context.js";
import type { completion } from "./spec.js";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** Made from the same data as help, so that it is always up to date. */
// oxlint-disable-next-line require-await
export const run: RunCommand<typeof completion> = async ({ args, context }) => {
  const places = completionPlaces(context.commands, context.families);
  context.out.raw(SCRIPTS[args.shell](places));
};
