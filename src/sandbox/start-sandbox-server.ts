import { createSandbox } from "./create-sandbox.js";
import type { SandboxOptions } from "./options.js";
import type { EndpointWithSecret, Sandbox, SandboxListenOptions } from "./control/sandbox.js";

/** An initial endpoint. */
export interface InitialEndpoint {
  /** Where deliveries go, http or https. */
  url: string;
  /** The types that the endpoint receives. @default the default set (docs/service.md#event-types) */
  eventTypes?: readonly string[] | undefined;
  /** One that the receiver already has. @default one made from the seed */
  secret?: string | undefined;
}

/** The options of `startSandboxServer`: those of the sandbox and of its server, and its first endpoints. */
export interface SandboxProcessOptions extends SandboxOptions, SandboxListenOptions {
  /** Endpoints to begin with, created in this order. @default none */
  endpoints?: readonly InitialEndpoint[] | undefined;
}

/** A sandbox that listens. */
export interface RunningSandbox {
  /** Base URL of the API; the control API is below `/sandbox/`. */
  url: string;
  /** The port it listens on. */
  port: number;
  /** The sandbox itself, for calls without HTTP. */
  sandbox: Sandbox;
  /** The initial endpoints, in their order, with their secrets. */
  endpoints: EndpointWithSecret[];
  /** Ends all deliveries, waits and connections, and frees the port. */
  close(): Promise<void>;
}

/**
 * A sandbox as a separate server, for receivers in other processes. These use the machine's clock, so signatures have
 * its time, with any clock of the sandbox. Rejects with `port_in_use` or `invalid_option`.
 */
export async function startSandboxServer(options: SandboxProcessOptions = {}): Promise<RunningSandbox> {
  const { endpoints: initial = [], port, host, receiverTime = "machine", ...rest } = options;
  const sandbox = createSandbox({ ...rest, receiverTime });
  try {
    const endpoints = initial.map(({ secret, ...input }) => sandbox.endpoints.create(input, { secret }));
    return { ...(await sandbox.listen({ port, host })), sandbox, endpoints, close: () => sandbox.close() };
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}
