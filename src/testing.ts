export { TEST_SECRET, createTestReceiver, deliver, type Delivered, type DeliverOptions } from "./testing/deliver.js";
export { type CaptureTestReport, replayDirectory, type ReplayDirectoryOptions } from "./testing/replay-directory.js";
export { type ManualClock as FakeClock, createManualClock as fakeClock } from "./base/manual-clock.js";
export { type SampleEvent, type SampleOptions, sampleEvent, sampleTestEvent } from "./sandbox/samples/sample-event.js";
export { type SignDeliveryInput, signDelivery } from "./protocol/sign-delivery.js";
