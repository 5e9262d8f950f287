import { bashScript } from "./bash.js";
import { fishScript } from "./fish.js";
import { completionPlaces } from "./places.js";
import { zshScript } from "./zsh.js";
import type { RunCommand } from "../frame/context.js";
import type { CommandSpec } from "../frame/spec.js";
import { API_RESOURCES, CALL_NAMES } from "../../contract/contract.js";
import type { completion } from "./spec.js";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** Made from the same data as help, so that it is always up to date. */
// oxlint-disable-next-line require-await
export const run: RunCommand<typeof completion> = async ({ args, context }) => {
  const places = completionPlaces(context.commands.map(withCalls), context.families);
  context.out.raw(SCRIPTS[args.shell](places));
};

/** The command `api` with the names of calls and resources. Only completion loads the contract for them. */
function withCalls(spec: CommandSpec): CommandSpec {
  if (spec.name !== "api") return spec;
  const call = { summary: "", ...spec.arguments?.["call"], suggestions: [...CALL_NAMES, ...API_RESOURCES] };
  return { ...spec, arguments: { ...spec.arguments, call } };
}
