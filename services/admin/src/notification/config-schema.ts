import { isMailAddress, isSubnet, secretSourceSchema } from "@flyte-ts/outbound";
import { z } from "zod";

const name = z.string().min(1);
const template = z.string();

const webhookSchema = z
  .strictObject({
    /** Notifications name it as the recipient `webhook:NAME`. */
    name: z.string().regex(/^[A-Za-z0-9._-]{1,63}$/, "letters, digits, dots, dashes and underscores"),
    /** `signed`: the event as JSON, signed by the convention of Standard Webhooks. `slack`: a text, as incoming webhooks of Slack want it. */
    kind: z.enum(["signed", "slack"]).default("signed"),
    url: z.url().optional(),
    /** Where the address is that is itself a secret, as those of Slack are. */
    urlFrom: secretSourceSchema.optional(),
    /** What `signed` signs with, `whsec_…` or any text. */
    secret: secretSourceSchema.optional(),
    /** Of which executions it may be told; empty: of all. */
    projects: z.array(name).default([]),
    domains: z.array(name).default([]),
    /** Ends of which it is told without anybody naming it. */
    phases: z.array(z.enum(["SUCCEEDED", "FAILED", "ABORTED", "TIMED_OUT"])).default([]),
  })
  .refine(({ url, urlFrom }) => (url === undefined) !== (urlFrom === undefined), { message: "one of url and urlFrom must be given" })
  .refine(({ kind, secret }) => (kind === "signed") === (secret !== undefined), {
    path: ["secret"],
    message: "a signed webhook needs one, a Slack webhook has none",
  });

/** Who is told when executions end, and how. */
export const notificationsSchema = z
  .strictObject({
    emailer: z
      .strictObject({
        /** Templates, with the placeholders that Flyte has. */
        subject: template.default("Flyte: {{ project }}/{{ domain }}/{{ name }} has {{ phase }}"),
        body: template.default(
          "<p>Execution <b>{{ name }}</b> of {{ workflow.name }} ({{ project }}, {{ domain }}) has {{ phase }}.{{ error }}</p>",
        ),
        sender: z.string().refine(isMailAddress, "a mail address is needed").default("flyte-notifications@localhost"),
        /** Absent: there is no mail server, and who asks for a mail is told so in the list of deliveries. */
        smtp: z
          .strictObject({
            host: name,
            port: z.number().int().min(1).max(65535).default(587),
            /** `implicit` is for port 465. */
            tls: z.enum(["implicit", "starttls", "opportunistic", "none"]).default("starttls"),
            verifyCertificate: z.boolean().default(true),
            user: name.optional(),
            password: secretSourceSchema.optional(),
          })
          .refine(({ user, password }) => (user === undefined) === (password === undefined), {
            message: "user and password go together",
          })
          .optional(),
      })
      .prefault({}),
    slack: z
      .strictObject({
        text: template.default("Execution `{{ name }}` of {{ workflow.name }} ({{ project }}, {{ domain }}) has {{ phase }}.{{ error }}"),
        /** Whether a Slack notification may name the address of an incoming webhook itself. */
        allowUrls: z.boolean().default(true),
      })
      .prefault({}),
    webhooks: z
      .array(webhookSchema)
      .default([])
      .refine((webhooks) => new Set(webhooks.map((each) => each.name)).size === webhooks.length, "each name may be used once"),
    /** Networks beyond the public internet that may be posted to, as `10.1.0.0/16`. */
    allowNetworks: z.array(z.string().refine(isSubnet, "a network as 10.1.0.0/16 is needed")).default([]),
    /** Post to `http:` addresses too. */
    allowHttp: z.boolean().default(false),
    /** How many redirects (307 and 308) are followed. */
    maxRedirects: z.number().int().min(0).max(5).default(0),
    /** For one try. */
    timeoutSeconds: z.number().positive().max(60).default(15),
    /** Before the second try; doubled for each further one. */
    firstDelaySeconds: z.number().positive().default(5),
    maxDelaySeconds: z.number().positive().default(3600),
    giveUpAfterSeconds: z
      .number()
      .positive()
      .default(3 * 86_400),
    /** How long deliveries that are done are kept for people to read. */
    keepDays: z.number().positive().default(30),
  })
  .prefault({});

export type NotificationsConfig = z.infer<typeof notificationsSchema>;
export type WebhookConfig = NotificationsConfig["webhooks"][number];
