import { isMailAddress, isSubnet, secretSourceSchema } from "@flyte-ts/outbound";
import { z } from "zod";

const name = z.string().min(1);
const template = z.string();

const webhookSchema = z
  .strictObject({
    /** Notifications refer to it by the recipient `webhook:NAME`. */
    name: z.string().regex(/^[A-Za-z0-9._-]{1,63}$/, "letters, digits, dots, dashes and underscores"),
    /**
     * `signed`: the event as JSON, signed according to Standard Webhooks. `slack`: a text for
     * incoming webhooks of Slack.
     */
    kind: z.enum(["signed", "slack"]).default("signed"),
    /** Address that receives the request; give this or `urlFrom`. */
    url: z.url().optional(),
    /** Source of a URL that is itself a secret, such as Slack's. */
    urlFrom: secretSourceSchema.optional(),
    /** Signing key of `signed`, `whsec_…` or any text. */
    secret: secretSourceSchema.optional(),
    /** Projects whose executions it may receive; empty: all. */
    projects: z.array(name).default([]),
    /** Domains whose executions it may receive; empty: all. */
    domains: z.array(name).default([]),
    /** Phases that it receives without being named as a recipient. */
    phases: z.array(z.enum(["SUCCEEDED", "FAILED", "ABORTED", "TIMED_OUT"])).default([]),
  })
  .refine(({ url, urlFrom }) => (url === undefined) !== (urlFrom === undefined), { message: "set either url or urlFrom" })
  .refine(({ kind, secret }) => (kind === "signed") === (secret !== undefined), {
    path: ["secret"],
    message: "required for a signed webhook, not allowed for a Slack webhook",
  });

/** Recipients and channels of notifications about completed executions. */
export const notificationsSchema = z
  .strictObject({
    emailer: z
      .strictObject({
        /** Template of the subject; this and the other templates have Flyte's placeholders. */
        subject: template.default("Flyte: {{ project }}/{{ domain }}/{{ name }} has {{ phase }}"),
        /** Template of the body, HTML, for notifications without a body of their own. */
        body: template.default(
          "<p>Execution <b>{{ name }}</b> of {{ workflow.name }} ({{ project }}, {{ domain }}) has {{ phase }}.{{ error }}</p>",
        ),
        /** Mail address in `From`. */
        sender: z.string().refine(isMailAddress, "must be a mail address").default("flyte-notifications@localhost"),
        /** Default: no mail server; mails then fail with this reason in the list of deliveries. */
        smtp: z
          .strictObject({
            /** Host name or address of the mail server. */
            host: name,
            /** Port of the mail server. */
            port: z.number().int().min(1).max(65535).default(587),
            /** `implicit` is for port 465. */
            tls: z.enum(["implicit", "starttls", "opportunistic", "none"]).default("starttls"),
            /**
             * False accepts any certificate of the mail server, so another server may read the
             * mails and the password.
             */
            verifyCertificate: z.boolean().default(true),
            /** User name at the mail server; absent: no login. */
            user: name.optional(),
            /** Password of that user. */
            password: secretSourceSchema.optional(),
          })
          .refine(({ user, password }) => (user === undefined) === (password === undefined), {
            message: "set user and password together",
          })
          .optional(),
      })
      .prefault({}),
    slack: z
      .strictObject({
        /**
         * Template of the message, with Flyte's placeholders, for notifications without a message
         * of their own.
         */
        text: template.default("Execution `{{ name }}` of {{ workflow.name }} ({{ project }}, {{ domain }}) has {{ phase }}.{{ error }}"),
        /** Permits Slack notifications that name the URL of an incoming webhook themselves. */
        allowUrls: z.boolean().default(true),
      })
      .prefault({}),
    /** Receivers of HTTP requests about completed executions. */
    webhooks: z
      .array(webhookSchema)
      .default([])
      .refine((webhooks) => new Set(webhooks.map((each) => each.name)).size === webhooks.length, "names must be unique"),
    /**
     * Networks outside the public internet to which requests are allowed, such as `10.1.0.0/16`.
     */
    allowNetworks: z.array(z.string().refine(isSubnet, "must be a network such as 10.1.0.0/16")).default([]),
    /** Allows `http:` URLs too. */
    allowHttp: z.boolean().default(false),
    /** Maximum of redirects (307 and 308) that are followed. */
    maxRedirects: z.number().int().min(0).max(5).default(0),
    /** Timeout of one attempt, seconds. */
    timeoutSeconds: z.number().positive().max(60).default(15),
    /** Delay before the second attempt, seconds; doubles for each further one. */
    firstDelaySeconds: z.number().positive().default(5),
    /** Maximum delay between attempts, seconds, also where the receiver requests more. */
    maxDelaySeconds: z.number().positive().default(3600),
    /** Time after the first attempt from which a failed delivery is not retried, seconds. */
    giveUpAfterSeconds: z
      .number()
      .positive()
      .default(3 * 86_400),
    /** Retention of completed deliveries, days. */
    keepDays: z.number().positive().default(30),
  })
  .prefault({});

export type NotificationsConfig = z.infer<typeof notificationsSchema>;
export type WebhookConfig = NotificationsConfig["webhooks"][number];
