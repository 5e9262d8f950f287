import type { Changes } from "../../base/options.js";
import type { Clock } from "../../base/clock.js";
import type { NamedSecret } from "../../capture/model/judge-signature.js";
import type { SignatureAssumptions } from "../../protocol/signature-assumptions.js";
import type { SignatureVariant } from "./page-api.js";
import type { ReceiveDelivery } from "../forward/forwarder.js";
import { signVariant } from "./sign-variant.js";

/** An event that the dev server sends to itself, as if from the service. */
export interface SampleDelivery {
  /** JSON text of the envelope. */
  body: string;
  variant: SignatureVariant;
  /** Deliveries of the same event. @default 1 */
  times?: number;
}

export type SendSample = (delivery: SampleDelivery) => Promise<string[]>;

/**
 * Signs sample events and passes them to the forwarder, one after the other. Resolves with the ids of the captures.
 */
export function createSendSample(deps: {
  receive: ReceiveDelivery;
  secrets: () => readonly NamedSecret[];
  assumptions: Changes<SignatureAssumptions>;
  /** The path for deliveries. */
  captureUrl: () => string;
  clock: Clock;
}): SendSample {
  return async ({ body: text, variant, times = 1 }) => {
    const url = new URL(deps.captureUrl());
    const captureIds: string[] = [];
    for (let round = 0; round < times; round += 1) {
      const { headers, body } = signVariant({
        body: Buffer.from(text),
        secret: deps.secrets()[0]?.value,
        variant,
        nowMs: deps.clock.now(),
        assumptions: deps.assumptions,
      });
      const { captureId } = await deps.receive({
        request: {
          method: "POST",
          path: url.pathname,
          query: "",
          headers: [["Host", url.host], ["Content-Length", String(body.byteLength)], ...headers],
          body,
        },
        source: "trigger",
        from: "this page",
      });
      captureIds.push(captureId);
    }
    return captureIds;
  };
}
