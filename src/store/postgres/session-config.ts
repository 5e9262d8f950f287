import { Client, type ClientConfig } from "pg";

/**
 * How the connection with a lasting session is made: as those of the pool, or by a URL of its own. What that does not
 * say of TLS is as for the pool, whose own URL may say it.
 */
export function sessionConfig(ofPool: ClientConfig, connectionString: string | undefined): ClientConfig {
  return connectionString === undefined ? ofPool : { connectionString, ssl: new Client(ofPool).ssl };
}
