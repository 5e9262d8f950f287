import { serveCalls } from "../process/child-calls.js";
import { prepareClosedLoop, type ReadyLoad } from "./closed-loop.js";
import type { LoadResult } from "./load-result.js";
import { preparePacedLoop } from "./paced-loop.js";
import { buildRequestPool } from "./request-pool.js";
import type { Scheme } from "./signing.js";

/** One interval of load on one server. */
export interface LoadPlan {
  port: number;
  scheme: Scheme;
  /** Events of several types in turn. */
  mixed: boolean;
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
    const pool = buildRequestPool({ scheme: plan.scheme, size: plan.poolSize, mixed: plan.mixed });
    const { rate } = plan;
    ready =
      rate === undefined ? await prepareClosedLoop({ ...plan, pool }) : await preparePacedLoop({ ...plan, rate, pool });
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
