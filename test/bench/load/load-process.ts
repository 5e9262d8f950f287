import { serveCalls } from "../process/child-calls.js";
import { prepareLoad, type ReadyLoad } from "./load-loop.js";
import type { LoadResult } from "./load-result.js";
import { buildRequestPool } from "./request-pool.js";
import type { Scheme } from "./signing.js";

/** One interval of load on one server. */
export interface LoadPlan {
  port: number;
  scheme: Scheme;
  connections: number;
  seconds: number;
  /** Requests to build beforehand. */
  poolSize: number;
  /** Requests per second; undefined means as fast as the answers come. */
  rate?: number;
}

let ready: ReadyLoad | undefined;

const calls = {
  /** Builds and signs the requests and opens the connections. */
  async prepare(plan: LoadPlan): Promise<void> {
    ready = await prepareLoad({ ...plan, pool: buildRequestPool(plan.scheme, plan.poolSize) });
  },
  async run(): Promise<LoadResult> {
    if (!ready) throw new Error("run was called before prepare");
    const result = await ready.run();
    ready.close();
    ready = undefined;
    return result;
  },
};

export type LoadCalls = typeof calls;

serveCalls(calls);
