import { createHmac, createSecretKey, randomUUID, timingSafeEqual } from "node:crypto";
import { Webhooks } from "@octokit/webhooks";
import { verifySignature } from "pigeonhole/protocol";
import { Stripe } from "stripe";
import { Webhook } from "svix";
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
  oursKeyObject: "the same, secret as KeyObject",
  stripe: "stripe verifyHeader",
  octokit: "octokit verify",
  svix: "svix@1 sign and compare",
  oursParse: "pigeonhole and JSON.parse",
  stripeParse: "stripe constructEvent",
  octokitParse: "octokit verify and JSON.parse",
  svixParse: "svix@1 verify",
} as const;

/** Different messages, so that nobody gains from having just seen one. */
const MESSAGES_MEMORY = 4 * 1_048_576;
const MAX_MESSAGES = 64;

interface Message {
  id: string;
  body: Buffer;
  svc: Record<string, string>;
  stripe: string;
  octokit: string;
  svix: Record<string, string>;
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
      id,
      body,
      svc: signBody("svc", message),
      stripe: signBody("stripe", message)["stripe-signature"] ?? "",
      octokit: signBody("octokit", message)["x-hub-signature-256"] ?? "",
      svix: signBody("svix", message),
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

/** A candidate that runs without a pause through the messages. */
function inTurn(name: string, messages: readonly Message[], verify: (message: Message) => void): Named {
  let next = 0;
  return [
    name,
    (count) => {
      for (let done = 0; done < count; done += 1) {
        const message = messages[next];
        if (message) verify(message);
        next = next + 1 === messages.length ? 0 : next + 1;
      }
    },
  ];
}

/** The same for a verification that returns a promise; each is awaited, as a receiver does. */
function inTurnAsync(name: string, messages: readonly Message[], verify: (message: Message) => Promise<void>): Named {
  let next = 0;
  return [
    name,
    async (count) => {
      for (let done = 0; done < count; done += 1) {
        const message = messages[next];
        if (message) await verify(message);
        next = next + 1 === messages.length ? 0 : next + 1;
      }
    },
  ];
}

function createOwn(messages: readonly Message[]): Named[] {
  const secrets = [SECRET];
  const keys = [createSecretKey(SECRET, "utf8")];
  const [key] = keys;
  const verifyOurs = (message: Message, withSecrets: Parameters<typeof verifySignature>[0]["secrets"]): void => {
    demand(verifySignature({ body: message.body, headers: (name) => message.svc[name], secrets: withSecrets }).ok);
  };
  return [
    inTurn(CANDIDATES.hmac, messages, ({ body }) => {
      demand(
        createHmac("sha256", key ?? SECRET)
          .update("1760000000.")
          .update(body)
          .digest().length === 32,
      );
    }),
    inTurn(CANDIDATES.ours, messages, (message) => verifyOurs(message, secrets)),
    inTurn(CANDIDATES.oursKeyObject, messages, (message) => verifyOurs(message, keys)),
    inTurn(CANDIDATES.oursParse, messages, (message) => {
      verifyOurs(message, keys);
      JSON.parse(message.body.toString());
    }),
  ];
}

function createPeers(messages: readonly Message[]): Named[] {
  const { webhooks } = Stripe;
  const svix = new Webhook(SECRET);
  const octokit = new Webhooks({ secret: SECRET });
  return [
    inTurn(CANDIDATES.stripe, messages, ({ body, stripe }) =>
      demand(webhooks.signature?.verifyHeader(body, stripe, SECRET) ?? false),
    ),
    inTurnAsync(CANDIDATES.octokit, messages, async ({ body, octokit: header }) => {
      demand(await octokit.verify(body.toString(), header));
    }),
    // svix.verify cannot leave out JSON.parse; this is the rest of what it does.
    inTurn(CANDIDATES.svix, messages, ({ id, body, svix: headers }) => {
      const signedAt = new Date(Number(headers["svix-timestamp"]) * 1000);
      const expected = Buffer.from(svix.sign(id, signedAt, body.toString()));
      demand(timingSafeEqual(expected, Buffer.from(headers["svix-signature"] ?? "")));
    }),
    inTurn(CANDIDATES.stripeParse, messages, ({ body, stripe }) => void webhooks.constructEvent(body, stripe, SECRET)),
    inTurnAsync(CANDIDATES.octokitParse, messages, async ({ body, octokit: header }) => {
      const text = body.toString();
      demand(await octokit.verify(text, header));
      JSON.parse(text);
    }),
    inTurn(CANDIDATES.svixParse, messages, ({ body, svix: headers }) => void svix.verify(body, headers)),
  ];
}
