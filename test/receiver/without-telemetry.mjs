// A process in which @opentelemetry/api is not installed, as far as anybody can tell.
import { register } from "node:module";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";

const { port1, port2 } = new MessageChannel();
const hook = `
  let port;
  export function initialize(data) { port = data.port; }
  export function resolve(specifier, context, next) {
    if (!specifier.startsWith("@opentelemetry/")) return next(specifier, context);
    port.postMessage(specifier);
    throw Object.assign(new Error("Cannot find package " + specifier), { code: "ERR_MODULE_NOT_FOUND" });
  }`;
register(`data:text/javascript,${encodeURIComponent(hook)}`, { data: { port: port2 }, transferList: [port2] });

const { createTestReceiver, deliver, sampleEvent } = await import("pigeonhole/testing");
const receiver = createTestReceiver();
receiver.on("email.sent", () => undefined);
const { status, handlers } = await deliver(receiver, sampleEvent("email.sent"));
await receiver.stop();
const asked = receiveMessageOnPort(port1)?.message === "@opentelemetry/api";
port1.close();
console.log(JSON.stringify({ asked, status, handlers: handlers.map(({ state }) => state) }));
