export { createDashboard } from "./dashboard/create-dashboard.js";
export type { Dashboard, DashboardReceiver } from "./dashboard/create-dashboard.js";
export type { AllowAnswer, DashboardOptions, DashboardPerson } from "./dashboard/dashboard-options.js";
export type { DashboardRole, PayloadAccess } from "./dashboard/api/session.js";
