import { lookup as resolveName, type LookupAddress } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

const local = new BlockList();
local.addSubnet("127.0.0.0", 8, "ipv4");
local.addSubnet("10.0.0.0", 8, "ipv4");
local.addSubnet("172.16.0.0", 12, "ipv4");
local.addSubnet("192.168.0.0", 16, "ipv4");
// The wildcard address as a destination is this machine. 169.254.0.0/16 is excluded: clouds serve credentials there.
local.addAddress("0.0.0.0", "ipv4");
local.addAddress("::", "ipv6");
local.addAddress("::1", "ipv6");
local.addSubnet("fc00::", 7, "ipv6");
local.addSubnet("fe80::", 10, "ipv6");

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** The same address as a URL writes it. */
const MAPPED_HEX = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i;

/** An IPv4 address that is written as IPv6, as IPv4; any other without its zone. */
export function plainAddress(address: string): string {
  const [, high, low] = MAPPED_HEX.exec(address) ?? [];
  if (high !== undefined && low !== undefined) {
    return [high, low].flatMap((part) => [parseInt(part, 16) >> 8, parseInt(part, 16) & 0xff]).join(".");
  }
  return MAPPED.exec(address)?.[1] ?? address.replace(/%.*$/, "");
}

/** True for an address of this machine or of a private network. */
export function isLocalAddress(address: string): boolean {
  const plain = plainAddress(address);
  const family = isIP(plain);
  return family !== 0 && local.check(plain, family === 4 ? "ipv4" : "ipv6");
}

/** `code` of the error of {@link createLocalLookUp} for a name or address outside. */
export const NOT_LOCAL = "ERR_NOT_LOCAL";

/**
 * Makes the `lookup` of connections that may only go to this machine or a private network. Each host is resolved once,
 * so that a name cannot be checked as one address and connected to as another.
 */
export function createLocalLookUp(): LookupFunction {
  const found = new Map<string, LookupAddress[]>();
  return (hostname, { all }, callback) => {
    const give = (addresses: LookupAddress[]): void => {
      const [first] = addresses;
      if (all === true) callback(null, addresses);
      else callback(null, first?.address ?? "", first?.family);
    };
    const known = found.get(hostname);
    if (known !== undefined) {
      process.nextTick(give, known);
      return;
    }
    resolveName(hostname, { all: true }, (error, addresses) => {
      if (error !== null) callback(error, "", 0);
      else if (addresses.length > 0 && addresses.every(({ address }) => isLocalAddress(address))) {
        found.set(hostname, addresses);
        give(addresses);
      } else callback(Object.assign(new Error(`${hostname} is not on this machine`), { code: NOT_LOCAL }), "", 0);
    });
  };
}

/**
 * False for a host outside this machine and private networks. Uses the same lookup as connections to it. An unknown
 * name passes.
 */
export function isLocalHost(url: URL, lookUp: LookupFunction = createLocalLookUp()): Promise<boolean> {
  return new Promise((resolve) => {
    lookUp(hostOf(url), { all: true }, (error) => resolve(error?.code !== NOT_LOCAL));
  });
}

/** The host of a URL, without the brackets around an IPv6 address. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}
