import { createHmac, createSecretKey, randomUUID } from "node:crypto";
import { Webhooks } from "@octokit/webhooks";
import { verifySignature } from "pigeonhole/protocol";
import { Stripe } from "stripe";
import { signBody } from "../load/signing.js";
import { BODY_BYTES, SECRET, createBodyTemplate } from "../sample-delivery.js";

/** Something that verifies signed bodies, `count` of them in a row. Throws when one is refused. */
export interface VerifyCandidate {
  bytes: number;
  name: string;
  run: (count: number) => void | Promise<void>;
}

export const VERIFY_SIZES = [1024, BODY_BYTES, 65_536, 1_048_576] as const;

export const CANDIDATES = {
  hmac: "createHmac alone",
  ours: "pigeonhole verifySignature",
  stripe: "stripe verifyHeader",
  octokit: "octokit verify",
} as const;

/** Different messages, so that nobody gains from having just seen one. */
const MESSAGES_MEMORY = 4 * 1_048_576;
const MAX_MESSAGES = 64;

interface Message {
  body: Buffer;
  svc: Record<string, string>;
  stripe: string;
  octokit: string;
}

function createMessages(bytes: number): Message[] {
  const { body: template, idOffset } = createBodyTemplate(bytes);
  const seconds = Math.floor(Date.now() / 1000);
  return Array.from({ length: Math.min(MAX_MESSAGES, MESSAGES_MEMORY / bytes) }, () => {
    const id = randomUUID();
    const body = Buffer.from(template);
    body.write(id, idOffset, "latin1");
    const message = { id, seconds, body };
    return {
      body,
      svc: signBody("svc", message),
      stripe: signBody("stripe", message)["stripe-signature"] ?? "",
      octokit: signBody("octokit", message)["x-hub-signature-256"] ?? "",
    };
  });
}

function demand(ok: boolean): void {
  if (!ok) throw new Error("a candidate refused a genuine signature");
}

/** All candidates: our own and the HMAC alone at every size, the peers at 4 KB. */
export function createVerifyCandidates(): VerifyCandidate[] {
  return VERIFY_SIZES.flatMap((bytes) => {
    const messages = createMessages(bytes);
    const own = [...createOwn(messages)];
    const all = bytes === BODY_BYTES ? [...own, ...createPeers(messages)] : own;
    return all.map(([name, run]) => ({ bytes, name, run }));
  });
}

type Named = [name: string, run: VerifyCandidate["run"]];

/** A candidate that runs without a pause through the messages; a promise is awaited, as a receiver does. */
function inTurn(
  name: string,
  messages: readonly Message[],
  verify: (message: Message) => boolean | Promise<boolean>,
): Named {
  let next = 0;
  return [
    name,
    async (count) => {
      for (let done = 0; done < count; done += 1) {
        const message = messages[next];
        const verified = message !== undefined && verify(message);
        demand(typeof verified === "boolean" ? verified : await verified);
        next = next + 1 === messages.length ? 0 : next + 1;
      }
    },
  ];
}

function createOwn(messages: readonly Message[]): Named[] {
  const key = createSecretKey(SECRET, "utf8");
  const secrets = [key];
  return [
    inTurn(
      CANDIDATES.hmac,
      messages,
      ({ body }) => createHmac("sha256", key).update("1760000000.").update(body).digest().length === 32,
    ),
    inTurn(CANDIDATES.ours, messages, ({ body, svc }) => {
      return verifySignature({ body, headers: (name) => svc[name], secrets }).ok;
    }),
  ];
}

function createPeers(messages: readonly Message[]): Named[] {
  const { signature } = Stripe.webhooks;
  const octokit = new Webhooks({ secret: SECRET });
  return [
    inTurn(CANDIDATES.stripe, messages, ({ body, stripe }) => signature?.verifyHeader(body, stripe, SECRET) ?? false),
    inTurn(CANDIDATES.octokit, messages, ({ body, octokit: header }) => octokit.verify(body.toString(), header)),
  ];
}
