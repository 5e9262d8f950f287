import { connect, type Socket } from "node:net";
import { parseResponse } from "./response-parser.js";

/** One keep-alive connection that carries one request at a time. */
export interface Connection {
  /** Writes a request; `onAnswer` is called when its answer is complete. */
  send(request: Uint8Array): void;
  destroy(): void;
}

export interface ConnectionEvents {
  onAnswer(status: number): void;
  /** The connection is gone; a request under way has no answer. */
  onLost(reason: string): void;
}

const READ_BUFFER_BYTES = 16_384;

/** Opens a connection; resolves once it is established. */
export function openConnection(port: number, events: ConnectionEvents): Promise<Connection> {
  let pending = "";
  let ended = false;
  const lose = (reason: string): void => {
    if (ended) return;
    ended = true;
    events.onLost(reason);
  };
  const onBytes = (count: number, buffer: Uint8Array): boolean => {
    pending += Buffer.from(buffer.buffer, buffer.byteOffset, count).toString("latin1");
    const response = parseResponse(pending);
    if (response) {
      pending = pending.slice(response.length);
      events.onAnswer(response.status);
    }
    return true;
  };
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({
      host: "127.0.0.1",
      port,
      noDelay: true,
      onread: { buffer: Buffer.alloc(READ_BUFFER_BYTES), callback: onBytes },
    });
    socket.once("error", reject);
    socket.on("error", (error) => lose(error.message));
    socket.on("close", () => lose("closed by the server"));
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve({
        send: (request) => socket.write(request),
        destroy: () => {
          ended = true;
          socket.destroy();
        },
      });
    });
  });
}
