/** Exit codes of the process, the same for every command. */
export const EXIT = {
  ok: 0,
  /** An assertion or a verification failed: the command did its work, and the result is negative. */
  failed: 1,
  /** The command line, a file or a setting cannot be used; nothing was done. */
  usage: 2,
  /** The target cannot be reached, or the service answered with an error. */
  unreachable: 3,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
