import { usageError } from "../frame/command-error.js";

/** The state that `--state` or one of the switches, by its state, names; throws for more than one of them. */
export function readState<State extends string>(
  state: State | undefined,
  switches: Partial<Record<State, boolean>>,
): State | undefined {
  const names = Object.keys(switches) as State[];
  const [first, second] = [...(state === undefined ? [] : [state]), ...names.filter((name) => switches[name])];
  if (second !== undefined) throw usageError("Give one state: with --state, or with a switch such as --dead.");
  return first;
}
