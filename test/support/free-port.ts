import { createServer } from "node:net";

// Below the ports that Linux and macOS give to each program that asks for any: there, a server or a connection of a
// test that runs at the same time could get the port between its being found and its being used.
const FIRST_PORT = 20_000;
const SLICES = 300;
const PORTS_PER_SLICE = 40;

/** Test files run in processes of their own, whose ids follow one another: so no two at a time have the same slice. */
const firstOfSlice = FIRST_PORT + (process.pid % SLICES) * PORTS_PER_SLICE;
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
