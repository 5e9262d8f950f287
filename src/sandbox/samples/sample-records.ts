import { SAMPLE_DOMAIN } from "./sample-story.js";

/** The records of {@link SAMPLE_DOMAIN}, of samples and of the sandbox's record checks. */
export const SAMPLE_RECORDS = {
  domain: SAMPLE_DOMAIN,
  mx: ["inbound.mail.example.net"],
  spf: "v=spf1 include:mail.example.net -all",
  dkim: "v=DKIM1; k=rsa; p=MIIB",
  dmarc: `v=DMARC1; p=quarantine; rua=mailto:dmarc@${SAMPLE_DOMAIN}`,
} as const;
