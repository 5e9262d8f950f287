/** Where deliveries arrive unless told otherwise: in the dev server, the commands, new projects and mounts in apps. */
export const DEFAULT_ENDPOINT_PATH = "/webhooks/mail";
