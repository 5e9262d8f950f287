import { spawnSync } from "node:child_process";
import { pinCommand } from "./pinning.js";

/** Microseconds OpenSSL takes for HMAC-SHA256 over so many bytes, by its own measure; undefined without the program. */
export function measureOpensslHmac(bytes: number, cores: string): number | undefined {
  const args = ["speed", "-hmac", "sha256", "-bytes", String(bytes), "-seconds", "1"] as const;
  const command = pinCommand(cores, ["openssl", ...args]);
  const { stdout } = spawnSync(command.file, command.args, { encoding: "utf8", timeout: 20_000 });
  // The last line reads "hmac(sha256)   1654321.15k": thousands of bytes per second.
  const speed = /^hmac\(sha256\)\s+([\d.]+)k/im.exec(stdout ?? "");
  return speed ? (bytes / (Number(speed[1]) * 1000)) * 1e6 : undefined;
}
