import { createServer } from "node:net";

// Below the ports that Linux and macOS give to each program that asks for any: there, a server or a connection of a
// test that runs at the same time could get the port between its being found and its being used.
const FIRST_PORT = 20_000;
const WORKERS = 10;
const SLICES_PER_WORKER = 30;
const PORTS_PER_SLICE = 40;

/** Two files that a run reads at the same time have different workers; those of another run, other processes. */
const worker = Number(process.env["VITEST_POOL_ID"] ?? 0) % WORKERS;
const slice = worker * SLICES_PER_WORKER + (process.pid % SLICES_PER_WORKER);
const firstOfSlice = FIRST_PORT + slice * PORTS_PER_SLICE;
let given = 0;

/** A port of the loopback interface where nobody listens, and that no other test gets meanwhile. */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < PORTS_PER_SLICE; tries += 1) {
    const port = firstOfSlice + (given % PORTS_PER_SLICE);
    given += 1;
    if (await isFree(port)) return port;
  }
  throw new Error(`Not one of the ${PORTS_PER_SLICE} ports from ${firstOfSlice} on is free.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
