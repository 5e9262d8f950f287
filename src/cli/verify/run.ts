import { bodyBytes } from "../../capture/model/capture-request.js";
import { CUT_TAG, type HeaderList } from "../../capture/model/capture.js";
import { headerListReader, nameSecrets, type NamedSecret } from "../../capture/model/judge-signature.js";
import { selectCaptures } from "../../capture/query/select-captures.js";
import { explainSignature } from "../../protocol/explain-signature.js";
import type { SignatureExplanation } from "../../protocol/explanation.js";
import { verifySignature } from "../../protocol/verify-signature.js";
import { usageError } from "../frame/command-error.js";
import type { CommandInput, RunCommand } from "../frame/context.js";
import { EXIT } from "../frame/exit-code.js";
import type { Output } from "../frame/output.js";
import type { verify } from "./spec.js";
import { readCaptures } from "../values/capture-store.js";
import { readInput } from "../values/read-input.js";
import { requireSecrets } from "../values/secret-option.js";

/** Reports whether a signature is valid, or why not. */
export const run: RunCommand<typeof verify> = async (input) => {
  const { options, context } = input;
  const secrets = requireSecrets(options.secret, context);
  const { body, headers, receivedAt } = await findRequest(input);
  const question = {
    body,
    headers: headerListReader(headers),
    secrets: secrets.map(({ value }) => value),
    toleranceSeconds: options.tolerance,
    nowMs: options.at ?? receivedAt,
  };
  const verdict = verifySignature(question);
  const secretRef = "secretIndex" in verdict ? (secrets[verdict.secretIndex]?.ref ?? null) : null;
  const explained = nameAll(explainSignature(question), secrets);
  show({ ok: verdict.ok, reason: verdict.ok ? null : verdict.reason, secretRef, explained }, context.out);
  return verdict.ok ? EXIT.ok : EXIT.failed;
};

/** The explanation gives the number of a secret. The user knows them by name. */
function nameAll(explained: SignatureExplanation, secrets: readonly NamedSecret[]): SignatureExplanation {
  const summary = nameSecrets(explained.summary, secrets);
  const findings = explained.findings.map((finding) => ({
    ...finding,
    message: nameSecrets(finding.message, secrets),
    fix: nameSecrets(finding.fix, secrets),
  }));
  return { ...explained, summary, findings };
}

interface Request {
  body: Uint8Array;
  headers: HeaderList;
  receivedAt: number;
}

async function findRequest({ args, options, context }: CommandInput<typeof verify>): Promise<Request> {
  const { capture: word } = args;
  if (options.body !== undefined) {
    if (word !== undefined) throw usageError("Give a capture or --body, not both.");
    if (options.header.length === 0) throw usageError('--body needs the headers: give --header "X-Svc-Signature: …".');
    return { body: await readInput("--body", options.body, context), headers: options.header, receivedAt: Date.now() };
  }
  if (word === undefined) throw usageError("Nothing to verify: give a capture (a file, an id, last) or --body.");
  const [capture, ...others] = selectCaptures(readCaptures(options.store, context), [word], context.cwd);
  if (capture === undefined || others.length > 0) {
    throw usageError(`"${word}" picks ${others.length + 1} captures; verify takes one.`);
  }
  const { request, receivedAt, tags } = capture;
  if (tags.includes(CUT_TAG))
    throw usageError(
      `${capture.id} was cut: only the beginning of its body was kept. Have it sent again while dev knows its secret.`,
    );
  return { body: bodyBytes(capture), headers: request.headers, receivedAt: Date.parse(receivedAt) };
}

interface CheckedDelivery {
  ok: boolean;
  reason: string | null;
  /** Name of the secret that matches. */
  secretRef: string | null;
  explained: SignatureExplanation;
}

function show({ ok, reason, secretRef, explained }: CheckedDelivery, out: Output): void {
  const sign = ok ? out.paint.green("✓ genuine") : out.paint.red(`✗ ${reason ?? "not genuine"}`);
  const by = secretRef === null ? "" : `  signed with ${secretRef}`;
  const { summary, findings } = explained;
  const lines = [
    `${sign}${by}`,
    `  ${summary}`,
    ...findings.flatMap(({ message, fix }, index) => [
      // The summary quotes the first one.
      ...(index === 0 && !ok ? [] : [`  ${message}`]),
      `  ${out.paint.dim("→")} ${fix}`,
    ]),
  ];
  out.result({ ok, reason, secretRef, summary, findings }, lines.join("\n"));
}
