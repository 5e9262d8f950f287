import type * as Api from "@opentelemetry/api";
import { errorName } from "../base/error-text.js";
import { isPigeonholeError } from "../base/error.js";
import { ApiError } from "../client/errors.js";
import type { CallObserver } from "../outbox/call-observer.js";
import type { FrozenSend } from "../store/outbox.js";
import { SYSTEM } from "./metrics.js";
import { linksTo } from "./trace-of.js";

/** Makes calls to the API inside spans. A call that the client tries several times is one span. */
export function observeCalls(api: typeof Api, tracer: Api.Tracer): CallObserver["observeCall"] {
  return (send, call) => {
    const links = linksTo(
      send.events.map(({ trace }) => trace),
      api,
    );
    // What is active here is what happened to wake the sender.
    const options = { kind: api.SpanKind.CLIENT, root: true, attributes: attributesOfCall(send), links };
    return tracer.startActiveSpan("pigeonhole.send", options, async (span) => {
      try {
        return await call();
      } catch (error) {
        span.setAttributes(attributesOfError(error));
        span.setStatus({ code: api.SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    });
  };
}

function attributesOfCall({ kind, events, attempt }: FrozenSend): Api.Attributes {
  const isBatch = kind === "batch";
  return {
    "messaging.system": SYSTEM,
    "messaging.operation.name": "send",
    "messaging.operation.type": "send",
    ...(isBatch && { "messaging.batch.message_count": events.length }),
    "http.request.method": "POST",
    "url.template": isBatch ? "/events/batch" : "/events",
    "pigeonhole.attempt": attempt,
  };
}

/** Codes and classes; messages may quote what was sent. */
function attributesOfError(error: unknown): Api.Attributes {
  if (error instanceof ApiError) return { "error.type": error.code, "http.response.status_code": error.status };
  if (isPigeonholeError(error)) return { "error.type": error.code };
  return { "error.type": errorName(error) };
}
