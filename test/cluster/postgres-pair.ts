import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "pg";
import { expect } from "vitest";
import { type PostgresServer, startPostgresPair } from "../support/postgres-server.js";
import { readDataDirectory, stopAtOnce } from "./crash-server.js";
import { type TcpRelay, startRelay } from "./tcp-relay.js";

const STANDBY = "standby";

/** How long the primary works on without its standby, before it is lost. */
const APART_MS = 600;

const portOf = (url: string): number => Number(new URL(url).port);

/** A primary with a standby, at the address of whichever of the two is the primary. */
export class PostgresPair implements PostgresServer {
  readonly url: string;
  readonly #address: TcpRelay;
  readonly #replication: TcpRelay;
  readonly #servers: readonly PostgresServer[];
  readonly #pools: readonly [primary: Pool, standby: Pool];

  private constructor(servers: readonly [PostgresServer, PostgresServer], relays: readonly [TcpRelay, TcpRelay]) {
    this.#servers = servers;
    [this.#address, this.#replication] = relays;
    this.#pools = [poolOf(servers[0]), poolOf(servers[1])];
    const address = new URL(servers[0].url);
    address.port = String(this.#address.port);
    this.url = address.href;
  }

  static async start({ isSynchronous }: { isSynchronous: boolean }): Promise<PostgresPair> {
    const relays: TcpRelay[] = [];
    const servers = await startPostgresPair({}, async (primaryUrl) => {
      for (let count = 0; count < 2; count += 1) relays.push(await startRelay(portOf(primaryUrl)));
      const way = `host=127.0.0.1 port=${relays[1]?.port} user=postgres application_name=${STANDBY}`;
      return { primary_conninfo: way };
    });
    const pair = new PostgresPair(servers, relays as [TcpRelay, TcpRelay]);
    await pair.#join(isSynchronous);
    return pair;
  }

  /** Waits until the standby follows, and from then on for each commit if it is to be synchronous. */
  async #join(isSynchronous: boolean): Promise<void> {
    const [primary] = this.#pools;
    if (isSynchronous) {
      await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`);
      await primary.query("SELECT pg_reload_conf()");
    }
    const follows = "SELECT sync_state AS state FROM pg_stat_replication WHERE state = 'streaming'";
    await expect
      .poll(async () => (await primary.query(follows)).rows)
      .toEqual([{ state: isSynchronous ? "sync" : "async" }]);
  }

  /**
   * The standby is cut off, the primary works on for a moment and is lost, and the standby takes its place. Meanwhile
   * the connections that wait for the standby are cut: what they have written is visible, and on the primary alone.
   */
  async failOver(): Promise<void> {
    const [primary, standby] = this.#pools;
    const dataDirectory = await readDataDirectory(this.url);
    this.#replication.cut();
    await sleep(APART_MS);
    await primary.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    await sleep(APART_MS);
    await stopAtOnce(dataDirectory);
    await standby.query("SELECT pg_promote()");
    this.#address.aim(portOf(this.#servers[1]?.url ?? ""));
  }

  async stop(): Promise<void> {
    for (const pool of this.#pools) await pool.end();
    this.#address.close();
    this.#replication.close();
    await Promise.all(this.#servers.map((server) => server.stop()));
  }
}

function poolOf({ url }: PostgresServer): Pool {
  const pool = new Pool({ connectionString: url });
  pool.on("error", () => undefined);
  return pool;
}
