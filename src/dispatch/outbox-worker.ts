/** Sends what handlers record. */
export interface OutboxWorker {
  /** This process runs the handlers of the store from now on. */
  start(): void;
  /** There are contact events to send. */
  wake(): void;
  /** Another process may have recorded some. */
  poll(): void;
}
