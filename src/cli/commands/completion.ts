import { COMMANDS, FAMILIES } from "../commands.js";
import { bashScript } from "../completion/bash.js";
import { fishScript } from "../completion/fish.js";
import { completionPlaces } from "../completion/words.js";
import { zshScript } from "../completion/zsh.js";
import type { RunCommand } from "../frame/context.js";
import type { completion } from "../specs/completion.js";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** Made from the same data as help, so that it is always up to date. */
// oxlint-disable-next-line require-await
export const run: RunCommand<typeof completion> = async ({ args, context }) => {
  const places = completionPlaces(
    COMMANDS.map(({ spec }) => spec),
    FAMILIES,
  );
  context.out.raw(SCRIPTS[args.shell](places));
};
