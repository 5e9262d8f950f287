import { face } from "./api/face.js";

const page = document.querySelector("#page");
if (page === null) throw new Error("index.html has no element #page");

// A face loads its own views only.
if (face === "dev") (await import("./dev/start-dev.js")).startDev(page);
else (await import("./dashboard/start-dashboard.js")).startDashboard(page);
