/** What a disk keeps is simulated, so none needs to be waited for. */
export { MEMORY_DISK as SCRATCH } from "../support/memory-disk.js";

export const SECRET = "whsec_Yp3lT0wJ9vQe6RkXa8sZc2uNf5hGmB1d";
