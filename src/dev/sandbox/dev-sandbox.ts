import type { Clock, Timer } from "../../base/clock.js";
import { isLocalAddress } from "../../capture/send/local-address.js";
import { createSandbox } from "../../sandbox/create-sandbox.js";
import type { SandboxLogEntry } from "../../sandbox/log-entry.js";
import type { Sandbox } from "../../sandbox/control/sandbox.js";
import type { SandboxCall } from "./sandbox-state.js";

/** Calls of the API that are kept for the page. */
const MAX_CALLS = 200;
/** Rows of the delivery log: every state of the page is computed from them. */
const MAX_LOG_ROWS = 5_000;
/** The page loads the state at most this often. */
const GATHER_MS = 250;

export interface DevSandboxOptions {
  /** Port of its API on this machine; 0 for any free one. */
  port: number;
  /** Whole names of the event types that its endpoint receives. */
  eventTypes: readonly string[];
  /** Types among these that this version does not know. @default none */
  newEventTypes?: readonly string[] | undefined;
  /** Receives an entry for everything that happens. */
  onLog: (entry: SandboxLogEntry) => void;
  /** For the time between two looks of the page. */
  clock: Clock;
}

/** The emulated service beside a dev server. Its one endpoint is the dev server. */
export class DevSandbox {
  readonly service: Sandbox;
  /** The calls that its API received, newest first. */
  readonly calls: SandboxCall[] = [];
  readonly #options: DevSandboxOptions;
  #endpointId: string | undefined;
  #changed: () => void = () => undefined;
  #timer: Timer | undefined;

  /** Starts the API. Rejects with `port_in_use`. */
  static async start(options: DevSandboxOptions): Promise<DevSandbox> {
    const started = new DevSandbox(options);
    await started.service.listen({ port: options.port });
    return started;
  }

  private constructor(options: DevSandboxOptions) {
    this.#options = options;
    this.service = createSandbox({
      clock: "advanceable",
      limits: { maxLogRows: MAX_LOG_ROWS },
      newEventTypes: options.newEventTypes,
      refuseAddress: (address) =>
        isLocalAddress(address) ? undefined : "outside this machine and its private network",
      onLog: (entry) => this.#keep(entry),
    });
  }

  /** Creates the endpoint, at the dev server's URL; returns its secret. `changed` is called when the state changes. */
  connect({ url, secret, changed }: { url: string; secret: string | undefined; changed: () => void }): string {
    this.#changed = changed;
    const { eventTypes } = this.#options;
    const endpoint = this.service.endpoints.create({ url, eventTypes }, { secret });
    this.#endpointId = endpoint.id;
    return endpoint.secret;
  }

  /** Id of the endpoint at the dev server; undefined before it is created. */
  get endpointId(): string | undefined {
    return this.#endpointId;
  }

  /** Ends its deliveries and its API. */
  async close(): Promise<void> {
    this.#changed = () => undefined;
    this.#timer?.cancel();
    await this.service.close();
  }

  #keep(entry: SandboxLogEntry): void {
    if (entry.kind === "api") {
      const { method, call = null, status, code = null, fault } = entry.call;
      const at = new Date(entry.atMs).toISOString();
      this.calls.unshift({ at, method, call, status, code, fault: fault?.kind ?? null });
      this.calls.splice(MAX_CALLS);
    }
    this.#options.onLog(entry);
    this.#timer ??= this.#options.clock.setTimer(() => {
      this.#timer = undefined;
      this.#changed();
    }, GATHER_MS);
  }
}
