import { runProgram } from "./run-program.js";

/** True inside a repository, where a second one would be in the way. */
export async function isInRepository(folder: string): Promise<boolean> {
  try {
    await runProgram({ command: "git rev-parse --is-inside-work-tree", folder });
    return true;
  } catch {
    return false;
  }
}

/** Makes a repository with nothing committed. Rejects with `program_failed`. */
export async function initGit(folder: string, signal?: AbortSignal): Promise<void> {
  await runProgram({ command: "git init --quiet --initial-branch=main", folder, ...(signal && { signal }) });
}
