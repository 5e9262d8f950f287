import { configure } from "./vitest.config.js";

export default configure("dist", "rest");
