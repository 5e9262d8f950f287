/** The checksum of these bytes. Its module is loaded with the first: starting takes longer with it, and few need it. */
export function crc32(bytes: Uint8Array): number {
  return process.getBuiltinModule("node:zlib").crc32(bytes);
}
