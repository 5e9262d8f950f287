import { PigeonholeError } from "../../base/error.js";

/** How a tunnel program is run and its output parsed. */
export interface TunnelProgram {
  name: string;
  command: string;
  args: readonly string[];
  /** Finds the public URL in one line of its output. */
  findUrl(line: string): string | undefined;
  /** Shown if the program is not installed. */
  install: string;
}

const KNOWN: Record<string, (port: number) => Omit<TunnelProgram, "name">> = {
  cloudflared: (port) => ({
    command: "cloudflared",
    args: ["tunnel", "--no-autoupdate", "--url", `http://127.0.0.1:${port}`],
    findUrl: (line) => /https:\/\/(?!api\.)[a-z0-9-]+\.trycloudflare\.com/.exec(line)?.[0],
    install: "Install cloudflared (no account is needed): https://developers.cloudflare.com/tunnel/downloads",
  }),
  ngrok: (port) => ({
    command: "ngrok",
    args: ["http", `127.0.0.1:${port}`, "--log", "stdout", "--log-format", "logfmt"],
    findUrl: (line) => /msg="started tunnel".*\burl=(https:\/\/[^\s"]+)/.exec(line)?.[1],
    install: "Install ngrok and log in once: https://ngrok.com/download",
  }),
  tailscale: (port) => ({
    command: "tailscale",
    args: ["funnel", String(port)],
    findUrl: (line) => /https:\/\/[a-z0-9.-]+\.ts\.net\b[^\s]*/.exec(line)?.[0],
    install: "Install Tailscale and allow Funnel for this machine: https://tailscale.com/download",
  }),
};

const TUNNEL_NAMES: readonly string[] = Object.keys(KNOWN);

/**
 * `cloudflared`, `ngrok`, `tailscale`, or any command with `{port}` in it that prints a public https URL. Throws
 * `invalid_option`.
 */
export function findTunnelProgram(tunnel: string, port: number): TunnelProgram {
  const known = Object.hasOwn(KNOWN, tunnel) ? KNOWN[tunnel]?.(port) : undefined;
  if (known !== undefined) return { name: tunnel, ...known };
  const [command, ...args] = splitCommand(tunnel).map((word) => word.replaceAll("{port}", String(port)));
  if (command === undefined || !tunnel.includes("{port}")) {
    throw new PigeonholeError(
      "invalid_option",
      `tunnel must be ${TUNNEL_NAMES.join(", ")} or a command with {port} in it, such as "npx localtunnel --port {port}".`,
    );
  }
  return {
    name: command,
    command,
    args,
    findUrl: (line) => /https:\/\/[^\s"'<>|]+/.exec(line)?.[0],
    install: `Is "${command}" installed and on the PATH?`,
  };
}

/** Splits a command line into words, with quotes. No shell is used, so that ending the command ends the tunnel. */
function splitCommand(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? "",
  );
}
