import type { Clock } from "../../base/clock.js";
import type { Changes } from "../../base/options.js";
import type { NamedSecret } from "../../capture/model/judge-signature.js";
import type { SignatureAssumptions } from "../../protocol/signature-assumptions.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import type { CaptureLog } from "../forward/capture-log.js";
import type { ForwardRule } from "../forward/forward-rules.js";
import type { Replay } from "../forward/replay.js";
import type { DevSandbox } from "../sandbox/dev-sandbox.js";
import type { Session } from "./page-api.js";
import type { SendSample } from "./send-sample.js";
import type { WorkFollower } from "./work-follower.js";

/** What the routes of a dev server work with. */
export interface DevTools {
  session: () => Session;
  log: CaptureLog;
  replay: Replay;
  sendSample: SendSample;
  secrets: () => readonly NamedSecret[];
  assumptions: Changes<SignatureAssumptions>;
  rules: readonly ForwardRule[];
  /** Where a command posts to if no forward matches the capture. */
  captureUrl: string;
  /** Largest body of a delivery that the page edits or sends. */
  maxBodyBytes: number;
  /** Its inbox may appear later; the work is given with it. */
  receiver: { readonly inbox: InboxOperator | undefined; readonly work: WorkFollower | undefined };
  sandbox: DevSandbox | undefined;
  clock: Clock;
}
