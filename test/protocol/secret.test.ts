import { createReceiver } from "pigeonhole";
import { createSandbox } from "pigeonhole/sandbox";
import { fakeClock } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { reportSecrets as inspectSecrets } from "#pigeonhole/cli/values/secret-option.js";
import { SECRET_PATTERN, makeSecret, secretMistakes } from "#pigeonhole/protocol/secret.js";

const GOOD = `whsec_${"aB3-_".repeat(8)}xyz`;

const MISTAKES: [secret: unknown, codes: string[]][] = [
  [GOOD, []],
  [undefined, ["secret_is_no_text"]],
  [5, ["secret_is_no_text"]],
  ["", ["secret_is_empty"]],
  [" \n", ["secret_is_empty"]],
  [`svc_live_${"k".repeat(40)}`, ["secret_is_api_key", "secret_prefix_missing"]],
  [`"svc_test_${"k".repeat(40)}"`, ["secret_is_api_key", "secret_has_quotes", "secret_prefix_missing"]],
  [`whe_${"5".repeat(24)}`, ["secret_is_endpoint_id", "secret_prefix_missing"]],
  [` ${GOOD}`, ["secret_has_whitespace"]],
  [`${GOOD}\r\n`, ["secret_has_whitespace"]],
  [`'${GOOD}'`, ["secret_has_quotes", "secret_prefix_missing"]],
  [`${GOOD}\\n`, ["secret_has_quotes", "secret_has_other_length"]],
  ["x".repeat(43), ["secret_prefix_missing"]],
  [GOOD.slice(0, -1), ["secret_has_other_length"]],
  ["whsec_xxx", ["secret_has_other_length", "secret_is_too_short"]],
  ["q".repeat(23), ["secret_prefix_missing", "secret_is_too_short"]],
  ["q".repeat(24), ["secret_prefix_missing"]],
];

const receiverWith = (secrets: unknown): unknown =>
  createReceiver({ secrets: [secrets as string], store: ":memory:", clock: fakeClock(), logger: silentLogger });
const takenThough = new Set(["secret_prefix_missing", "secret_has_other_length"]);

describe.each(MISTAKES)("the secret %j", (secret, codes) => {
  const mistakes = secretMistakes(secret);

  test(`the secret ${JSON.stringify(secret)} has the mistakes ${JSON.stringify(codes)}`, () => {
    expect(mistakes.map(({ code }) => code)).toEqual(codes);
  });

  test(`a receiver and doctor say the same about the secret ${JSON.stringify(secret)}`, () => {
    const refusal = mistakes.find(({ code }) => !takenThough.has(code));
    if (refusal === undefined) expect(() => receiverWith(secret)).not.toThrow();
    else expect(() => receiverWith(secret)).toThrow(`secrets[0] ${refusal.what}. ${refusal.fix}`);
    if (typeof secret !== "string") return;
    const [result] = inspectSecrets([{ ref: "env:S", value: secret }]);
    const [first] = mistakes;
    expect(result).toMatchObject(
      first === undefined ? { status: "pass" } : { message: `env:S ${first.what}.`, fix: first.fix },
    );
  });

  test(`the sandbox accepts the secret ${JSON.stringify(secret)} only if it has no mistake`, () => {
    const create = (): unknown =>
      createSandbox({ clock: "manual" }).endpoints.create({ url: "http://127.0.0.1:1/" }, { secret: secret as string });
    if (secret === undefined || codes.length === 0) expect(create).not.toThrow();
    else expect(create).toThrow(expect.objectContaining({ code: "invalid_secret" }));
  });
});

test("a generated secret has the form that the service gives", () => {
  const secret = makeSecret();
  expect(secret).toMatch(SECRET_PATTERN);
  expect(secretMistakes(secret)).toEqual([]);
  expect(makeSecret()).not.toBe(secret);
  expect(makeSecret(Buffer.alloc(32))).toBe(`whsec_${"A".repeat(43)}`);
});

test("secrets that are undefined are probably those of a variable that is not set, and the error says so", () => {
  expect(() => createReceiver({ secrets: undefined as unknown as string, store: ":memory:" })).toThrow(
    "secrets must be a list of strings, got undefined, as from a variable that is not set: set it, or load .env before.",
  );
});
