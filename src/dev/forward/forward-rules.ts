import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { PigeonholeError, isPigeonholeError } from "../../base/error.js";
import { isLocalAddress, plainAddress } from "../../capture/send/local-address.js";
import { parseTarget } from "../../capture/send/target.js";
import { type TypeMatcher, parsePatterns } from "../../protocol/event-pattern.js";

/** A target for deliveries of some types. */
export interface Forward {
  /** Event types: `*`, `email.*`, one type, or several with commas. @default '*' */
  types?: string;
  /** Port, host:port or URL of the app. Without a path it gets the path of the delivery. */
  target: string;
}

/** A forward, checked. */
export interface ForwardRule {
  types: string;
  /** The target as a URL. */
  target: string;
  matches: TypeMatcher;
}

/** Parses a forward as given on a command line: `3000`, `http://localhost:3000/hooks` or `email.*=3000`. */
export function parseForward(text: string): Forward {
  const { types, target } = /^(?:(?<types>[\w.*,]+)=)?(?<target>.*)$/s.exec(text)?.groups ?? {};
  return { ...(types === undefined ? {} : { types }), target: target ?? "" };
}

/**
 * Checks forwards. Throws `invalid_option` for a target that is invalid or outside this machine and its private
 * network, and for a rule that an earlier one hides, since the first that matches is used.
 */
export function createForwardRules(forwards: readonly Forward[], { allowRemote }: { allowRemote: boolean }) {
  const seen = new Set<string>();
  return forwards.map(({ types = "*", target }): ForwardRule => {
    const matches = parsePatterns(types, "forwards");
    if (seen.has(types) || seen.has("*")) {
      throw new PigeonholeError(
        "invalid_option",
        `forwards: ${target} would never get a delivery, since an earlier forward takes "${seen.has(types) ? types : "*"}". Put narrower types first.`,
      );
    }
    seen.add(types);
    return { types, target: readTarget(target, allowRemote), matches };
  });
}

function readTarget(text: string, allowRemote: boolean): string {
  const url = parseForwardTarget(text);
  const address = url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (!allowRemote && isIP(address) !== 0 && !isLocalAddress(address)) {
    throw new PigeonholeError(
      "invalid_option",
      `forwards: ${url.host} is outside this machine and its private network; --allow-remote permits that.`,
    );
  }
  return url.href;
}

function parseForwardTarget(text: string): URL {
  try {
    return parseTarget(text);
  } catch (error) {
    throw isPigeonholeError(error) ? new PigeonholeError("invalid_option", `forwards: ${error.message}`) : error;
  }
}

/**
 * Rejects with `invalid_argument` for a target that is one of our own ports, under any name: it would be an endless
 * loop. An unknown name passes: sending reports it better.
 */
export async function checkNotOwnPort(target: string, ownPorts: readonly number[]): Promise<void> {
  const url = parseTarget(target);
  const port = Number(url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port);
  if (!ownPorts.includes(port)) return;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const isLocalName = host === "localhost" || host.endsWith(".localhost");
  const addresses = isLocalName ? [] : await lookup(host, { all: true }).catch(() => []);
  if (!isLocalName && !addresses.some(({ address }) => isOwnAddress(plainAddress(address)))) return;
  throw new PigeonholeError("invalid_argument", `${url.host} is this dev server itself; give the address of your app.`);
}

function isOwnAddress(address: string): boolean {
  if (address.startsWith("127.") || ["0.0.0.0", "::", "::1"].includes(address)) return true;
  return Object.values(networkInterfaces()).some((all) => all?.some((own) => own.address === address) === true);
}
