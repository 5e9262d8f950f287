import type { Server } from "node:http";

export interface ContestantContext {
  /** A database file that does not exist yet, in a directory of the run. */
  databaseFile: string;
}

/** A server that is not listening yet, and how to ask and end what stands behind it. */
export interface RunningContestant {
  server: Server;
  /** How many events were handled and settled; only where deliveries are stored and processed. */
  countHandled?(): number | Promise<number>;
  stop?(): Promise<void> | void;
}

export type StartContestant = (context: ContestantContext) => Promise<RunningContestant> | RunningContestant;
