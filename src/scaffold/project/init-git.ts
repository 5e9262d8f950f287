import { runProgram } from "./run-program.js";

/** True inside a repository, where a nested one would be unwanted. */
export async function isInRepository(folder: string): Promise<boolean> {
  try {
    await runProgram({ command: "git rev-parse --is-inside-work-tree", folder });
    return true;
  } catch {
    return false;
  }
}

/** Creates a repository without commits. Rejects with `program_failed`. */
export async function initGit(folder: string, signal?: AbortSignal): Promise<void> {
  await runProgram({ command: "git init --quiet --initial-branch=main", folder, ...(signal && { signal }) });
}
