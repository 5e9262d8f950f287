import { createServer } from "node:http";
import { expect, onTestFinished } from "vitest";
import { closeServer, listen } from "../support/listen.js";
import { makeEvent } from "../support/receiver.js";
import { type Place, startHandler } from "./one-handler.js";

/**
 * A receiver makes a thing, and SIGKILL ends it when the thing is made and the answer has not come. Gives how many
 * things there are when the next process is done.
 */
export async function killBetweenCreateAndKeep(place: Place): Promise<number> {
  const event = makeEvent();
  const things: { id: number }[] = [];
  const shop = createServer((request, response) => {
    if (request.method === "GET") return void response.end(JSON.stringify(things));
    things.push({ id: things.length + 1 });
    first.signal("SIGKILL");
  });
  const url = `http://127.0.0.1:${await listen(shop)}/`;
  onTestFinished(() => closeServer(shop));
  const start = () => startHandler("once", { place, events: [event], shop: url });
  const first = start();
  expect(await first.ended).toEqual({ code: null, signal: "SIGKILL" });
  expect(await start().line("thing")).toMatchObject({ thing: { id: 1 } });
  return things.length;
}
