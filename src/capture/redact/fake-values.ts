import { hash } from "node:crypto";

/** Makes stand-ins. With one key, the same text gets the same stand-in. Without the key they cannot be reversed. */
export interface FakeValues {
  /** `p-1f3a9c20@d-81c2ab10.example`; addresses of one domain still share a domain. */
  address(address: string): string;
  /** `d-81c2ab10.example`. */
  domain(domain: string): string;
  /** An address of 198.18.0.0/15, which is reserved for tests. */
  ip(ip: string): string;
  /** The prefix up to the last underscore stays. The rest becomes the same number of other hex digits. */
  id(id: string): string;
}

/** Stand-ins under a secret key. */
export function createFakeValues(key: Uint8Array): FakeValues {
  const secret = Buffer.from(key).toString("hex");
  // Ten times as fast as an HMAC, of which a body of many addresses needs thousands; what is shown is a part of it.
  const digest = (kind: string, text: string): string => hash("sha256", `${secret}\0${kind}\0${text.toLowerCase()}`);
  const domain = (name: string): string => `d-${digest("domain", name).slice(0, 8)}.example`;
  return {
    domain,
    address(address) {
      const at = address.lastIndexOf("@");
      return `p-${digest("address", address).slice(0, 8)}@${domain(address.slice(at + 1))}`;
    },
    ip(ip) {
      const bytes = Buffer.from(digest("ip", ip), "hex");
      return `198.${18 + (bytes.readUInt8(0) % 2)}.${bytes.readUInt8(1)}.${bytes.readUInt8(2)}`;
    },
    id(id) {
      const prefix = id.slice(0, id.lastIndexOf("_") + 1);
      const length = id.length - prefix.length;
      return (
        prefix +
        digest("id", id)
          .repeat(Math.ceil(length / 64))
          .slice(0, length)
      );
    },
  };
}

/** Text of the same length with other letters and digits. White space stays; punctuation too unless `hideMarks`. */
export function maskText(text: string, hideMarks: boolean): string {
  // Run by run: a call for each letter takes longer than all else that redaction does.
  const filled = text
    .replaceAll(/\p{N}+/gu, fillWith("0"))
    .replaceAll(/\p{Lu}+/gu, fillWith("X"))
    .replaceAll(/[\p{Ll}\p{Lt}\p{Lm}\p{Lo}\p{M}]+/gu, fillWith("x"));
  return filled.replaceAll(hideMarks ? /[^\sXx0]+/gu : /[^\s\p{ASCII}]+/gu, fillWith("x"));
}

/** As many as the run has UTF-16 units: a character outside the basic plane has two. */
const fillWith =
  (filler: string) =>
  (run: string): string =>
    filler.repeat(run.length);
