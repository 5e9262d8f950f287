import { lookup as resolveName, type LookupAddress, type LookupOptions } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

const local = new BlockList();
local.addSubnet("127.0.0.0", 8, "ipv4");
local.addSubnet("10.0.0.0", 8, "ipv4");
local.addSubnet("172.16.0.0", 12, "ipv4");
local.addSubnet("192.168.0.0", 16, "ipv4");
// The wildcard address as a destination is this machine. 169.254.0.0/16 is left out: clouds keep credentials there.
local.addAddress("0.0.0.0", "ipv4");
local.addAddress("::", "ipv6");
local.addAddress("::1", "ipv6");
local.addSubnet("fc00::", 7, "ipv6");
local.addSubnet("fe80::", 10, "ipv6");

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** The same as a URL writes it. */
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

/** Says that a name or address lies outside; `code` of the error that {@link lookUpLocal} gives. */
export const NOT_LOCAL = "ERR_NOT_LOCAL";

/**
 * The `lookup` of a connection that may only go to this machine or a private network. It decides at the moment of
 * connecting, so that a name cannot be looked up as one address and connected to as another.
 */
export const lookUpLocal: LookupFunction = (hostname, options: LookupOptions, callback) => {
  resolveName(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error !== null) {
      callback(error, "", 0);
      return;
    }
    const [first] = addresses;
    if (first === undefined || !addresses.every(({ address }) => isLocalAddress(address))) {
      callback(Object.assign(new Error(`${hostname} is not on this machine`), { code: NOT_LOCAL }), "", 0);
    } else if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
