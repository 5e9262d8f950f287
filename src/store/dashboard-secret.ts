/** What a store keeps for the dashboards on it. */
export interface DashboardSecret {
  /**
   * 32 random bytes, made when they are first asked for; the same for all processes of the store. With them, tokens of
   * the dashboard can be forged: they are never shown or logged.
   */
  dashboardSecret(): Promise<Uint8Array>;
}

/** Its name among the secrets of a store. */
export const DASHBOARD_SECRET = "dashboard";
export const SECRET_BYTES = 32;
