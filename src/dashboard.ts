export { createDashboard } from "./dashboard/create-dashboard.js";
export type { Dashboard } from "./dashboard/create-dashboard.js";
export type { DashboardOptions, DashboardPerson } from "./dashboard/dashboard-options.js";
