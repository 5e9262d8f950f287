/** A round of the option `repair` of a receiver: the delivery log of an endpoint was compared with the inbox. */
export interface RepairRound {
  /** Id of the endpoint. */
  endpointId: string;
  /** When it ended, ISO 8601. */
  at: string;
  /** Events with failed attempts that the inbox lacked. */
  missing: number;
  /** Those of them that the service was asked to deliver again. */
  replayed: number;
  /** Those of the missing ones that did not arrive. */
  stillMissing: number;
  /**
   * Why events may be missing: `endpoint_off`, `replays_fail`, the reason of one that is still missing as in a repair's
   * report, `unnamed_rows` of a log that names no events, or the code of the error with which the round failed. Null
   * when all have arrived.
   */
  refused: string | null;
}

/** What a process is told that wants to make a round. */
export interface RepairClaim {
  /** False while no round is due, and when another process makes it. */
  isClaimed: boolean;
  /** When the next round is due, in milliseconds from now. */
  dueInMs: number;
  /** Failures from before were compared; undefined before the first round. */
  comparedUntil: number | undefined;
}

/** Agrees on which process makes the rounds of the option `repair`, and keeps what came of the last one. */
export interface RepairRounds {
  /** Begins a round if one is due. Of several processes one has it, for so long. */
  claimRepair(of: { endpointId: string; forMs: number }): Promise<RepairClaim>;
  /** Ends a round; the next is due in so long. An undefined `comparedUntil` stays as it was. */
  endRepair(of: Omit<RepairRound, "at"> & { dueInMs: number; comparedUntil: number | undefined }): Promise<void>;
}
