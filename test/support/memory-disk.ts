import { existsSync } from "node:fs";
import { tmpdir } from "node:os";

/** Where files lie whose tests assert what holds on any disk: one that waits for no device, if the system has one. */
export const MEMORY_DISK = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
