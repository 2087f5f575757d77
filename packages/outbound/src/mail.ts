import { createTransport } from "nodemailer";
import { SendLater, SendRefused } from "./failure.js";

export interface SmtpOptions {
  readonly host: string;
  readonly port: number;
  /** `implicit`: TLS from the first byte; `starttls`: it is asked for and needed; `opportunistic`: it is used where it is offered. */
  readonly tls: "implicit" | "starttls" | "opportunistic" | "none";
  readonly verifyCertificate: boolean;
  readonly user?: string | undefined;
  /** Asked for each mail, so that it may be exchanged. */
  readonly password?: (() => Promise<string>) | undefined;
  /** For each step of the conversation, milliseconds. */
  readonly timeoutMs: number;
}

export interface Mail {
  /** `id@host`, the same however often it is sent. */
  readonly messageId: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly html: string;
}

const ADDRESS = /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/;

/** Whether a text is one mail address, and no list of them or header. */
export function isMailAddress(text: string): boolean {
  return text.length <= 254 && ADDRESS.test(text);
}

/**
 * Hands a mail to the server.
 *
 * @throws SendRefused when it will never take it, as for a recipient that it does not know; SendLater otherwise.
 */
export async function sendMail({ messageId, from, to, subject, html }: Mail, options: SmtpOptions): Promise<void> {
  if (!isMailAddress(to)) throw new SendRefused("the recipient is not a mail address");
  const { host, port, tls, timeoutMs, user } = options;
  const transport = createTransport({
    host,
    port,
    secure: tls === "implicit",
    requireTLS: tls === "starttls",
    ignoreTLS: tls === "none",
    tls: { rejectUnauthorized: options.verifyCertificate },
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    ...(user !== undefined && { auth: { user, pass: (await options.password?.()) ?? "" } }),
    // Nothing in a mail is to be fetched from anywhere.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    await transport.sendMail({ messageId: `<${messageId}>`, from, to, subject: oneLine(subject), html });
  } catch (cause) {
    throw failureOf(cause, host);
  } finally {
    transport.close();
  }
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** Only what the server says of this mail is final; a wrong password, say, is the operator's to mend. */
function failureOf(cause: unknown, host: string): Error {
  const { code, responseCode, message } = cause as { code?: string; responseCode?: number; message?: string };
  const text = `mail server ${host}: ${message ?? String(cause)}`;
  const ofThisMail = code === "EENVELOPE" || code === "EMESSAGE";
  return ofThisMail && responseCode !== undefined && responseCode >= 500
    ? new SendRefused(text, { cause })
    : new SendLater(text, undefined, { cause });
}
