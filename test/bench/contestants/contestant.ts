import type { Server } from "node:http";
import type { Scheme } from "../load/signing.js";

export interface ContestantContext {
  /** A database file that does not exist yet, in a directory of the run. */
  databaseFile: string;
}

/** A server that is not listening yet, and how to ask and end what stands behind it. */
export interface RunningContestant {
  server: Server;
  /** Runs of handlers that ended well; only where deliveries are handled. */
  countHandled?(): number;
  /** Runs that the store says are done. */
  countSettled?(): Promise<number>;
  stop?(): Promise<void> | void;
}

export type StartContestant = (context: ContestantContext) => Promise<RunningContestant> | RunningContestant;

/** One row of a table: a server under load. */
export interface Contestant {
  name: string;
  /** What it does, for the reader of the table. */
  title: string;
  scheme: Scheme;
  /** Its server may use both cores; otherwise it has one. */
  twoCores?: boolean;
  /** A handler runs for each event. @default true */
  handles?: boolean;
  /** A server of this folder, or the options of the prototype. */
  run: { start: StartContestant } | { prototype: object };
}
