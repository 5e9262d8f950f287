import { existsSync } from "node:fs";
import { tmpdir } from "node:os";

/** A memory file system where there is one: what a disk keeps is simulated, so none needs to be waited for. */
export const SCRATCH = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export const SECRET = "whsec_Yp3lT0wJ9vQe6RkXa8sZc2uNf5hGmB1d";
