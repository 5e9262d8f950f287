import "reflect-metadata";
import { Body, Controller, Module, type OnApplicationShutdown, Post } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ExpressAdapter } from "@nestjs/platform-express";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { createReceiver } from "pigeonhole";

// NestJS 11, on Express or with ADAPTER=fastify on Fastify. The tsconfig.json beside allows decorators.
// npm install @nestjs/…; WEBHOOK_SECRET=whsec_… npx tsx examples/hosts/nest.ts

const receiver = createReceiver({
  secrets: process.env["WEBHOOK_SECRET"] ?? "",
  store: process.env["DATABASE_FILE"] ?? "pigeonhole.db",
});
receiver.on("email.*", (event, ctx) => ctx.log.info({ createdAt: event.createdAt }, "mail"), { name: "audit" });

@Controller("orders")
class OrdersController {
  @Post()
  create(@Body() order: unknown): object {
    return { order };
  }
}

@Module({ controllers: [OrdersController] })
class AppModule implements OnApplicationShutdown {
  onApplicationShutdown(): Promise<void> {
    return receiver.stop();
  }
}

const adapter = process.env["ADAPTER"] === "fastify" ? new FastifyAdapter() : new ExpressAdapter();
const app = await NestFactory.create(AppModule, adapter);
app.use("/webhooks/mail", receiver.middleware()); // before listen(), which adds the body parsers
app.enableShutdownHooks(); // SIGTERM reaches onApplicationShutdown

await receiver.start();
await app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
