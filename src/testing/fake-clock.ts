export { type ManualClock as FakeClock, createManualClock as fakeClock } from "../base/manual-clock.js";
